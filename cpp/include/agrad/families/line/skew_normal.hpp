// The skew normal distribution.
//
// With z = (y - xi) / omega, h = |z| and a = |alpha|, let S be the light tail. The probability below z is S if z <= 0 and
// alpha >= 0, erf(h / sqrt(2)) + S if z > 0 and alpha >= 0, and the same with the opposite signs of z and alpha is that above
// z.
#pragma once

#include <cmath>

#include <agrad/families/line/skew_normal_octets.hpp>
#include <agrad/families/shared/location_scale.hpp>
#include <agrad/families/shared/normal_octets.hpp>
#include <agrad/families/tails/skew_tail.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/error/error.hpp>
#include <agrad/rules/error/probit.hpp>
#include <agrad/rules/error/tail_inverse.hpp>
#include <agrad/rules/links.hpp>

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

namespace detail {

/// What the distribution functions of the skew normal distribution have in common.
struct skew_normal_cdf_base : probability_rule<4> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"xi", must_be::finite}, {"omega", must_be::positive_finite, true}, {"alpha", must_be::finite}};
};

/// Return |z|, with the slope -1 at 0, and |alpha|, with the slope 1 there, as the first case of the functions below takes
/// them.
template <class T>
T size_of_light(const T& z) {
  return either<T>(
      z <= 0, [&] { return T(-z); }, [&] { return z; });
}
template <class T>
T size_of_shape(const T& alpha) {
  return either<T>(
      alpha >= 0, [&] { return alpha; }, [&] { return T(-alpha); });
}

/// Returns z, infinite where its square would be.
template <class T>
T with_finite_square(const T& z) {
  return either<T>(
      z > 1e154, [] { return T(infinity); }, z < -1e154, [] { return T(-infinity); }, [&] { return z; });
}

/// Returns the probability below z with the shape alpha.
template <class T>
T skew_normal_probability(const T& z, const T& alpha) {
  const T h = size_of_light(z), a = size_of_shape(alpha), light = apply<skew_tail_rule>(h, a);
  return either<T>(
      z <= 0 && alpha >= 0, [&] { return light; },                 //
      alpha >= 0, [&] { return T(erf(inv_sqrt_2 * h) + light); },  //
      z <= 0, [&] { return T(2.0 * ndtr(-h) - light); }, [&] { return T(1.0 - light); });
}

/// Its logarithm.
template <class T>
T skew_normal_log_probability(const T& z, const T& alpha) {
  const T h = size_of_light(z), a = size_of_shape(alpha);
  const auto log_light = [&] { return apply<log_skew_tail_rule>(h, a); };
  const auto light = [&] { return apply<skew_tail_rule>(h, a); };
  const auto middle = [&] { return T(erf(inv_sqrt_2 * h) + light()); };
  const auto log_heavy = [&] {
    const T log_normal = log_ndtr(-h);
    return T(log_normal + log(2.0 - exp(log_light() - log_normal)));
  };
  return either<T>(
      z <= 0 && alpha >= 0, log_light,             //
      z <= -0.5, log_heavy,                        //
      z <= 0, [&] { return T(log1m(middle())); },  // close to 0 where alpha is large
      alpha >= 0 && z < 1, [&] { return T(log(middle())); }, alpha >= 0, [&] { return T(log1m_exp(log_heavy())); },
      [&] { return T(log1m(light())); });
}

}  // namespace detail

