// Log probabilities of intervals by distributions of positive numbers, and of numbers between 0 and 1.
#pragma once

#include <agrad/probability/beta.hpp>
#include <agrad/probability/beta_cdf.hpp>
#include <agrad/probability/beta_proportion.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/chi_square.hpp>
#include <agrad/probability/exponential.hpp>
#include <agrad/probability/frechet.hpp>
#include <agrad/probability/gamma.hpp>
#include <agrad/probability/generalized_pareto.hpp>
#include <agrad/probability/half_cauchy.hpp>
#include <agrad/probability/half_normal.hpp>
#include <agrad/probability/inv_chi_square.hpp>
#include <agrad/probability/inv_gamma.hpp>
#include <agrad/probability/inv_gaussian.hpp>
#include <agrad/probability/loglogistic.hpp>
#include <agrad/probability/pareto.hpp>
#include <agrad/probability/pareto_type_2.hpp>
#include <agrad/probability/rayleigh.hpp>
#include <agrad/probability/scaled_inv_chi_square.hpp>
#include <agrad/probability/weibull.hpp>

namespace agrad {

using exponential_lbetween_rule =
    log_between<exponential_lpdf_rule, exponential_lcdf_rule, exponential_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto exponential_lbetween(const X&... x) {
  return apply_probability<exponential_lbetween_rule>(x...);
}

using gamma_lbetween_rule = log_between<gamma_lpdf_rule, gamma_lcdf_rule, gamma_lccdf_rule, detail::steep_log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto gamma_lbetween(const X&... x) {
  return apply_probability<gamma_lbetween_rule>(x...);
}

using chi_square_lbetween_rule =
    log_between<chi_square_lpdf_rule, chi_square_lcdf_rule, chi_square_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto chi_square_lbetween(const X&... x) {
  return apply_probability<chi_square_lbetween_rule>(x...);
}

using weibull_lbetween_rule = log_between<weibull_lpdf_rule, weibull_lcdf_rule, weibull_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto weibull_lbetween(const X&... x) {
  return apply_probability<weibull_lbetween_rule>(x...);
}

using frechet_lbetween_rule = log_between<frechet_lpdf_rule, frechet_lcdf_rule, frechet_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto frechet_lbetween(const X&... x) {
  return apply_probability<frechet_lbetween_rule>(x...);
}

using generalized_pareto_lbetween_rule =
    log_between<generalized_pareto_lpdf_rule, generalized_pareto_lcdf_rule, generalized_pareto_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto generalized_pareto_lbetween(const X&... x) {
  return apply_probability<generalized_pareto_lbetween_rule>(x...);
}

using rayleigh_lbetween_rule = log_between<rayleigh_lpdf_rule, rayleigh_lcdf_rule, rayleigh_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto rayleigh_lbetween(const X&... x) {
  return apply_probability<rayleigh_lbetween_rule>(x...);
}

using loglogistic_lbetween_rule =
    log_between<loglogistic_lpdf_rule, loglogistic_lcdf_rule, loglogistic_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto loglogistic_lbetween(const X&... x) {
  return apply_probability<loglogistic_lbetween_rule>(x...);
}

using pareto_lbetween_rule = log_between<pareto_lpdf_rule, pareto_lcdf_rule, pareto_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto pareto_lbetween(const X&... x) {
  return apply_probability<pareto_lbetween_rule>(x...);
}

using pareto_type_2_lbetween_rule = log_between<pareto_type_2_lpdf_rule, pareto_type_2_lcdf_rule, pareto_type_2_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto pareto_type_2_lbetween(const X&... x) {
  return apply_probability<pareto_type_2_lbetween_rule>(x...);
}

using inv_gamma_lbetween_rule =
    log_between<inv_gamma_lpdf_rule, inv_gamma_lcdf_rule, inv_gamma_lccdf_rule, detail::steep_log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto inv_gamma_lbetween(const X&... x) {
  return apply_probability<inv_gamma_lbetween_rule>(x...);
}

using inv_chi_square_lbetween_rule =
    log_between<inv_chi_square_lpdf_rule, inv_chi_square_lcdf_rule, inv_chi_square_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto inv_chi_square_lbetween(const X&... x) {
  return apply_probability<inv_chi_square_lbetween_rule>(x...);
}

using scaled_inv_chi_square_lbetween_rule = log_between<scaled_inv_chi_square_lpdf_rule, scaled_inv_chi_square_lcdf_rule,
                                                        scaled_inv_chi_square_lccdf_rule, detail::steep_log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto scaled_inv_chi_square_lbetween(const X&... x) {
  return apply_probability<scaled_inv_chi_square_lbetween_rule>(x...);
}

using beta_lbetween_rule = log_between<beta_lpdf_rule, beta_lcdf_rule, beta_lccdf_rule, detail::log_odds_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto beta_lbetween(const X&... x) {
  return apply_probability<beta_lbetween_rule>(x...);
}

using beta_proportion_lbetween_rule =
    log_between<beta_proportion_lpdf_rule, beta_proportion_lcdf_rule, beta_proportion_lccdf_rule, detail::log_odds_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto beta_proportion_lbetween(const X&... x) {
  return apply_probability<beta_proportion_lbetween_rule>(x...);
}

using half_normal_lbetween_rule = log_between<half_normal_lpdf_rule, half_normal_lcdf_rule, half_normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto half_normal_lbetween(const X&... x) {
  return apply_probability<half_normal_lbetween_rule>(x...);
}

using half_cauchy_lbetween_rule = log_between<half_cauchy_lpdf_rule, half_cauchy_lcdf_rule, half_cauchy_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto half_cauchy_lbetween(const X&... x) {
  return apply_probability<half_cauchy_lbetween_rule>(x...);
}

using inv_gaussian_lbetween_rule = log_between<inv_gaussian_lpdf_rule, inv_gaussian_lcdf_rule, inv_gaussian_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto inv_gaussian_lbetween(const X&... x) {
  return apply_probability<inv_gaussian_lbetween_rule>(x...);
}

namespace rules {
using intervals_positive =
    typelist<exponential_lbetween_rule, gamma_lbetween_rule, chi_square_lbetween_rule, weibull_lbetween_rule,
             frechet_lbetween_rule, generalized_pareto_lbetween_rule, rayleigh_lbetween_rule, loglogistic_lbetween_rule,
             pareto_lbetween_rule, pareto_type_2_lbetween_rule, inv_gamma_lbetween_rule, inv_chi_square_lbetween_rule,
             scaled_inv_chi_square_lbetween_rule, beta_lbetween_rule, beta_proportion_lbetween_rule, half_normal_lbetween_rule,
             half_cauchy_lbetween_rule, inv_gaussian_lbetween_rule>;
}

}  // namespace agrad
