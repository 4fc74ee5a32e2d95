// Hidden Markov: the likelihood of a hidden Markov model, with the hidden states summed over.
//
// The forward algorithm sums over hidden states step by step. Each state's weight is a factor of value 0 or 1, which carries
// derivatives, times the exponential of a number, which does not: so weights of any size are represented, and a probability of
// zero has its exact derivative. Definitions are in functionals/hidden_markov.ipp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <agrad/functionals/values.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

namespace detail {

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Checks the shapes and values of a hidden Markov model.
void check_hidden_markov(std::string_view function, const Eigen::MatrixXd& log_omega, const Eigen::MatrixXd& gamma,
                         const Eigen::VectorXd& rho);

/// The weights of the hidden states: factors times exponentials.
template <class T>
struct state_weights {
  static constexpr double largest_exponent = 700;  // beyond, exponentials overflow

  /// Returns the largest exponent of those i for which `counts(i)`; the largest of all if there is none.
  template <class Counts>
  double largest(const Counts& counts) const {
    double found = minus_infinity;
    for (std::size_t i = 0; i < exponents.size(); ++i)
      if (counts(i)) found = std::max(found, exponents[i]);
    return found > minus_infinity ? found : *std::max_element(exponents.begin(), exponents.end());
  }

  /// Multiplies the weights by the densities of an observation; factors become 0 or 1.
  template <class Column>
  void observe(const Column& log_density) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const auto entry = static_cast<Eigen::Index>(i);
      const double level = number_of(T(log_density[entry]));
      if (level > minus_infinity) {
        factors[i] = factors[i] * exp(log_density[entry] - level);
        exponents[i] += level;
      } else {
        factors[i] = 0.0;
      }
      const double size = number_of(factors[i]);
      if (!(size > 0)) continue;
      factors[i] = factors[i] / size;
      exponents[i] += std::log(size);
    }
  }

  /// Moves the weights by a transition.
  template <class Gamma>
  void move(const Gamma& gamma) {
    const std::size_t k = factors.size();
    state_weights next{std::vector<T>(k, T(0.0)), std::vector<double>(k)};
    for (std::size_t j = 0; j < k; ++j) {
      const auto to = static_cast<Eigen::Index>(j);
      const auto is_positive = [&](std::size_t i) {
        return number_of(factors[i]) > 0 && number_of(T(gamma(static_cast<Eigen::Index>(i), to))) > 0;
      };
      next.exponents[j] = largest(is_positive);
      for (std::size_t i = 0; i < k; ++i) {
        const double share = std::exp(std::min(exponents[i] - next.exponents[j], largest_exponent));
        next.factors[j] = next.factors[j] + factors[i] * gamma(static_cast<Eigen::Index>(i), to) * share;
      }
    }
    *this = std::move(next);
  }

  std::vector<T> factors;
  std::vector<double> exponents;
};

}  // namespace detail

/// Returns the logarithm of the likelihood of a hidden Markov model.
///
/// log_omega: K x N, the log density of each observation (column) given each state (row); -inf is allowed. gamma: K x K, the
/// probabilities of transitions from a row's state to a column's. rho: the K probabilities of the first observation's state.
/// Each is a matrix or vector of numbers, variables or duals. Returns -inf where no sequence of states is possible. Derivatives
/// are exact also where a probability is zero; they are those with respect to entries, the constraint on sums is the caller's.
/// Throws ShapeError, and DomainError where probabilities are negative or do not sum to 1. Source: Zucchini, MacDonald and
/// Langrock (2016), Hidden Markov Models for Time Series, section 3.2.
template <class LogOmega, class Gamma, class Rho>
promoted_t<LogOmega, Gamma, Rho> hmm_marginal(const Eigen::MatrixBase<LogOmega>& log_omega,
                                              const Eigen::MatrixBase<Gamma>& gamma, const Eigen::MatrixBase<Rho>& rho) {
  using T = promoted_t<LogOmega, Gamma, Rho>;
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> densities = log_omega.derived().template cast<T>();
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> transitions = gamma.derived().template cast<T>();
  detail::check_hidden_markov("hmm_marginal", detail::values_of(densities), detail::values_of(transitions),
                              detail::values_of(rho.derived()));
  const auto k = static_cast<std::size_t>(densities.rows());
  detail::state_weights<T> weights{std::vector<T>(k), std::vector<double>(k, 0.0)};
  for (std::size_t i = 0; i < k; ++i) weights.factors[i] = rho.derived()[static_cast<Eigen::Index>(i)];
  weights.observe(densities.col(0));
  for (Eigen::Index n = 1; n < densities.cols(); ++n) {
    weights.move(transitions);
    weights.observe(densities.col(n));
  }
  const double largest = weights.largest([&](std::size_t i) { return detail::number_of(weights.factors[i]) > 0; });
  T sum = 0.0;
  for (std::size_t i = 0; i < k; ++i)
    sum = sum + weights.factors[i] * std::exp(std::min(weights.exponents[i] - largest, weights.largest_exponent));
  return log(sum) + largest;
}

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/functionals/hidden_markov.ipp>
#endif
