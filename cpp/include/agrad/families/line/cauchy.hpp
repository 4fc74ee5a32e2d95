// The Cauchy distribution.
//
// Probabilities are angles: atan2 has the digits of both tails, and neither it nor its derivatives overflow.
#pragma once

#include <agrad/families/shared/location_scale.hpp>
#include <agrad/families/tails/atan_moments.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/polygamma.hpp>
#include <agrad/rules/polynomial.hpp>
#include <agrad/rules/trigonometric.hpp>
#include <agrad/rules/values.hpp>

namespace agrad {

namespace detail {

/// Returns log(1 + (d / sigma)^2), where the square may overflow. Far from 0 the parts of d and of sigma are separate, so that
/// their mixed derivative does not cancel.
template <class T>
T log1p_square(const T& d, const T& sigma) {
  const auto small = [&] {
    const T z = d / sigma;
    return T(log1p(z * z));
  };
  const auto large = [&] {
    const T inverse = sigma / d;
    return T(2.0 * apply<log_ratio_rule>(abs(d), sigma) + log1p(inverse * inverse));
  };
  return either<T>(abs(d) < sigma, small, large);
}

/// Returns the Cauchy probability of a distance of at least d below the location.
template <class T>
T cauchy_tail(const T& d, const T& sigma) {
  return with_limits(d, 1, 0, [&] { return T(inv_pi * atan2(sigma, d)); });
}

/// Returns the logarithm of the Cauchy probability of a distance of at most d above the location: below -sigma, the logarithms
/// of sigma / d, of atan(w) / w at w = sigma / d, and of 1 / pi.
template <class T>
T log_cauchy_up_to(const T& d, const T& sigma) {
  const auto tail = [&] {
    const T w = sigma / d;
    return T(apply<log_ratio_rule>(sigma, -d) + log(apply<atan_moment_rule>(0.0, w * w)) - log_pi);
  };
  const auto formula = [&] {
    return either<T>(
        d < -sigma, tail, d < 0.0, [&] { return T(log(inv_pi * atan2(sigma, -d))); },
        [&] { return T(log1m(inv_pi * atan2(sigma, d))); });
  };
  return with_limits(d, -infinity, 0, formula);
}

/// (atan(w) - w) / w^3 as a polynomial of w^2 between 0 and 1: a Chebyshev series of atan(w) / w, fitted to 60 digits with an
/// error of 2e-17.
inline constexpr double atan_series[] = {
    -0.3333333333333325,   0.19999999999986157,   -0.14285714284820428, 0.11111111080383854,    -0.09090908440338843,
    0.07692298432985685,   -0.06666572806289763,  0.05881647236717415,  -0.05259103789485882,   0.0474370596643217,
    -0.042828645702794474, 0.038129809754225044,  -0.03264116292977077, 0.0259471057039563,     -0.018386836817918875,
    0.011122014669752633,  -0.005484778971809356, 0.002090633535263676, -0.0005727925781292097, 9.978410811953032e-05,
    -8.26799581733715e-06};

/// Returns atan(w) of numbers between 0 and 1.
inline double unit_atan(double w) { return std::atan(w); }
AGRAD_ALWAYS_INLINE octet unit_atan(const octet& w) {
  const octet square = w * w;
  octet_array x;
  square.store(x.data());
  return w + w * square * octet::load(polynomial(atan_series, x).data());
}

/// Returns the probability beyond a distance from the location, in units of the scale.
template <class S>
AGRAD_ALWAYS_INLINE S cauchy_beyond(const S& distance) {
  const auto is_far = distance > 1.0;
  const S angle = unit_atan(chosen(is_far, 1.0 / distance, distance));
  return inv_pi * chosen(is_far, angle, 0.5 * pi - angle);
}

/// The standard distribution function.
struct standard_cauchy_cdf {
  static constexpr double limit = 1e100;
  template <class S>
  AGRAD_ALWAYS_INLINE static S at(const S& z, S& slope) {
    const S tail = cauchy_beyond(S(abs(z)));
    slope = inv_pi / (1.0 + z * z);
    return chosen(z < 0.0, tail, 1.0 - tail);
  }
};

/// `log_cauchy_up_to` of Sign z.
template <int Sign>
struct standard_log_cauchy {
  static constexpr double limit = 1e100;
  template <class S>
  AGRAD_ALWAYS_INLINE static S at(const S& z, S& slope) {
    const S tail = cauchy_beyond(S(abs(z))), rest = 1.0 - tail;
    const auto is_below = Sign * z < 0.0;
    const S share = chosen(is_below, tail, rest), inverse = 1.0 / share;
    slope = Sign * inv_pi * inverse / (1.0 + z * z);
    return log(share) + chosen(is_below, 0.0, ((1.0 - rest) - tail) * inverse);
  }
};

using cauchy_cdf_octets = standardised_octets<standard_cauchy_cdf>;
template <int Sign>
using log_cauchy_octets = standardised_octets<standard_log_cauchy<Sign>>;

}  // namespace detail

struct cauchy_lpdf_rule : detail::location_scale_density {
  static constexpr std::string_view name = "cauchy_lpdf", text = "Cauchy log density of y with location mu and scale sigma.",
                                    reference = "-log(pi * sigma * (1 + ((y - mu) / sigma) ** 2))",
                                    source = "log f(y; mu, sigma) = -log(pi sigma (1 + ((y - mu) / sigma)^2))";
  static constexpr std::string_view scipy = "cauchy: x; loc, scale";
  template <class Y, class M, class S>
  static auto prepare(const parts& included, const Y&, const M&, const S& sigma) {
    return detail::log_density_of_scale<2>(included, -detail::log_pi, sigma);
  }
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P& of_scale, const Y& y, const M& mu, const S& sigma) {
    using T = promoted_t<Y, M, S>;
    return of_scale - detail::log1p_square(T(y - mu), T(sigma));
  }

