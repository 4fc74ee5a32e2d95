// The von Mises distribution.
//
// Probabilities are those from -pi to y, as Stan has them. The probability of an arc is an integral over that of the whole
// circle. Of the arcs below and above y the one without the mode, or the smaller one, is integrated, so that both tails have
// all digits; the arc from y to pi is that from -pi to -y with the location -mu.
//
// An arc is turned so that the mode is at 0 and the antimode, where the density is least, at both ends of the circle. An arc
// without the antimode is an interval as of any distribution; one with the antimode consists of both tails.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/families/bounded/von_mises_octets.hpp>
#include <agrad/families/tails/arcs.hpp>
#include <agrad/families/tails/half_angle.hpp>
#include <agrad/families/tails/sine_octet.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/bessel/bessel.hpp>
#include <agrad/rules/error/probit.hpp>
#include <agrad/rules/error/tail_inverse.hpp>
#include <agrad/rules/links.hpp>

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
inline constexpr probability_function<von_mises_cdf_rule> von_mises_cdf;

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
inline constexpr probability_function<von_mises_lcdf_rule> von_mises_lcdf;

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
inline constexpr probability_function<von_mises_lccdf_rule> von_mises_lccdf;

namespace detail {

/// Returns the angle up to which the probability is p <= 1/2, for mu between -pi and pi: by Newton's method from the quantile
/// of the uniform or of the normal distribution that the one of a small or large kappa is close to.
inline double von_mises_tail_inverse(double p, double mu, double kappa) {
  const double log_goal = std::log(p) + std::log(2 * pi * bessel_i_moment(0, kappa));
  const double start = kappa < 1 ? -pi + 2 * pi * p : mu + ndtri(p) / std::sqrt(kappa);
  const auto at = [&](double y) {
    const double log_arc = log_arc_rule::value(y, mu, kappa), s = std::sin(0.5 * (y - mu));
    return tail_excess{log_arc - log_goal, std::exp(-2 * kappa * (s * s) - log_arc) * (y + pi)};
  };
  const auto move = [](double y, double step) { return y + (y + pi) * std::expm1(step); };
  return inverse_of_tail(true, -pi, std::clamp(start, -3.14, 3.14), pi, at, move);
}

/// Minus the derivative of the probability p of the arc from -pi to y with respect to kappa, over the density at y: the
/// derivative of y where p is constant.
template <class T>
T von_mises_drift(const T& p, const T& y, const T& mu, const T& kappa) {
  const T excess = apply<arc_integral_rule<1>>(y, mu, kappa) - 2.0 * pi * p * apply<bessel_i_moment_rule>(1.0, kappa);
  return T(excess * exp(kappa * arc_height<true>(y, mu)));
}

/// The angle up to which, or beyond which, the probability is p. The derivatives are those of an implicit function, that with
/// respect to kappa from the smaller one of both arcs.
template <bool is_upper>
struct von_mises_quantile_rule : rule<3> {
  static constexpr std::string_view name = is_upper ? "von_mises_upper_quantile" : "von_mises_lower_quantile";
  static double value(double p, double mu, double kappa) {
    if (!(p >= 0 && p <= 1 && std::abs(mu) <= pi && kappa >= 0 && kappa < infinity)) return quiet_nan;
    if (p == 0 || p == 1) return (p == 0) == is_upper ? pi : -pi;
    const bool is_left = (p <= 0.5) != is_upper;  // the upper arc is the lower one of -y and -mu
    const double y = von_mises_tail_inverse(p <= 0.5 ? p : 1 - p, is_left ? mu : -mu, kappa);
    return is_left ? y : -y;
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& mu, const T& kappa, const T& y) {
    const T slope = 2.0 * pi * apply<bessel_i_moment_rule>(0.0, kappa) * exp(kappa * arc_height<true>(y, mu));
    return is_upper ? T(-slope) : slope;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& mu, const T& kappa, const T& y) {
    return -expm1(kappa * arc_ascent(y, mu));
  }
  template <class T>
  static T derivative(wrt<2>, const T& p, const T& mu, const T& kappa, const T& y) {
    const auto below = [&](const T& share) { return von_mises_drift(share, y, mu, kappa); };
    const auto above = [&](const T& share) { return T(-von_mises_drift(share, T(-y), T(-mu), kappa)); };
    return either<T>(
        p == 0 || p == 1, [] { return T(0.0); },                   //
        p <= 0.5, [&] { return is_upper ? above(p) : below(p); },  //
        [&] { return is_upper ? below(T(1.0 - p)) : above(T(1.0 - p)); });
  }
};

}  // namespace detail

