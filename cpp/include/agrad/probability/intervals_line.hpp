// Log probabilities of intervals by distributions on the whole line, with the lognormal and the uniform distribution.
#pragma once

#include <agrad/probability/between.hpp>
#include <agrad/probability/cauchy.hpp>
#include <agrad/probability/double_exponential.hpp>
#include <agrad/probability/exp_mod_normal.hpp>
#include <agrad/probability/exp_mod_normal_tails.hpp>
#include <agrad/probability/generalized_extreme_value.hpp>
#include <agrad/probability/gumbel.hpp>
#include <agrad/probability/logistic.hpp>
#include <agrad/probability/lognormal.hpp>
#include <agrad/probability/normal.hpp>
#include <agrad/probability/skew_double_exponential.hpp>
#include <agrad/probability/skew_normal.hpp>
#include <agrad/probability/skew_normal_cdf.hpp>
#include <agrad/probability/student_t.hpp>
#include <agrad/probability/student_t_cdf.hpp>
#include <agrad/probability/uniform.hpp>
#include <agrad/probability/von_mises_between.hpp>

namespace agrad {

namespace detail {
/// The normal and the lognormal density, whose rules (rules/density/normal.hpp) have no terms for other rules.
struct normal_density : location_scale_density {
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    const promoted_t<Y, M, S> z((y - mu) / sigma);
    return -0.5 * (z * z) - half_log_two_pi - log(sigma);
  }
};
struct lognormal_density : location_scale_rule {
  template <class Y, class M, class S>
  static auto in_support(const Y& y, const M&, const S&) {
    return y > 0 && y < infinity;
  }
  template <class P, class Y, class M, class S>
  static auto term(const parts& all, const P& none, const Y& y, const M& mu, const S& sigma) {
    const promoted_t<Y> log_y(log(y));
    return normal_density::term(all, none, log_y, mu, sigma) - log_y;
  }
};
}  // namespace detail

using std_normal_lbetween_rule = log_between<std_normal_lpdf_rule, std_normal_lcdf_rule, std_normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto std_normal_lbetween(const X&... x) {
  return apply_probability<std_normal_lbetween_rule>(x...);
}

using normal_lbetween_rule = log_between<detail::normal_density, normal_lcdf_rule, normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto normal_lbetween(const X&... x) {
  return apply_probability<normal_lbetween_rule>(x...);
}

using lognormal_lbetween_rule =
    log_between<detail::lognormal_density, lognormal_lcdf_rule, lognormal_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto lognormal_lbetween(const X&... x) {
  return apply_probability<lognormal_lbetween_rule>(x...);
}

using student_t_lbetween_rule = log_between<student_t_lpdf_rule, student_t_lcdf_rule, student_t_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto student_t_lbetween(const X&... x) {
  return apply_probability<student_t_lbetween_rule>(x...);
}

using cauchy_lbetween_rule = log_between<cauchy_lpdf_rule, cauchy_lcdf_rule, cauchy_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto cauchy_lbetween(const X&... x) {
  return apply_probability<cauchy_lbetween_rule>(x...);
}

using double_exponential_lbetween_rule =
    kinked_log_between<double_exponential_lpdf_rule, double_exponential_lcdf_rule, double_exponential_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto double_exponential_lbetween(const X&... x) {
  return apply_probability<double_exponential_lbetween_rule>(x...);
}

using skew_double_exponential_lbetween_rule =
    kinked_log_between<skew_double_exponential_lpdf_rule, skew_double_exponential_lcdf_rule,
                       skew_double_exponential_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto skew_double_exponential_lbetween(const X&... x) {
  return apply_probability<skew_double_exponential_lbetween_rule>(x...);
}

using generalized_extreme_value_lbetween_rule =
    log_between<generalized_extreme_value_lpdf_rule, generalized_extreme_value_lcdf_rule, generalized_extreme_value_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto generalized_extreme_value_lbetween(const X&... x) {
  return apply_probability<generalized_extreme_value_lbetween_rule>(x...);
}

using gumbel_lbetween_rule = log_between<gumbel_lpdf_rule, gumbel_lcdf_rule, gumbel_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto gumbel_lbetween(const X&... x) {
  return apply_probability<gumbel_lbetween_rule>(x...);
}

using logistic_lbetween_rule = log_between<logistic_lpdf_rule, logistic_lcdf_rule, logistic_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto logistic_lbetween(const X&... x) {
  return apply_probability<logistic_lbetween_rule>(x...);
}

using skew_normal_lbetween_rule = log_between<skew_normal_lpdf_rule, skew_normal_lcdf_rule, skew_normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto skew_normal_lbetween(const X&... x) {
  return apply_probability<skew_normal_lbetween_rule>(x...);
}

using exp_mod_normal_lbetween_rule = log_between<exp_mod_normal_lpdf_rule, exp_mod_normal_lcdf_rule, exp_mod_normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto exp_mod_normal_lbetween(const X&... x) {
  return apply_probability<exp_mod_normal_lbetween_rule>(x...);
}

using uniform_lbetween_rule = log_between<uniform_lpdf_rule, uniform_lcdf_rule, uniform_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
template <class... X>
auto uniform_lbetween(const X&... x) {
  return apply_probability<uniform_lbetween_rule>(x...);
}

namespace rules {
using intervals_line =
    typelist<std_normal_lbetween_rule, normal_lbetween_rule, lognormal_lbetween_rule, student_t_lbetween_rule,
             cauchy_lbetween_rule, double_exponential_lbetween_rule, skew_double_exponential_lbetween_rule,
             generalized_extreme_value_lbetween_rule, gumbel_lbetween_rule, logistic_lbetween_rule, skew_normal_lbetween_rule,
             exp_mod_normal_lbetween_rule, uniform_lbetween_rule, von_mises_lbetween_rule>;
}

}  // namespace agrad