  struct octets : detail::location_scale_octets<cauchy_lpdf_rule> {
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S inverse = prepared[0], z = (x[0] - x[1]) * inverse, square = z * z, share = inverse / (1.0 + square);
      slope[1] = 2.0 * z * share;
      slope[0] = -slope[1];
      slope[2] = (square - 1.0) * share;
      return prepared[1] - log1p(square);
    }
  };
};
/// Returns the sum of the Cauchy log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma>
auto cauchy_lpdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_probability<cauchy_lpdf_rule, propto>(y, mu, sigma);
}

struct cauchy_cdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "cauchy_cdf",
                                    text = "Probability of a value up to y, with location mu and scale sigma.",
                                    reference = "atan2(sigma, mu - y) / pi",
                                    source = "F(y; mu, sigma) = 1/2 + atan((y - mu) / sigma) / pi";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    using T = promoted_t<Y, M, S>;
    return detail::cauchy_tail(T(mu - y), T(sigma));
  }

  using octets = detail::cauchy_cdf_octets;
};
/// Returns the product of the Cauchy probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<cauchy_cdf_rule> cauchy_cdf;

struct cauchy_lcdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "cauchy_lcdf", text = "Logarithm of cauchy_cdf.",
                                    reference = "log(atan2(sigma, mu - y) / pi)",
                                    source = "log F(y; mu, sigma) = log(1/2 + atan((y - mu) / sigma) / pi)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    using T = promoted_t<Y, M, S>;
    return detail::log_cauchy_up_to(T(y - mu), T(sigma));
  }

  using octets = detail::log_cauchy_octets<1>;
};
/// Returns the sum of the logarithms of the Cauchy probabilities of values up to y.
inline constexpr probability_function<cauchy_lcdf_rule> cauchy_lcdf;

struct cauchy_lccdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "cauchy_lccdf",
                                    text =
                                        "Logarithm of the probability of a value beyond y, with location mu and scale sigma.",
                                    reference = "log(atan2(sigma, y - mu) / pi)",
                                    source = "log(1 - F(y; mu, sigma)) = log(1/2 - atan((y - mu) / sigma) / pi)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    using T = promoted_t<Y, M, S>;
    return detail::log_cauchy_up_to(T(mu - y), T(sigma));
  }

  using octets = detail::log_cauchy_octets<-1>;
};
/// Returns the sum of the logarithms of the Cauchy probabilities of values beyond y.
inline constexpr probability_function<cauchy_lccdf_rule> cauchy_lccdf;

struct cauchy_quantile : quantile_of<cauchy_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    const auto low = p < 0.25;
    const auto high = p > 0.75;
    const T x = either<T>(
        low, [&] { return T(-1.0 / tan(detail::pi * p)); },          //
        high, [&] { return T(1.0 / tan(detail::pi * (1.0 - p))); },  //
        [&] { return T(tan(detail::pi * (p - 0.5))); });
    return mu + sigma * detail::reflected(is_upper, x);
  }
};
/// Returns the value up to which the probability is p: the inverse of cauchy_cdf.
inline constexpr quantile_function<cauchy_quantile> cauchy_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<cauchy_quantile, true> cauchy_cqf;

using cauchy_lbetween_rule = log_between<cauchy_lpdf_rule, cauchy_lcdf_rule, cauchy_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<cauchy_lbetween_rule> cauchy_lbetween;

/// Draws Cauchy numbers with location mu and scale sigma.
template <class Mu, class Sigma, class URBG>
auto cauchy_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<cauchy_lpdf_rule, double>(
      "cauchy_rng", [&](detail::draw_place, double m, double s) { return m + s * detail::draw_cauchy(rng); }, mu, sigma);
}

namespace rules {
using cauchy_family = family<typelist<cauchy_lpdf_rule, cauchy_cdf_rule, cauchy_lcdf_rule, cauchy_lccdf_rule>,
                             typelist<cauchy_quantile>, typelist<cauchy_lbetween_rule>>;
}

}  // namespace agrad
