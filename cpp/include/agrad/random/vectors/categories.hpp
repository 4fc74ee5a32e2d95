// Draws of categories, which count from 0, of their numbers in many trials, of simplexes, and of outcomes of linear models.
//
// Parameters that are vectors may be Eigen's or std::vector; the last argument is a generator of random bits.
// Read next: random/standard_counts.hpp, the counts that these are made of.
#pragma once

#include <cmath>
#include <vector>

#include <agrad/random/standard_counts.hpp>
#include <agrad/random/vectors/checks.hpp>

namespace agrad {

namespace detail {

/// Returns how often each category is drawn in n trials: each number is binomial, of the trials that are left.
template <class URBG>
std::vector<count_t> draw_numbers(const random_vector& theta, double n, URBG& rng) {
  std::vector<count_t> found(static_cast<std::size_t>(theta.size()));
  random_vector rest = theta;  // of a category and those behind it
  for (Eigen::Index k = theta.size() - 1; k-- > 0;) rest[k] += rest[k + 1];
  for (Eigen::Index k = 0; k < theta.size(); ++k) {
    const double share = rest[k] > 0 ? std::fmin(theta[k] / rest[k], 1.0) : 0.0;
    const double taken = k + 1 < theta.size() ? draw_binomial(n, share, rng) : n;
    found[static_cast<std::size_t>(k)] = static_cast<count_t>(taken);
    n -= taken;
  }
  return found;
}

/// Returns the number of trials as a double, after its check.
inline double checked_trials(std::string_view function, count_t n) {
  const double trials = static_cast<double>(n);
  check(function, "N", trials, must_be::whole_nonnegative);
  check(function, "N", trials, must_be::countable);
  return trials;
}

inline random_vector softmax_of(const random_vector& x) {
  random_vector y(x.size());
  const double largest = x.maxCoeff();
  for (Eigen::Index k = 0; k < x.size(); ++k) y[k] = std::exp(x[k] - largest);
  return y / y.sum();
}

template <class URBG>
random_vector draw_simplex(const random_vector& alpha, URBG& rng) {
  const double largest = alpha.maxCoeff(), scale = largest < 1e-100 ? 1e-100 / largest : 1;
  random_vector logs(alpha.size());
  for (Eigen::Index k = 0; k < alpha.size(); ++k) logs[k] = draw_log_gamma(alpha[k] * scale, rng);
  return softmax_of(logs);
}

inline count_t number_below(const random_vector& c, double x) { return (c.array() < x).count(); }

}  // namespace detail

/// Draws a category, from 0 on, with probabilities theta: that of the first of exponential times with these rates.
template <class Theta, class URBG>
count_t categorical_rng(const Theta& theta, URBG& rng) {
  const detail::random_vector p = detail::checked_vector("categorical_rng", "theta", must_be::simplex, theta);
  Eigen::Index first = 0;
  double least = infinity;
  for (Eigen::Index k = 0; k < p.size(); ++k) {
    const double time = detail::draw_exponential(rng) / p[k];
    if (time < least) least = time, first = k;
  }
  return first;
}

/// Draws a category, from 0 on, with log odds beta: with probabilities softmax(beta).
template <class Beta, class URBG>
count_t categorical_logit_rng(const Beta& beta, URBG& rng) {
  const detail::random_vector b = detail::checked_vector("categorical_logit_rng", "beta", must_be::finite, beta);
  Eigen::Index first = 0;
  double largest = -infinity;
  for (Eigen::Index k = 0; k < b.size(); ++k) {
    const double score = b[k] - std::log(detail::draw_exponential(rng));
    if (score > largest) largest = score, first = k;
  }
  return first;
}

/// Draws the number of cutpoints c below a logistic number with location eta.
template <class C, class URBG>
count_t ordered_logistic_rng(double eta, const C& c, URBG& rng) {
  check("ordered_logistic_rng", "eta", eta, must_be::finite);
  const detail::random_vector cut = detail::checked_vector("ordered_logistic_rng", "c", must_be::ordered, c);
  return detail::number_below(cut, eta + detail::draw_logistic(rng));
}

/// Draws the number of cutpoints c below a normal number with mean eta and standard deviation 1.
template <class C, class URBG>
count_t ordered_probit_rng(double eta, const C& c, URBG& rng) {
  check("ordered_probit_rng", "eta", eta, must_be::finite);
  const detail::random_vector cut = detail::checked_vector("ordered_probit_rng", "c", must_be::ordered, c);
  return detail::number_below(cut, eta + detail::draw_normal(rng));
}

/// Draws a simplex of Dirichlet's distribution with concentrations alpha.
template <class Alpha, class URBG>
Eigen::VectorXd dirichlet_rng(const Alpha& alpha, URBG& rng) {
  return detail::draw_simplex(detail::checked_vector("dirichlet_rng", "alpha", must_be::positive_finite, alpha), rng);
}

/// Draws how often each category occurs in n trials with probabilities theta.
template <class Theta, class URBG>
std::vector<count_t> multinomial_rng(const Theta& theta, count_t n, URBG& rng) {
  const detail::random_vector p = detail::checked_vector("multinomial_rng", "theta", must_be::simplex, theta);
  return detail::draw_numbers(p, detail::checked_trials("multinomial_rng", n), rng);
}

/// Draws how often each category occurs in n trials with probabilities softmax(gamma).
template <class Gamma, class URBG>
std::vector<count_t> multinomial_logit_rng(const Gamma& gamma, count_t n, URBG& rng) {
  const detail::random_vector g = detail::checked_vector("multinomial_logit_rng", "gamma", must_be::finite, gamma);
  return detail::draw_numbers(detail::softmax_of(g), detail::checked_trials("multinomial_logit_rng", n), rng);
}

/// Draws how often each category occurs in n trials whose probabilities are a draw of Dirichlet's distribution.
template <class Alpha, class URBG>
std::vector<count_t> dirichlet_multinomial_rng(const Alpha& alpha, count_t n, URBG& rng) {
  constexpr std::string_view name = "dirichlet_multinomial_rng";
  const detail::random_vector a = detail::checked_vector(name, "alpha", must_be::positive_finite, alpha);
  const double trials = detail::checked_trials(name, n);
  const detail::random_vector theta = detail::draw_simplex(a, rng);
  return detail::draw_numbers(theta, trials, rng);
}

/// Draws outcomes that are 1 with log odds alpha + x beta, else 0, one for each row of x; alpha is a number, or one for each
/// row.
template <class Alpha, class Beta, class URBG>
std::vector<count_t> bernoulli_logit_glm_rng(const Eigen::Ref<const Eigen::MatrixXd>& x, const Alpha& alpha, const Beta& beta,
                                             URBG& rng) {
  constexpr std::string_view name = "bernoulli_logit_glm_rng";
  const auto as_vector = [&](const auto& a) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(a)>>)
      return std::vector<double>(static_cast<std::size_t>(x.rows()), static_cast<double>(a));
    else
      return a;
  };
  const detail::random_vector b = detail::checked_vector(name, "beta", must_be::finite, beta);
  if (x.rows() == 0) return {};
  const detail::random_vector a = detail::checked_vector(name, "alpha", must_be::finite, as_vector(alpha));
  check_size(name, "alpha", static_cast<std::size_t>(a.size()), static_cast<std::size_t>(x.rows()), "the number of rows of x");
  check_size(name, "beta", static_cast<std::size_t>(b.size()), static_cast<std::size_t>(x.cols()),
             "the number of columns of x");
  std::vector<count_t> y;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    double log_odds = a[i];
    for (Eigen::Index k = 0; k < x.cols(); ++k) log_odds += x(i, k) * b[k];
    check(name, "alpha + x beta", log_odds, must_be::finite, i);
    y.push_back(detail::draw_logistic(rng) < log_odds ? 1 : 0);
  }
  return y;
}

}  // namespace agrad
