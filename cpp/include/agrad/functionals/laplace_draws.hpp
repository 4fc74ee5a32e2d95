// Draws of the latent vector of a latent Gaussian model, from Laplace's approximation of its distribution given the data.
//
// The approximation is the normal density at the mode, with the Hessian's inverse as covariance. Read first:
// functionals/laplace.hpp and laplace_counts.hpp, which find the mode; arguments are as for the functions there.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <agrad/functionals/laplace_counts.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {

template <class Likelihood, class Covariance, class Args, class URBG>
Eigen::VectorXd draw_latent(std::string_view function, const Likelihood& likelihood, int block, const Covariance& covariance,
                            const Args& args, const laplace_options& options, URBG& rng) {
  const auto mode = mode_of(function, likelihood, block, covariance, args, options);
  static_assert(std::is_same_v<std::decay_t<decltype(mode.z)>, Eigen::VectorXd>,
                "a draw has no derivative: arguments and covariance must be numbers");
  Eigen::VectorXd z(mode.z.size());
  for (Eigen::Index i = 0; i < z.size(); ++i) z[i] = draw_normal(rng);
  const Eigen::LLT<Eigen::MatrixXd> half(mode.hessian);
  half.matrixU().solveInPlace(z);
  return mode.theta(Eigen::VectorXd(mode.z + z));
}

}  // namespace detail

/// Draws the latent vector of a latent Gaussian model from Laplace's approximation of its distribution given the data.
///
/// Arguments are those of `laplace_marginal_tol`, of numbers, because a draw has no derivative. rng: a generator of random
/// bits. Returns theta. Throws as `laplace_marginal_tol`.
template <class F, class... LikelihoodArgs, class Covariance, class... CovarianceArgs, class URBG>
Eigen::VectorXd laplace_latent_rng_tol(const F& likelihood_function, const std::tuple<LikelihoodArgs...>& likelihood_arguments,
                                       int hessian_block_size, const Covariance& covariance_function,
                                       const std::tuple<CovarianceArgs...>& covariance_arguments,
                                       const laplace_options& tolerances, URBG& rng) {
  constexpr std::string_view name = "laplace_latent_rng_tol";
  const detail::likelihood_of_function likelihood(name, likelihood_function, likelihood_arguments, hessian_block_size);
  return detail::draw_latent(name, likelihood, hessian_block_size, covariance_function, covariance_arguments, tolerances, rng);
}

/// Does the same as `laplace_latent_rng_tol`, with the usual tolerances.
template <class F, class... LikelihoodArgs, class Covariance, class... CovarianceArgs, class URBG>
Eigen::VectorXd laplace_latent_rng(const F& likelihood_function, const std::tuple<LikelihoodArgs...>& likelihood_arguments,
                                   int hessian_block_size, const Covariance& covariance_function,
                                   const std::tuple<CovarianceArgs...>& covariance_arguments, URBG& rng) {
  constexpr std::string_view name = "laplace_latent_rng";
  const detail::likelihood_of_function likelihood(name, likelihood_function, likelihood_arguments, hessian_block_size);
  return detail::draw_latent(name, likelihood, hessian_block_size, covariance_function, covariance_arguments, laplace_options(),
                             rng);
}

/// Draws theta, without m, given Poisson counts. Arguments are those of `laplace_marginal_tol_poisson_log_lpmf`, of numbers,
/// and a generator of random bits; exceptions, too.
template <class Y, class Group, class M, class Covariance, class... Args, class URBG>
Eigen::VectorXd laplace_latent_tol_poisson_log_rng(const std::vector<Y>& y, const std::vector<Group>& y_index, const M& m,
                                                   int hessian_block_size, const Covariance& covariance_function,
                                                   const std::tuple<Args...>& covariance_arguments,
                                                   const laplace_options& tolerances, URBG& rng) {
  constexpr std::string_view name = "laplace_latent_tol_poisson_log_rng";
  return detail::draw_latent(name, detail::of_counts<detail::poisson_log_counts>(name, y, y_index, m), hessian_block_size,
                             covariance_function, covariance_arguments, tolerances, rng);
}