struct von_mises_lbetween_rule : log_between<von_mises_lpdf_rule, von_mises_lcdf_rule, von_mises_lccdf_rule> {
  template <class Parts, class P, class L, class U, class M, class K>
  static auto term(const Parts&, const P&, const L& lower, const U& upper, const M& mu, const K& kappa) {
    using T = promoted_t<L, U, M, K>;
    const auto mean = apply<detail::reduced_angle_rule>(mu);  // of a large mu, lower would vanish beside it
    const T from(lower - mean);
    const T turn = either<T>(
        from > detail::pi, [] { return T(-2.0 * detail::pi); }, from < -detail::pi, [] { return T(2.0 * detail::pi); },
        [] { return T(0.0); });
    const T begin = from + turn, end = (upper - mean) + turn;
    return either<T>(
        end <= detail::pi, [&] { return smooth<T>(begin, end, 0.0, kappa); },
        [&] { return of_both_tails(begin, T(end - 2.0 * detail::pi), T(kappa)); });
  }

 private:
  /// Returns the log probability of the angles beyond `begin`, or up to `end`.
  template <class T>
  static T of_both_tails(const T& begin, const T& end, const T& kappa) {
    const T others = smooth<T>(end, begin, 0.0, kappa);
    return either<T>(
        others < -0.7, [&] { return T(log1m(exp(others))); },
        [&] {
          return T(log_sum_exp(detail::term_anywhere<von_mises_lccdf_rule, T>(begin, 0.0, kappa),
                               detail::term_anywhere<von_mises_lcdf_rule, T>(end, 0.0, kappa)));
        });
  }
};
/// Returns the sum of the logarithms of the probabilities of angles between lower and upper, which are between -pi and pi.
inline constexpr probability_function<von_mises_lbetween_rule> von_mises_lbetween;

struct von_mises_quantile : quantile_of<von_mises_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& kappa) {
    const T angle = apply<detail::reduced_angle_rule>(mu);
    return is_upper ? T(apply<detail::von_mises_quantile_rule<true>>(p, angle, kappa))
                    : T(apply<detail::von_mises_quantile_rule<false>>(p, angle, kappa));
  }
};
/// Returns the angle between -pi and pi up to which the probability is p: the inverse of von_mises_cdf.
inline constexpr quantile_function<von_mises_quantile> von_mises_qf;
/// Returns the angle beyond which the probability is p.
inline constexpr quantile_function<von_mises_quantile, true> von_mises_cqf;

namespace detail {
/// Draws an angle from -pi to pi with the density proportional to exp(-2 kappa sin(angle / 2)^2): a wrapped Cauchy angle with
/// the best scale is accepted by the ratio of densities, by the square of the sine, in which nothing cancels. A normal number
/// takes its place where the sine is the angle to all digits.
/// Source: Best and Fisher (1979), Applied Statistics 28:152.
template <class URBG>
double draw_von_mises(double kappa, URBG& rng) {
  if (kappa >= 1e16) return draw_normal(rng) / std::sqrt(kappa);
  const double root = std::hypot(1.0, 2 * kappa), q = 2 * kappa + 4 * kappa * kappa / (1 + root);
  const double best = q > 0 ? 2 * kappa / ((1 + root) * q) : 0;  // where the ratio is largest
  for (;;) {
    const double t = draw_cauchy(rng) / std::sqrt(1 + q), s = t * t / (1 + t * t);
    const double log_ratio = -2 * kappa * (s - best) + std::log1p(q * s) - std::log1p(q * best);
    if (log_ratio + draw_exponential(rng) >= 0) return 2 * std::atan(t);
  }
}
}  // namespace detail

/// Draws von Mises angles, from mu - pi to mu + pi, with location mu and concentration kappa.
template <class Mu, class Kappa, class URBG>
auto von_mises_rng(const Mu& mu, const Kappa& kappa, URBG& rng) {
  return detail::draws<von_mises_lpdf_rule, double>(
      "von_mises_rng", [&](detail::draw_place, double m, double k) { return m + detail::draw_von_mises(k, rng); }, mu, kappa);
}

namespace rules {
using von_mises_family = family<typelist<von_mises_lpdf_rule, von_mises_cdf_rule, von_mises_lcdf_rule, von_mises_lccdf_rule>,
                                typelist<von_mises_quantile>, typelist<von_mises_lbetween_rule>>;
}

}  // namespace agrad
