// Normal and lognormal densities.
//
// The model for a new family: each rule with its overload, the typelist at the end.
#pragma once

#include <agrad/rules/density/apply.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad {

namespace detail {
inline constexpr double half_log_two_pi = 0.918938533204672741780329736405617640;

/// Data that densities prepare from their scale, argument K: 1 / sigma, and the terms that depend on sigma alone. Inlined,
/// because octets that are returned in memory are copied by halves and waited for: two to four times the time of the density.
template <class S, std::size_t K>
struct prepared_scale {
  S inverse, offset;

  template <class X, class Parts>
  AGRAD_ALWAYS_INLINE prepared_scale(const X& x, const Parts& included)
      : inverse(1.0 / x[K]), offset(included.constants() ? -half_log_two_pi : 0.0) {
    if (included.of({static_cast<int>(K)})) offset -= log(x[K]);
  }
  template <class R>
  AGRAD_ALWAYS_INLINE explicit prepared_scale(const prepared_scale<R, K>& same) : inverse(same.inverse), offset(same.offset) {}
};
}  // namespace detail

struct normal_lpdf_rule : density_rule<3> {
  static constexpr std::string_view name = "normal_lpdf",
                                    text = "Normal log density of y with mean mu and standard deviation sigma.",
                                    reference = "-((y - mu) / sigma) ** 2 / 2 - log(sigma) - log(2 * pi) / 2",
                                    source = "log N(y; mu, sigma) = -((y - mu) / sigma)^2 / 2 - log sigma - log(2 pi) / 2";
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"mu", must_be::finite}, {"sigma", must_be::positive_finite, true}};

  template <class S>
  using prepared = detail::prepared_scale<S, 2>;

  template <bool with_partials, class S>
  static S term(const prepared<S>& scale, const each<S>& x, const parts&, each<S>& partial) {
    const S z = (x[0] - x[1]) * scale.inverse;
    if constexpr (with_partials) {
      partial[1] = z * scale.inverse;
      partial[0] = -partial[1];
      partial[2] = (z * z - 1.0) * scale.inverse;
    }
    return scale.offset - 0.5 * (z * z);
  }
};
/// Returns the sum of the normal log densities of y; each argument is a number or a sequence of a common length. propto: drops
/// terms that do not depend on variables.
template <bool propto = false, class Y, class Mu, class Sigma>
auto normal_lpdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_density<normal_lpdf_rule, propto>(y, mu, sigma);
}

struct lognormal_lpdf_rule : density_rule<3> {
  static constexpr std::string_view
      name = "lognormal_lpdf",
      text = "Log density of y >= 0 whose logarithm is normal with mean mu and standard deviation sigma.",
      reference = "-((log(y) - mu) / sigma) ** 2 / 2 - log(sigma * y) - log(2 * pi) / 2 if y > 0 else -inf",
      source = "log f(y; mu, sigma) = log N(log y; mu, sigma) - log y";
  static constexpr density_argument arguments[] = {
      {"y", must_be::nonnegative}, {"mu", must_be::finite}, {"sigma", must_be::positive_finite, true}};

  template <class S>
  using prepared = detail::prepared_scale<S, 2>;

  template <class S>
  static auto in_support(const each<S>& x) {
    return x[0] > 0 && x[0] < infinity;
  }

  template <bool with_partials, class S>
  static S term(const prepared<S>& scale, const each<S>& x, const parts& included, each<S>& partial) {
    const S log_y = log(x[0]), z = (log_y - x[1]) * scale.inverse;
    if constexpr (with_partials) {
      partial[1] = z * scale.inverse;
      partial[0] = -(1.0 + partial[1]) / x[0];
      partial[2] = (z * z - 1.0) * scale.inverse;
    }
    const S value = scale.offset - 0.5 * (z * z);
    if (included.of({0})) return value - log_y;
    return value;
  }
};
/// Returns the sum of the lognormal log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma>
auto lognormal_lpdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_density<lognormal_lpdf_rule, propto>(y, mu, sigma);
}

namespace rules {
using normal_densities = typelist<normal_lpdf_rule, lognormal_lpdf_rule>;
}

}  // namespace agrad
