// The distribution functions of the skew normal distribution.
//
// With z = (y - xi) / omega, h = |z| and a = |alpha|, let S be the light tail. The probability below z is S if z <= 0 and
// alpha >= 0, erf(h / sqrt(2)) + S if z > 0 and alpha >= 0, and the same with the opposite signs of z and alpha is that above
// z.
#pragma once

#include <agrad/probability/location_scale.hpp>
#include <agrad/probability/skew_normal_octets.hpp>
#include <agrad/rules/error.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/skew_tail.hpp>

namespace agrad {

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
template <class Y, class Xi, class Omega, class Alpha>
auto skew_normal_cdf(const Y& y, const Xi& xi, const Omega& omega, const Alpha& alpha) {
  return apply_probability<skew_normal_cdf_rule>(y, xi, omega, alpha);
}

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
template <class Y, class Xi, class Omega, class Alpha>
auto skew_normal_lcdf(const Y& y, const Xi& xi, const Omega& omega, const Alpha& alpha) {
  return apply_probability<skew_normal_lcdf_rule>(y, xi, omega, alpha);
}

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
template <class Y, class Xi, class Omega, class Alpha>
auto skew_normal_lccdf(const Y& y, const Xi& xi, const Omega& omega, const Alpha& alpha) {
  return apply_probability<skew_normal_lccdf_rule>(y, xi, omega, alpha);
}

namespace rules {
using skew_normal_cdfs = typelist<skew_normal_cdf_rule, skew_normal_lcdf_rule, skew_normal_lccdf_rule>;
}

}  // namespace agrad
