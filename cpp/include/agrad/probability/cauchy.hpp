// The Cauchy distribution: density and distribution functions.
//
// Probabilities are angles: atan2 has the digits of both tails, and neither it nor its derivatives overflow.
#pragma once

#include <agrad/probability/location_scale.hpp>
#include <agrad/rules/atan_moments.hpp>
#include <agrad/rules/entropy.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/polygamma.hpp>
#include <agrad/rules/trigonometric.hpp>

namespace agrad {

namespace detail {

/// log(1 + (d / sigma)^2), where the square may overflow. Far from 0 the parts of d and of sigma are separate, so that their
/// mixed derivative does not cancel.
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

/// The Cauchy probability of a distance of at least d below the location.
template <class T>
T cauchy_tail(const T& d, const T& sigma) {
  return with_limits(d, 1, 0, [&] { return T(inv_pi * atan2(sigma, d)); });
}

/// The logarithm of the Cauchy probability of a distance of at most d above the location: below -sigma, the logarithms of
/// sigma / d, of atan(w) / w at w = sigma / d, and of 1 / pi.
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
    static octet term(const std::array<octet, 2>& prepared, const each<>& x, const parts&, each<>& slope) {
      const octet inverse = prepared[0], z = (x[0] - x[1]) * inverse, square = z * z, share = inverse / (1.0 + square);
      slope[1] = 2.0 * z * share;
      slope[0] = -slope[1];
      slope[2] = (square - 1.0) * share;
      return prepared[1] - log1p(square);
    }
  };
};
/// Sum of the Cauchy log densities of y; see normal_lpdf.
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
};
/// Product of the Cauchy probabilities of values up to y; see normal_cdf.
template <class Y, class Mu, class Sigma>
auto cauchy_cdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_probability<cauchy_cdf_rule>(y, mu, sigma);
}

struct cauchy_lcdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "cauchy_lcdf", text = "Logarithm of cauchy_cdf.",
                                    reference = "log(atan2(sigma, mu - y) / pi)",
                                    source = "log F(y; mu, sigma) = log(1/2 + atan((y - mu) / sigma) / pi)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    using T = promoted_t<Y, M, S>;
    return detail::log_cauchy_up_to(T(y - mu), T(sigma));
  }
};
/// Sum of the logarithms of the Cauchy probabilities of values up to y.
template <class Y, class Mu, class Sigma>
auto cauchy_lcdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_probability<cauchy_lcdf_rule>(y, mu, sigma);
}

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
};
/// Sum of the logarithms of the Cauchy probabilities of values beyond y.
template <class Y, class Mu, class Sigma>
auto cauchy_lccdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_probability<cauchy_lccdf_rule>(y, mu, sigma);
}

namespace rules {
using cauchy_distribution = typelist<cauchy_lpdf_rule, cauchy_cdf_rule, cauchy_lcdf_rule, cauchy_lccdf_rule>;
}

}  // namespace agrad