/// Does the same as `laplace_latent_tol_poisson_log_rng`, with the usual tolerances.
template <class Y, class Group, class M, class Covariance, class... Args, class URBG>
Eigen::VectorXd laplace_latent_poisson_log_rng(const std::vector<Y>& y, const std::vector<Group>& y_index, const M& m,
                                               int hessian_block_size, const Covariance& covariance_function,
                                               const std::tuple<Args...>& covariance_arguments, URBG& rng) {
  constexpr std::string_view name = "laplace_latent_poisson_log_rng";
  return detail::draw_latent(name, detail::of_counts<detail::poisson_log_counts>(name, y, y_index, m), hessian_block_size,
                             covariance_function, covariance_arguments, laplace_options(), rng);
}

/// Draws theta, without m, given binary outcomes. Arguments are those of `laplace_marginal_tol_bernoulli_logit_lpmf`, of
/// numbers, and a generator of random bits; exceptions, too.
template <class Y, class Group, class M, class Covariance, class... Args, class URBG>
Eigen::VectorXd laplace_latent_tol_bernoulli_logit_rng(const std::vector<Y>& y, const std::vector<Group>& y_index, const M& m,
                                                       int hessian_block_size, const Covariance& covariance_function,
                                                       const std::tuple<Args...>& covariance_arguments,
                                                       const laplace_options& tolerances, URBG& rng) {
  constexpr std::string_view name = "laplace_latent_tol_bernoulli_logit_rng";
  return detail::draw_latent(name, detail::of_counts<detail::bernoulli_logit_counts>(name, y, y_index, m), hessian_block_size,
                             covariance_function, covariance_arguments, tolerances, rng);
}

/// Does the same as `laplace_latent_tol_bernoulli_logit_rng`, with the usual tolerances.
template <class Y, class Group, class M, class Covariance, class... Args, class URBG>
Eigen::VectorXd laplace_latent_bernoulli_logit_rng(const std::vector<Y>& y, const std::vector<Group>& y_index, const M& m,
                                                   int hessian_block_size, const Covariance& covariance_function,
                                                   const std::tuple<Args...>& covariance_arguments, URBG& rng) {
  constexpr std::string_view name = "laplace_latent_bernoulli_logit_rng";
  return detail::draw_latent(name, detail::of_counts<detail::bernoulli_logit_counts>(name, y, y_index, m), hessian_block_size,
                             covariance_function, covariance_arguments, laplace_options(), rng);
}

/// Draws theta, without m, given negative binomial counts. Arguments are those of
/// `laplace_marginal_tol_neg_binomial_2_log_lpmf`, of numbers, and a generator of random bits; exceptions, too.
template <class Y, class Group, class Eta, class M, class Covariance, class... Args, class URBG>
Eigen::VectorXd laplace_latent_tol_neg_binomial_2_log_rng(const std::vector<Y>& y, const std::vector<Group>& y_index,
                                                          const Eta& eta, const M& m, int hessian_block_size,
                                                          const Covariance& covariance_function,
                                                          const std::tuple<Args...>& covariance_arguments,
                                                          const laplace_options& tolerances, URBG& rng) {
  constexpr std::string_view name = "laplace_latent_tol_neg_binomial_2_log_rng";
  return detail::draw_latent(name, detail::of_counts<detail::neg_binomial_2_log_counts>(name, y, y_index, m, eta),
                             hessian_block_size, covariance_function, covariance_arguments, tolerances, rng);
}

/// Does the same as `laplace_latent_tol_neg_binomial_2_log_rng`, with the usual tolerances.
template <class Y, class Group, class Eta, class M, class Covariance, class... Args, class URBG>
Eigen::VectorXd laplace_latent_neg_binomial_2_log_rng(const std::vector<Y>& y, const std::vector<Group>& y_index,
                                                      const Eta& eta, const M& m, int hessian_block_size,
                                                      const Covariance& covariance_function,
                                                      const std::tuple<Args...>& covariance_arguments, URBG& rng) {
  constexpr std::string_view name = "laplace_latent_neg_binomial_2_log_rng";
  return detail::draw_latent(name, detail::of_counts<detail::neg_binomial_2_log_counts>(name, y, y_index, m, eta),
                             hessian_block_size, covariance_function, covariance_arguments, laplace_options(), rng);
}

}  // namespace agrad