struct skew_normal_cdf_rule : detail::skew_normal_cdf_base {
  static constexpr std::string_view name = "skew_normal_cdf",
                                    text = "Probability of a value up to y, with location xi, scale omega and shape alpha.",
                                    reference = "skew_normal((y - xi) / omega, alpha)",
                                    source = "F(y; xi, omega, alpha) = Phi(z) - 2 T(z, alpha) with z = (y - xi) / omega";
  static constexpr bool is_product = true;
  template <class P, class Y, class X, class W, class A>
  static auto term(const parts&, const P&, const Y& y, const X& xi, const W& omega, const A& alpha) {
    using T = promoted_t<Y, X, W, A>;
    const T z = detail::with_finite_square(T((y - xi) / omega)), shape(alpha);
    return detail::with_limits(z, 0, 1, [&] { return detail::skew_normal_probability(z, shape); });
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<skew_normal_cdf_rule> skew_normal_cdf;

struct skew_normal_lcdf_rule : detail::skew_normal_cdf_base {
  static constexpr std::string_view name = "skew_normal_lcdf", text = "Logarithm of skew_normal_cdf.",
                                    reference = "log(skew_normal((y - xi) / omega, alpha))",
                                    source = "log F(y; xi, omega, alpha)";
  template <class P, class Y, class X, class W, class A>
  static auto term(const parts&, const P&, const Y& y, const X& xi, const W& omega, const A& alpha) {
    using T = promoted_t<Y, X, W, A>;
    const T z = detail::with_finite_square(T((y - xi) / omega)), shape(alpha);
    return detail::with_limits(z, -infinity, 0, [&] { return detail::skew_normal_log_probability(z, shape); });
  }

  using octets = detail::skew_normal_octets<1>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<skew_normal_lcdf_rule> skew_normal_lcdf;

struct skew_normal_lccdf_rule : detail::skew_normal_cdf_base {
  static constexpr std::string_view
      name = "skew_normal_lccdf",
      text = "Logarithm of the probability of a value beyond y, with location xi, scale omega and shape alpha.",
      reference = "log(skew_normal((xi - y) / omega, -alpha))", source = "log(1 - F(y; xi, omega, alpha))";
  template <class P, class Y, class X, class W, class A>
  static auto term(const parts&, const P&, const Y& y, const X& xi, const W& omega, const A& alpha) {
    using T = promoted_t<Y, X, W, A>;
    const T z = detail::with_finite_square(T((xi - y) / omega)), shape(-alpha);
    return detail::with_limits(z, -infinity, 0, [&] { return detail::skew_normal_log_probability(z, shape); });
  }

  using octets = detail::skew_normal_octets<-1>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<skew_normal_lccdf_rule> skew_normal_lccdf;

namespace detail {

/// Returns the z up to which the probability is p <= 1/2. Newton's method for its logarithm, which is concave in z, starts from
/// the quantile of a normal variable that falls as fast as the tail.
inline double skew_normal_tail_inverse(double p, double alpha) {
  const double below_0 = alpha > 0 ? inv_pi * std::atan(1 / alpha) : 1;
  const double start = ndtri(p) / (p < below_0 && alpha > 0 ? std::hypot(1, alpha) : 1);
  const double log_p = std::log(p);
  const auto at = [&](double z) {
    const double log_tail = skew_normal_log_probability(z, alpha);
    const double log_density = 0.5 * std::log(2 * inv_pi) - 0.5 * z * z + log_ndtr(alpha * z);
    return tail_excess{log_tail - log_p, std::exp(log_density - log_tail)};
  };
  return inverse_of_tail(true, -infinity, start, infinity, at, [](double z, double step) { return z + step; });
}

/// The z up to which the probability is p, or beyond which with is_upper. The derivatives are those of an implicit function:
/// with the density 2 phi(z) Phi(alpha z), that with respect to alpha is the slope of log_ndtr at alpha z, over 1 + alpha^2.
template <bool is_upper>
struct skew_normal_quantile_rule : rule<2> {
  static constexpr std::string_view name = is_upper ? "skew_normal_upper_quantile" : "skew_normal_lower_quantile";
  static double value(double p, double alpha) {
    if (!(p >= 0 && p <= 1 && std::abs(alpha) < infinity)) return quiet_nan;
    if (p == 0 || p == 1) return (p == 0) == is_upper ? infinity : -infinity;
    const bool is_left = (p <= 0.5) != is_upper;  // the upper tail is the lower one of -z and -alpha
    const double z = skew_normal_tail_inverse(p <= 0.5 ? p : 1 - p, is_left ? alpha : -alpha);
    return is_left ? z : -z;
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& alpha, const T& z) {
    const T slope = sqrt_half_pi * exp(0.5 * (z * z) - log_ndtr(alpha * z));
    return is_upper ? T(-slope) : slope;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& alpha, const T& z) {
    return either<T>(
        abs(z) < infinity,
        [&] {
          const T w = alpha * z;
          return T(log_ndtr_rule::derivative(wrt<0>{}, w, w) / (1.0 + alpha * alpha));
        },
        [] { return T(0.0); });
  }
};

}  // namespace detail

struct skew_normal_quantile : quantile_of<skew_normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& xi, const T& omega, const T& alpha) {
    return xi + omega * (is_upper ? T(apply<detail::skew_normal_quantile_rule<true>>(p, alpha))
                                  : T(apply<detail::skew_normal_quantile_rule<false>>(p, alpha)));
  }
};
/// Returns the value up to which the probability is p: the inverse of skew_normal_cdf.
inline constexpr quantile_function<skew_normal_quantile> skew_normal_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<skew_normal_quantile, true> skew_normal_cqf;

using skew_normal_lbetween_rule = log_between<skew_normal_lpdf_rule, skew_normal_lcdf_rule, skew_normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<skew_normal_lbetween_rule> skew_normal_lbetween;

/// Draws skew normal numbers with location xi, scale omega and shape alpha.
template <class Xi, class Omega, class Alpha, class URBG>
auto skew_normal_rng(const Xi& xi, const Omega& omega, const Alpha& alpha, URBG& rng) {
  return detail::draws<skew_normal_lpdf_rule, double>(
      "skew_normal_rng",
      [&](detail::draw_place, double x, double o, double a) {
        const double norm = std::hypot(1.0, a), positive = std::abs(detail::draw_normal(rng));
        return x + o * (a / norm * positive + detail::draw_normal(rng) / norm);
      },
      xi, omega, alpha);
}

namespace rules {
using skew_normal_family =
    family<typelist<skew_normal_lpdf_rule, skew_normal_cdf_rule, skew_normal_lcdf_rule, skew_normal_lccdf_rule>,
           typelist<skew_normal_quantile>, typelist<skew_normal_lbetween_rule>>;
}

}  // namespace agrad
