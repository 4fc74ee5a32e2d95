// Laplace's approximation for Poisson, binary and negative binomial data, under Stan's names.
//
//     agrad::var log_marginal = agrad::laplace_marginal_poisson_log_lpmf(y, group, 0.3, 1, kernel, std::make_tuple(scale));
//
// Observations of a group have one entry of theta. A family is its log mass, and the slope and the curvature of a group's sum
// of log masses, from the sum of the counts and their number; third and higher derivatives are those of these formulas.
// Read first: functionals/laplace.hpp. Read next: functionals/laplace_draws.hpp.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/families/counts/bernoulli.hpp>
#include <agrad/families/counts/neg_binomial.hpp>
#include <agrad/families/counts/poisson.hpp>
#include <agrad/functionals/laplace.hpp>

namespace agrad {

namespace detail {

/// Poisson counts with log rates eta.
struct poisson_log_counts {
  template <class T>
  static T mass(const Eigen::VectorXd& y, const vector_of<T>& eta) {
    return poisson_log_lpmf(y, eta);
  }
  template <class T>
  static T slope(double sum, double number, const T& eta) {
    return T(sum - number * exp(eta));
  }
  template <class T>
  static T curvature(double, double number, const T& eta) {
    return T(number * exp(eta));
  }
};

/// Binary outcomes with logits eta.
struct bernoulli_logit_counts {
  template <class T>
  static T mass(const Eigen::VectorXd& y, const vector_of<T>& eta) {
    return bernoulli_logit_lpmf(y, eta);
  }
  template <class T>
  static T slope(double sum, double number, const T& eta) {
    return T(sum * inv_logit(-eta) - (number - sum) * inv_logit(eta));
  }
  template <class T>
  static T curvature(double, double number, const T& eta) {
    return T(number * inv_logit(eta) * inv_logit(-eta));
  }
};

/// Negative binomial counts with log means eta, and phi, the inverse of the overdispersion.
struct neg_binomial_2_log_counts {
  template <class T, class Phi>
  static T mass(const Eigen::VectorXd& y, const vector_of<T>& eta, const Phi& phi) {
    return neg_binomial_2_log_lpmf(y, eta, phi);
  }
  template <class T, class Phi>
  static T slope(double sum, double number, const T& eta, const Phi& phi) {
    const T odds = eta - log(phi);
    return T(sum * inv_logit(-odds) - number * phi * inv_logit(odds));
  }
  template <class T, class Phi>
  static T curvature(double sum, double number, const T& eta, const Phi& phi) {
    const T odds = eta - log(phi);
    return T((sum + number * phi) * inv_logit(odds) * inv_logit(-odds));
  }
};

/// Observations in groups.
struct grouped_counts {
  Eigen::VectorXd y;
  std::vector<Eigen::Index> group;
};

template <class Count, class Group>
grouped_counts checked_counts(std::string_view function, const std::vector<Count>& y, const std::vector<Group>& y_index) {
  static_assert(std::is_integral_v<Count> && std::is_integral_v<Group>, "observations and groups must be whole numbers");
  check_size(function, "y_index", y_index.size(), y.size(), "as y is");
  grouped_counts data{Eigen::VectorXd(static_cast<Eigen::Index>(y.size())), {}};
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto count = static_cast<double>(y[i]), group = static_cast<double>(y_index[i]);
    check(function, "y", count, must_be::nonnegative, static_cast<long>(i));
    check(function, "y_index", group, must_be::nonnegative, static_cast<long>(i), "groups count from 0");
    data.y[static_cast<Eigen::Index>(i)] = count;
    data.group.push_back(static_cast<Eigen::Index>(y_index[i]));
  }
  return data;
}

/// The log likelihood of counts: the masses of y[i] at theta + m of the group y_index[i], with further parameters.
template <class Family, class M, class... Further>
class likelihood_of_counts {
 public:
  using scalar = promoted_t<M, Further...>;
  likelihood_of_counts(std::string_view function, grouped_counts data, const M& m, const std::tuple<Further...>& further)
      : function_(function), data_(std::move(data)), m_(m), further_(further) {}

  auto of_numbers() const { return of_values(values_of(m_), values_of(further_)); }

