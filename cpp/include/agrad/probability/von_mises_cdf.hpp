// The distribution functions of the von Mises distribution on [-pi, pi], as Stan has them: probabilities from -pi to y.
//
// The probability of an arc is an integral over that of the whole circle. Of the arcs below and above y the one without the
// mode, or the smaller one, is integrated, so that both tails have all digits; the arc from y to pi is that from -pi to -y with
// the location -mu.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/von_mises_octets.hpp>
#include <agrad/rules/arcs.hpp>
#include <agrad/rules/bessel.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {

/// What the distribution functions of the von Mises distribution have in common.
struct von_mises_cdf_base : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::angle}, {"mu", must_be::finite}, {"kappa", must_be::nonnegative_finite, true}};
  /// Returns the integral over the whole circle.
  template <class Y, class M, class K>
  static promoted_t<K> prepare(const parts&, const Y&, const M&, const K& kappa) {
    return 2.0 * pi * apply<bessel_i_moment_rule>(0.0, kappa);
  }
};

/// Returns the probability of an angle from -pi to y, where `circle` is the integral over the whole circle.
template <class T>
T von_mises_probability(const T& y, const T& mu, const T& kappa, const T& circle) {
  return either<T>(
      apply<arc_side_rule>(y, mu, kappa) > 0, [&] { return T(apply<arc_integral_rule<0>>(y, mu, kappa) / circle); },
      [&] { return T(1.0 - apply<arc_integral_rule<0>>(T(-y), T(-mu), kappa) / circle); });
}
/// Returns the logarithm of this probability.
template <class T>
T von_mises_log_probability(const T& y, const T& mu, const T& kappa, const T& circle) {
  return either<T>(
      y <= -pi, [&] { return T(-infinity); },  //
      apply<arc_side_rule>(y, mu, kappa) > 0, [&] { return T(apply<log_arc_rule>(y, mu, kappa) - log(circle)); },
      [&] { return T(log1p(-(apply<arc_integral_rule<0>>(T(-y), T(-mu), kappa) / circle))); });
}

}  // namespace detail

struct von_mises_cdf_rule : detail::von_mises_cdf_base {
  static constexpr std::string_view
      name = "von_mises_cdf",
      text = "Probability of an angle from -pi to y, with location mu and concentration kappa.",
      reference = "arc_probability(-3.141592653589793 - mu, y - mu, kappa)",
      source = "F(y; mu, kappa) = integral of exp(kappa cos(u - mu)) over u from -pi to y, over 2 pi I0(kappa)";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class K>
  static auto term(const parts&, const P& circle, const Y& y, const M& mu, const K& kappa) {
    using T = promoted_t<P, Y, M, K>;
    return detail::von_mises_probability(T(y), T(apply<detail::reduced_angle_rule>(mu)), T(kappa), T(circle));
  }
};
/// Returns the product of the probabilities of angles from -pi to y; see normal_cdf. The angles y are between -pi and pi.
template <class Y, class Mu, class Kappa>
auto von_mises_cdf(const Y& y, const Mu& mu, const Kappa& kappa) {
  return apply_probability<von_mises_cdf_rule>(y, mu, kappa);
}

struct von_mises_lcdf_rule : detail::von_mises_cdf_base {
  static constexpr std::string_view name = "von_mises_lcdf", text = "Logarithm of von_mises_cdf.",
                                    reference = "log(arc_probability(-3.141592653589793 - mu, y - mu, kappa))",
                                    source = "log F(y; mu, kappa)";
  template <class P, class Y, class M, class K>
  static auto term(const parts&, const P& circle, const Y& y, const M& mu, const K& kappa) {
    using T = promoted_t<P, Y, M, K>;
    return detail::von_mises_log_probability(T(y), T(apply<detail::reduced_angle_rule>(mu)), T(kappa), T(circle));
  }

  using octets = detail::von_mises_cdf_octets<1>;
};
/// Returns the sum of the logarithms of the probabilities of angles from -pi to y.
template <class Y, class Mu, class Kappa>
auto von_mises_lcdf(const Y& y, const Mu& mu, const Kappa& kappa) {
  return apply_probability<von_mises_lcdf_rule>(y, mu, kappa);
}

struct von_mises_lccdf_rule : detail::von_mises_cdf_base {
  static constexpr std::string_view
      name = "von_mises_lccdf",
      text = "Logarithm of the probability of an angle from y to pi, with location mu and concentration kappa.",
      reference = "log(arc_probability(y - mu, 3.141592653589793 - mu, kappa))", source = "log(1 - F(y; mu, kappa))";
  template <class P, class Y, class M, class K>
  static auto term(const parts&, const P& circle, const Y& y, const M& mu, const K& kappa) {
    using T = promoted_t<P, Y, M, K>;
    return detail::von_mises_log_probability(T(-y), T(-apply<detail::reduced_angle_rule>(mu)), T(kappa), T(circle));
  }

  using octets = detail::von_mises_cdf_octets<-1>;
};
/// Returns the sum of the logarithms of the probabilities of angles from y to pi.
template <class Y, class Mu, class Kappa>
auto von_mises_lccdf(const Y& y, const Mu& mu, const Kappa& kappa) {
  return apply_probability<von_mises_lccdf_rule>(y, mu, kappa);
}

namespace rules {
using von_mises_cdfs = typelist<von_mises_cdf_rule, von_mises_lcdf_rule, von_mises_lccdf_rule>;
}

}  // namespace agrad
