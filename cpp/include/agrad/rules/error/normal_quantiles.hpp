// Quantiles of the standard normal distribution as a function of the logarithm of the probability.
#pragma once

#include <agrad/rules/density/conditions.hpp>
#include <agrad/rules/error/probit.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/polygamma.hpp>
#include <agrad/rules/primal.hpp>

namespace agrad {

namespace detail {

/// Returns the inverse of log_ndtr: by ndtri where the probability does not underflow, else by Newton's steps from the tail's
/// leading terms.
inline double log_ndtri(double y) {
  if (y > -0.7) return -ndtri(-std::expm1(y));
  if (y > -650) return ndtri(std::exp(y));
  if (!(y > -1e18)) return -std::sqrt(-y) / inv_sqrt_2;  // the other terms are less than a rounding error
  double x = -std::sqrt(-2 * y - std::log(-4 * pi * y));
  for (int i = 0; i < 3; ++i) x -= (log_ndtr(x) - y) * (erfcx(-inv_sqrt_2 * x) / sqrt_two_over_pi);
  return x;
}

}  // namespace detail

struct std_normal_log_qf_rule : rule<1> {
  static constexpr std::string_view name = "std_normal_log_qf",
                                    text = "Inverse of log_ndtr: the standard normal quantile of the probability exp(x).",
                                    reference =
                                        "sqrt(2) * erfinv(2 * exp(x) - 1) if x > -4 else"
                                        " findroot(lambda y: log(ncdf(y)) - x, -sqrt(-2 * x - log(-4 * pi * x)))",
                                    ufunc = "ndtri_exp";
  static constexpr interval domain[] = {{-infinity, 0}};
  static constexpr const condition* must = &must_be::nonpositive;
  static double value(double x) { return detail::log_ndtri(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return either<T>(
        value < 0.0, [&] { return T(erfcx(-detail::inv_sqrt_2 * value) / detail::sqrt_two_over_pi); },
        [&] { return T(exp(x) / (detail::inv_sqrt_two_pi * apply<detail::bell_rule>(value))); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<std_normal_log_qf_rule, X> std_normal_log_qf(const X& x) {
  detail::check_entries(std_normal_log_qf_rule::name, "x", x, *std_normal_log_qf_rule::must);
  return apply<std_normal_log_qf_rule>(x);
}

namespace rules {
using normal_quantiles = typelist<std_normal_log_qf_rule>;
}

}  // namespace agrad
