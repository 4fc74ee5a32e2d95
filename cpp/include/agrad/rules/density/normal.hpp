// Normal and lognormal densities.
//
// The family to imitate: each rule with its overload, the typelist at the end.
#pragma once

#include <agrad/rules/density/apply.hpp>

namespace agrad {

namespace detail {
inline constexpr double half_log_two_pi = 0.918938533204672741780329736405617640;

/// What densities with a scale need of it: 1 / sigma, and the terms that depend on sigma alone.
template <class S>
struct prepared_scale {
  S inverse, offset;

  template <class Parts>
  prepared_scale(const S& sigma, int argument, const Parts& parts)
      : inverse(1.0 / sigma), offset(parts.constants() ? -half_log_two_pi : 0.0) {
    if (parts.of({argument})) offset -= log(sigma);
  }
};
}  // namespace detail

struct normal_lpdf_rule : density_rule<3> {
  static constexpr std::string_view name = "normal_lpdf",
                                    text = "Normal log density of y with mean mu and standard deviation sigma.",
                                    source = "log N(y; mu, sigma) = -((y - mu) / sigma)^2 / 2 - log sigma - log(2 pi) / 2";
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"mu", must_be::finite}, {"sigma", must_be::positive_finite, true}};

  template <class S>
  static detail::prepared_scale<S> prepare(const each<S>& x, const parts& kept) {
    return {x[2], 2, kept};
  }

  template <bool with_partials, class S>
  static S term(const detail::prepared_scale<S>& scale, const each<S>& x, const parts&, each<S>& partial) {
    const S z = (x[0] - x[1]) * scale.inverse;
    if constexpr (with_partials) {
      partial[1] = z * scale.inverse;
      partial[0] = -partial[1];
      partial[2] = (z * z - 1.0) * scale.inverse;
    }
    return scale.offset - 0.5 * (z * z);
  }
};
/// Sum of the normal log densities of y; each argument is a number or a sequence of one common length. propto: drop what
/// does not depend on variables.
template <bool propto = false, class Y, class Mu, class Sigma>
auto normal_lpdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_density<normal_lpdf_rule, propto>(y, mu, sigma);
}

struct lognormal_lpdf_rule : density_rule<3> {
  static constexpr std::string_view
      name = "lognormal_lpdf",
      text = "Log density of y >= 0 whose logarithm is normal with mean mu and standard deviation sigma.",
      source = "log f(y; mu, sigma) = log N(log y; mu, sigma) - log y";
  static constexpr density_argument arguments[] = {
      {"y", must_be::nonnegative}, {"mu", must_be::finite}, {"sigma", must_be::positive_finite, true}};

  template <class S>
  static detail::prepared_scale<S> prepare(const each<S>& x, const parts& kept) {
    return {x[2], 2, kept};
  }

  template <bool with_partials, class S>
  static S term(const detail::prepared_scale<S>& scale, const each<S>& x, const parts& kept, each<S>& partial) {
    const S& y = x[0];
    if (y == 0 || y == infinity) {  // the density is 0 there and all around it
      if constexpr (with_partials) partial = {S(0), S(0), S(0)};
      return S(-infinity);
    }
    const S log_y = log(y), z = (log_y - x[1]) * scale.inverse;
    if constexpr (with_partials) {
      partial[1] = z * scale.inverse;
      partial[0] = -(1.0 + partial[1]) / y;
      partial[2] = (z * z - 1.0) * scale.inverse;
    }
    const S value = scale.offset - 0.5 * (z * z);
    if (kept.of({0})) return value - log_y;
    return value;
  }
};
/// Sum of the lognormal log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma>
auto lognormal_lpdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_density<lognormal_lpdf_rule, propto>(y, mu, sigma);
}

namespace rules {
using normal_densities = typelist<normal_lpdf_rule, lognormal_lpdf_rule>;
}

}  // namespace agrad
