// The skew normal distribution: density.
#pragma once

#include <agrad/probability/location_scale.hpp>
#include <agrad/probability/normal_octets.hpp>
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

  struct octets : octet_formulas<4> {
    /// The weight of z^2 depends on which parts are included.
    template <class S>
    static std::array<S, 3> prepare(const parts& included, const each<S>& x) {
      const S of_scale = skew_normal_lpdf_rule::prepare(included, x[0], x[1], x[2], x[3]);
      return {1.0 / x[2], of_scale, S(included.of({0, 1, 2}) ? 0.5 : 0.0)};
    }
    /// Far above 0 a rounding error of alpha z would count in the derivatives of log_ndtr.
    template <class S>
    static auto suits(const each<S>& x) {
      const S d = x[0] - x[1];
      return within(d, -1e50, 1e50) && within(x[2], 1e-50, 1e50) && abs(x[3] * d) < 20.0 * x[2];
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S inverse = prepared[0], z = (x[0] - x[1]) * inverse;
      S by_product;
      const S value = detail::log_ndtr(x[3] * z, by_product), by_z = x[3] * by_product - z;
      slope[0] = by_z * inverse;
      slope[1] = -slope[0];
      slope[2] = -(1.0 + z * by_z) * inverse;
      slope[3] = z * by_product;
      return prepared[1] + value - prepared[2] * (z * z);
    }
  };
};
/// Returns the sum of the skew normal log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Xi, class Omega, class Alpha>
auto skew_normal_lpdf(const Y& y, const Xi& xi, const Omega& omega, const Alpha& alpha) {
  return apply_probability<skew_normal_lpdf_rule, propto>(y, xi, omega, alpha);
}

namespace rules {
using skew_normal_distribution = typelist<skew_normal_lpdf_rule>;
}

}  // namespace agrad
