// The von Mises distribution: density.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/rules/bessel.hpp>
#include <agrad/rules/half_angle.hpp>
#include <agrad/rules/sine_octet.hpp>

namespace agrad {

struct von_mises_lpdf_rule : probability_rule<3> {
  static constexpr std::string_view
      name = "von_mises_lpdf",
      text = "Von Mises log density of the angle y with location mu and concentration kappa.",
      reference = "kappa * cos(y - mu) - log(2 * pi) - log(besseli(0, kappa))",
      source = "log f = kappa cos(y - mu) - log(2 pi I0(kappa)), with exp(-kappa) I0(kappa) and cos(y - mu) - 1";
  static constexpr std::string_view scipy = "vonmises(kappa): (x - loc) / scale; 0.0, kappa";
  static constexpr density_argument arguments[] = {
      {"y", must_be::finite}, {"mu", must_be::finite}, {"kappa", must_be::nonnegative_finite, true}};
  static constexpr double log_two_pi = 1.83787706640934548356065947281123527;
  /// Returns the parts that do not depend on the angle; moment() returns exp(-kappa) I0(kappa).
  template <class S, class Moment>
  static S of_kappa(const parts& included, const Moment& moment) {
    S sum(included.constants() ? -log_two_pi : 0.0);
    if (included.of({2})) sum -= log(moment());
    return sum;
  }
  template <class Y, class M, class K>
  static auto prepare(const parts& included, const Y&, const M&, const K& kappa) {
    const auto moment = [&] { return apply<detail::bessel_i_moment_rule>(0.0, kappa); };  // i0e has the slope 0 at 0
    return of_kappa<promoted_t<K>>(included, moment);
  }
  template <class P, class Y, class M, class K>
  static auto term(const parts&, const P& of_kappa, const Y& y, const M& mu, const K& kappa) {
    using T = promoted_t<Y, M>;
    const T s = apply<detail::half_angle_sine_rule>(y, mu);
    return of_kappa - 2.0 * (kappa * (s * s));
  }

  struct octets : octet_formulas<3> {
    static constexpr bool fills_last = true;
    /// Returns what the rule prepares, and the mean of 1 - cos.
    template <class S>
    static std::array<S, 2> prepare(const parts& included, const each<S>& x) {
      const S moment = apply<detail::bessel_i_moment_rule>(0.0, x[2]);
      return {of_kappa<S>(included, [&] { return moment; }), apply<detail::bessel_i_moment_rule>(1.0, x[2]) / moment};
    }
    /// Larger differences have lost digits, which the rule's own sine has.
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0] - x[1], -8, 8) && within(x[2], -1e-300, 1e50);
    }
    static octet term(const std::array<octet, 2>& prepared, const each<>& x, const parts&, each<>& slope) {
      const octet d = x[0] - x[1], s = detail::sine_but_for_sign(0.5 * d), fall = 2.0 * (s * s);
      slope[1] = x[2] * detail::sine_octet(d);
      slope[0] = -slope[1];
      slope[2] = prepared[1] - fall;
      return prepared[0] - x[2] * fall;
    }
  };
};
/// Returns the sum of the von Mises log densities of y, whatever its period; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Kappa>
auto von_mises_lpdf(const Y& y, const Mu& mu, const Kappa& kappa) {
  return apply_probability<von_mises_lpdf_rule, propto>(y, mu, kappa);
}

namespace rules {
using von_mises_distribution = typelist<von_mises_lpdf_rule>;
}

}  // namespace agrad
