// Hidden states of hidden Markov models, given all observations: their probabilities, and draws of sequences.
//
// The forward algorithm of functionals/hidden_markov.hpp has the weights of each state by the observations up to it; the same
// steps backwards, with transposed transitions, have those by the observations behind it. The product is the probability.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/functionals/hidden_markov.hpp>
#include <agrad/functionals/values.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

namespace detail {

/// Returns the weights of the states at each observation, by the observations up to it. Throws DomainError where no sequence of
/// states is possible.
template <class T>
std::vector<state_weights<T>> forward_weights(std::string_view function, const matrix_of<T>& log_omega,
                                              const matrix_of<T>& gamma, const vector_of<T>& rho) {
  check_hidden_markov(function, values_of(log_omega), values_of(gamma), values_of(rho));
  const auto k = static_cast<std::size_t>(log_omega.rows());
  std::vector<state_weights<T>> weights(1, {std::vector<T>(rho.data(), rho.data() + k), std::vector<double>(k, 0.0)});
  weights[0].observe(log_omega.col(0));
  for (Eigen::Index n = 1; n < log_omega.cols(); ++n) {
    weights.push_back(weights.back());
    weights.back().move(gamma);
    weights.back().observe(log_omega.col(n));
  }
  const std::vector<T>& last = weights.back().factors;
  if (AGRAD_UNLIKELY(std::none_of(last.begin(), last.end(), [](const T& x) { return number_of(x) > 0; })))
    throw DomainError(std::string(function) + ": likelihood is 0, but must be positive; no sequence of states is possible");
  return weights;
}

/// Returns weights, scaled such that the largest exponential is 1.
template <class T>
vector_of<T> scaled_weights(const state_weights<T>& weights) {
  const double largest = weights.largest([&](std::size_t i) { return number_of(weights.factors[i]) > 0; });
  vector_of<T> scaled(static_cast<Eigen::Index>(weights.factors.size()));
  for (std::size_t i = 0; i < weights.factors.size(); ++i)
    scaled[static_cast<Eigen::Index>(i)] =
        weights.factors[i] * std::exp(std::min(weights.exponents[i] - largest, weights.largest_exponent));
  return scaled;
}

/// Draws a state with these weights: that of the first of exponential times with these rates.
template <class URBG>
Eigen::Index draw_state(const Eigen::VectorXd& weights, URBG& rng) {
  Eigen::Index state = 0;
  double least = infinity;
  for (Eigen::Index k = 0; k < weights.size(); ++k) {
    const double time = draw_exponential(rng) / weights[k];
    if (time < least) least = time, state = k;
  }
  return state;
}

}  // namespace detail

/// Returns the probabilities of the hidden states given all observations, K x N: entry (k, n) is the probability that
/// observation n has state k; columns sum to 1.
///
/// log_omega, gamma, rho: as for `hmm_marginal`; numbers, variables or duals. The result is the derivative of `hmm_marginal`
/// with respect to log_omega, and has derivatives of all orders itself. Throws ShapeError and DomainError as `hmm_marginal`,
/// and DomainError where no sequence of states is possible. Source: Zucchini, MacDonald and Langrock (2016), Hidden Markov
/// Models for Time Series, section 5.4.1.
template <class LogOmega, class Gamma, class Rho>
matrix_of<promoted_t<LogOmega, Gamma, Rho>> hmm_hidden_state_prob(const Eigen::MatrixBase<LogOmega>& log_omega,
                                                                  const Eigen::MatrixBase<Gamma>& gamma,
                                                                  const Eigen::MatrixBase<Rho>& rho) {
  using T = promoted_t<LogOmega, Gamma, Rho>;
  const matrix_of<T> densities = log_omega.derived().template cast<T>();
  const matrix_of<T> transitions = gamma.derived().template cast<T>(), backwards = transitions.transpose();
  const vector_of<T> first = rho.derived().template cast<T>();
  const auto forward = detail::forward_weights<T>("hmm_hidden_state_prob", densities, transitions, first);
  const auto k = static_cast<std::size_t>(densities.rows());
  detail::state_weights<T> behind{std::vector<T>(k, T(1.0)), std::vector<double>(k, 0.0)};
  matrix_of<T> result(densities.rows(), densities.cols());
  for (Eigen::Index n = densities.cols(); n-- > 0;) {
    detail::state_weights<T> both = forward[static_cast<std::size_t>(n)];
    for (std::size_t i = 0; i < k; ++i) {
      both.factors[i] = both.factors[i] * behind.factors[i];
      both.exponents[i] += behind.exponents[i];
    }
    const vector_of<T> weights = detail::scaled_weights(both);
    T sum = 0.0;
    for (Eigen::Index i = 0; i < weights.size(); ++i) sum = sum + weights[i];
    for (Eigen::Index i = 0; i < weights.size(); ++i) result(i, n) = weights[i] / sum;
    behind.observe(densities.col(n));
    behind.move(backwards);
  }
  return result;
}

/// Draws a sequence of hidden states, one for each observation, from their distribution given all observations.
///
/// log_omega, gamma, rho: as for `hmm_marginal`, but numbers, because a draw has no derivative. rng: a generator of random
/// bits. Returns the states, which count from 0. Throws as `hmm_hidden_state_prob`.
template <class URBG>
std::vector<count_t> hmm_latent_rng(const Eigen::MatrixXd& log_omega, const Eigen::MatrixXd& gamma, const Eigen::VectorXd& rho,
                                    URBG& rng) {
  auto weights = detail::forward_weights<double>("hmm_latent_rng", log_omega, gamma, rho);
  std::vector<count_t> states(weights.size());
  for (std::size_t n = weights.size(); n-- > 0;) {
    if (n + 1 < weights.size())
      for (std::size_t i = 0; i < weights[n].factors.size(); ++i)
        weights[n].factors[i] *= gamma(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(states[n + 1]));
    states[n] = detail::draw_state(detail::scaled_weights(weights[n]), rng);
  }
  return states;
}

}  // namespace agrad