  template <class T>
  T value(const vector_of<T>& theta) const {
    const vector_of<T> each = links(theta);
    vector_of<T> eta(data_.y.size());
    for (Eigen::Index i = 0; i < eta.size(); ++i) eta[i] = each[data_.group[static_cast<std::size_t>(i)]];
    return std::apply([&](const auto&... further) { return Family::template mass<T>(data_.y, eta, further...); }, further_);
  }
  template <class T>
  vector_of<T> gradient(const vector_of<T>& theta) const {
    return by_groups(theta, [](double sum, double number, const T& eta, const auto&... further) {
      return Family::slope(sum, number, eta, further...);
    });
  }
  template <class T>
  matrix_of<T> curvature(const vector_of<T>& theta) const {
    const Eigen::Index n = theta.size();
    const vector_of<T> diagonal = by_groups(theta, [](double sum, double number, const T& eta, const auto&... further) {
      return Family::curvature(sum, number, eta, further...);
    });
    matrix_of<T> w = matrix_of<T>::Constant(n, n, T(0.0));
    for (Eigen::Index i = 0; i < n; ++i) w(i, i) = diagonal[i];
    return w;
  }

  void check_length(Eigen::Index n) const {
    for (std::size_t i = 0; i < data_.group.size(); ++i)
      if (data_.group[i] >= n)
        throw DomainError(sentence(function_, "y_index", static_cast<long>(i), std::to_string(data_.group[i]),
                                   "less than " + std::to_string(n) + ", the size of the covariance", ""));
    if constexpr (!is_scalar)
      check_size(function_, "m", static_cast<std::size_t>(m_.size()), static_cast<std::size_t>(n),
                 "the size of the covariance");
  }
  void check_blocks(const Eigen::VectorXd&, const Eigen::VectorXd&) const {}  // each term has one entry of theta

 private:
  static constexpr bool is_scalar = std::is_arithmetic_v<M> || (rank_of<M> > 0 && rank_of<M> < array_rank);

  template <class NewM, class... New>
  auto of_values(const NewM& m, const std::tuple<New...>& further) const {
    return likelihood_of_counts<Family, NewM, New...>(function_, data_, m, further);
  }
  /// Returns theta + m.
  template <class T>
  vector_of<T> links(const vector_of<T>& theta) const {
    vector_of<T> eta(theta.size());
    for (Eigen::Index i = 0; i < eta.size(); ++i) {
      if constexpr (is_scalar)
        eta[i] = theta[i] + m_;
      else
        eta[i] = theta[i] + m_[i];
    }
    return eta;
  }
  template <class T, class F>
  vector_of<T> by_groups(const vector_of<T>& theta, const F& f) const {
    const vector_of<T> eta = links(theta);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(theta.size()), number = sum;
    for (std::size_t i = 0; i < data_.group.size(); ++i) {
      sum[data_.group[i]] += data_.y[static_cast<Eigen::Index>(i)];
      number[data_.group[i]] += 1;
    }
    vector_of<T> result(theta.size());
    for (Eigen::Index i = 0; i < result.size(); ++i) {
      result[i] = 0.0;
      if (number[i] > 0)
        result[i] = std::apply([&](const auto&... each) { return f(sum[i], number[i], eta[i], each...); }, further_);
    }
    return result;
  }

  std::string_view function_;
  grouped_counts data_;
  M m_;
  std::tuple<Further...> further_;
};

template <class Family, class Y, class Group, class M, class... Further>
auto of_counts(std::string_view function, const std::vector<Y>& y, const std::vector<Group>& y_index, const M& m,
               const Further&... further) {
  using location = decltype(evaluated(m));
  return likelihood_of_counts<Family, location, decltype(evaluated(further))...>(
      function, checked_counts(function, y, y_index), evaluated(m), std::make_tuple(evaluated(further)...));
}

}  // namespace detail

/// Approximates the log marginal likelihood of Poisson counts y[i] with the log rates theta + m of the groups y_index[i].
///
/// y: counts. y_index: their groups, which are places of theta and count from 0. m: a number, or one for each group. theta,
/// hessian_block_size, the covariance, tolerances, result and exceptions: as for `laplace_marginal_tol`; DomainError as well
/// where a count or a group is negative, or a group is not less than the size of the covariance.
template <class Y, class Group, class M, class Covariance, class... Args>
auto laplace_marginal_tol_poisson_log_lpmf(const std::vector<Y>& y, const std::vector<Group>& y_index, const M& m,
                                           int hessian_block_size, const Covariance& covariance_function,
                                           const std::tuple<Args...>& covariance_arguments, const laplace_options& tolerances) {
  constexpr std::string_view name = "laplace_marginal_tol_poisson_log_lpmf";
  return detail::laplace(name, detail::of_counts<detail::poisson_log_counts>(name, y, y_index, m), hessian_block_size,
                         covariance_function, covariance_arguments, tolerances);
}

