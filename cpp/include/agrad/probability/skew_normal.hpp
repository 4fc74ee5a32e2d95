// The skew normal distribution: density.
#pragma once

#include <agrad/probability/location_scale.hpp>
#include <agrad/rules/probit.hpp>

namespace agrad {

struct skew_normal_lpdf_rule : probability_rule<4> {
  static constexpr std::string_view
      name = "skew_normal_lpdf",
      text = "Skew normal log density of y with location xi, scale omega and shape alpha.",
      reference = "log(2 / pi) / 2 - log(omega) - ((y - xi) / omega) ** 2 / 2 + log(ncdf(alpha * (y - xi) / omega))",
      source = "log f = log 2 - log omega - z^2 / 2 - log(2 pi) / 2 + log Phi(alpha z) with z = (y - xi) / omega";
  static constexpr std::string_view scipy = "skewnorm(a): x; loc, scale, a";
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"xi", must_be::finite}, {"omega", must_be::positive_finite, true}, {"alpha", must_be::finite}};
  static constexpr double half_log_two_over_pi = -0.225791352644727432363097614947441072;
  template <class Y, class X, class W, class A>
  static auto in_support(const Y& y, const X&, const W&, const A&) {
    return abs(y) < infinity;
  }
  template <class Y, class X, class W, class A>
  static auto prepare(const parts& included, const Y&, const X&, const W& omega, const A&) {
    return detail::log_density_of_scale<2>(included, half_log_two_over_pi, omega);
  }
  template <class P, class Y, class X, class W, class A>
  static auto term(const parts& included, const P& of_scale, const Y& y, const X& xi, const W& omega, const A& alpha) {
    using T = promoted_t<P, Y, X, W, A>;
    const T z = (y - xi) / omega;
    T sum = of_scale + log_ndtr(alpha * z);
    if (included.of({0, 1, 2})) sum -= 0.5 * (z * z);
    return sum;
  }
};
/// Sum of the skew normal log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Xi, class Omega, class Alpha>
auto skew_normal_lpdf(const Y& y, const Xi& xi, const Omega& omega, const Alpha& alpha) {
  return apply_probability<skew_normal_lpdf_rule, propto>(y, xi, omega, alpha);
}

namespace rules {
using skew_normal_distribution = typelist<skew_normal_lpdf_rule>;
}

}  // namespace agrad