/// Does the same as `laplace_marginal_tol_poisson_log_lpmf`, with the usual tolerances.
template <class Y, class Group, class M, class Covariance, class... Args>
auto laplace_marginal_poisson_log_lpmf(const std::vector<Y>& y, const std::vector<Group>& y_index, const M& m,
                                       int hessian_block_size, const Covariance& covariance_function,
                                       const std::tuple<Args...>& covariance_arguments) {
  constexpr std::string_view name = "laplace_marginal_poisson_log_lpmf";
  return detail::laplace(name, detail::of_counts<detail::poisson_log_counts>(name, y, y_index, m), hessian_block_size,
                         covariance_function, covariance_arguments, laplace_options());
}

/// Does the same as `laplace_marginal_tol_poisson_log_lpmf`, for binary outcomes with the logits theta + m.
template <class Y, class Group, class M, class Covariance, class... Args>
auto laplace_marginal_tol_bernoulli_logit_lpmf(const std::vector<Y>& y, const std::vector<Group>& y_index, const M& m,
                                               int hessian_block_size, const Covariance& covariance_function,
                                               const std::tuple<Args...>& covariance_arguments,
                                               const laplace_options& tolerances) {
  constexpr std::string_view name = "laplace_marginal_tol_bernoulli_logit_lpmf";
  return detail::laplace(name, detail::of_counts<detail::bernoulli_logit_counts>(name, y, y_index, m), hessian_block_size,
                         covariance_function, covariance_arguments, tolerances);
}

/// Does the same as `laplace_marginal_tol_bernoulli_logit_lpmf`, with the usual tolerances.
template <class Y, class Group, class M, class Covariance, class... Args>
auto laplace_marginal_bernoulli_logit_lpmf(const std::vector<Y>& y, const std::vector<Group>& y_index, const M& m,
                                           int hessian_block_size, const Covariance& covariance_function,
                                           const std::tuple<Args...>& covariance_arguments) {
  constexpr std::string_view name = "laplace_marginal_bernoulli_logit_lpmf";
  return detail::laplace(name, detail::of_counts<detail::bernoulli_logit_counts>(name, y, y_index, m), hessian_block_size,
                         covariance_function, covariance_arguments, laplace_options());
}

/// Does the same as `laplace_marginal_tol_poisson_log_lpmf`, for negative binomial counts with the log means theta + m; eta, a
/// positive number, is the inverse of the overdispersion: the variance is mean + mean^2 / eta.
template <class Y, class Group, class Eta, class M, class Covariance, class... Args>
auto laplace_marginal_tol_neg_binomial_2_log_lpmf(const std::vector<Y>& y, const std::vector<Group>& y_index, const Eta& eta,
                                                  const M& m, int hessian_block_size, const Covariance& covariance_function,
                                                  const std::tuple<Args...>& covariance_arguments,
                                                  const laplace_options& tolerances) {
  constexpr std::string_view name = "laplace_marginal_tol_neg_binomial_2_log_lpmf";
  return detail::laplace(name, detail::of_counts<detail::neg_binomial_2_log_counts>(name, y, y_index, m, eta),
                         hessian_block_size, covariance_function, covariance_arguments, tolerances);
}

/// Does the same as `laplace_marginal_tol_neg_binomial_2_log_lpmf`, with the usual tolerances.
template <class Y, class Group, class Eta, class M, class Covariance, class... Args>
auto laplace_marginal_neg_binomial_2_log_lpmf(const std::vector<Y>& y, const std::vector<Group>& y_index, const Eta& eta,
                                              const M& m, int hessian_block_size, const Covariance& covariance_function,
                                              const std::tuple<Args...>& covariance_arguments) {
  constexpr std::string_view name = "laplace_marginal_neg_binomial_2_log_lpmf";
  return detail::laplace(name, detail::of_counts<detail::neg_binomial_2_log_counts>(name, y, y_index, m, eta),
                         hessian_block_size, covariance_function, covariance_arguments, laplace_options());
}

}  // namespace agrad
