// The normal distribution, also the standard one. normal_lpdf is in rules/density/normal.hpp.
#pragma once

#include <agrad/families/shared/location_scale.hpp>
#include <agrad/families/shared/normal_octets.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/density/normal.hpp>
#include <agrad/rules/error/normal_quantiles.hpp>
#include <agrad/rules/error/probit.hpp>

namespace agrad {

namespace detail {

/// Return the distribution function of the standard normal distribution, and its logarithm, with the limits at infinite z.
template <class T>
T normal_cdf_of(const T& z) {
  return with_limits(z, 0, 1, [&] { return T(ndtr(z)); });
}
template <class T>
T normal_lcdf_of(const T& z) {
  return with_limits(z, -infinity, 0, [&] { return T(log_ndtr(z)); });
}

/// The standard distribution function. Far out a rounding error of z would count.
struct standard_normal_cdf {
  static constexpr double limit = 8;
  template <class S>
  AGRAD_ALWAYS_INLINE static S at(const S& z, S& slope) {
    const S bell = normal_bell(z), tail = scaled_ndtr(z) * bell;
    slope = inv_sqrt_two_pi * bell;
    return chosen(z < 0.0, tail, 1.0 - tail);
  }
};

/// `normal_lcdf_of` Sign z. Far above 0 a rounding error of z would count in the derivatives.
template <int Sign>
struct standard_normal_lcdf {
  static constexpr double limit = 20;
  template <class S>
  AGRAD_ALWAYS_INLINE static S at(const S& z, S& slope) {
    const S value = detail::log_ndtr(Sign * z, slope);
    slope = Sign * slope;
    return value;
  }
};

/// Formulas for octets of such a function of y itself.
template <class Standard>
struct standard_octets : octet_formulas<1> {
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0], -Standard::limit, Standard::limit);
  }
  template <class S>
  static S term(const std::array<S, 0>&, const each<S>& x, const parts&, each<S>& slope) {
    return Standard::at(x[0], slope[0]);
  }
};

using normal_cdf_octets = standardised_octets<standard_normal_cdf>;
template <int Sign>
using normal_lcdf_octets = standardised_octets<standard_normal_lcdf<Sign>>;
template <int Sign>
using std_normal_lcdf_octets = standard_octets<standard_normal_lcdf<Sign>>;

/// The argument of the standard normal distribution.
struct std_normal_rule : probability_rule<1> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan}};
};

}  // namespace detail

struct std_normal_lpdf_rule : detail::std_normal_rule {
  static constexpr std::string_view name = "std_normal_lpdf", text = "Standard normal log density of y.",
                                    reference = "-y ** 2 / 2 - log(2 * pi) / 2", source = "log f(y) = -y^2 / 2 - log(2 pi) / 2";
  template <class P, class Y>
  static auto term(const parts& included, const P&, const Y& y) {
    return -0.5 * (y * y) + (included.constants() ? -detail::half_log_two_pi : 0.0);
  }

  struct octets : octet_formulas<1> {
    template <class S>
    static std::array<S, 1> prepare(const parts& included, const each<S>&) {
      return {S(included.constants() ? -detail::half_log_two_pi : 0.0)};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0], -1e50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 1>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      slope[0] = -x[0];
      return prepared[0] - 0.5 * (x[0] * x[0]);
    }
  };
};
/// Returns the sum of the standard normal log densities of y; see normal_lpdf.
template <bool propto = false, class Y>
auto std_normal_lpdf(const Y& y) {
  return apply_probability<std_normal_lpdf_rule, propto>(y);
}

struct normal_cdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "normal_cdf",
                                    text = "Probability of a value up to y, with mean mu and standard deviation sigma.",
                                    reference = "ncdf((y - mu) / sigma)", source = "F(y; mu, sigma) = Phi((y - mu) / sigma)";
  static constexpr std::string_view scipy = "norm: x; loc, scale";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::normal_cdf_of(promoted_t<Y, M, S>((y - mu) / sigma));
  }

  using octets = detail::normal_cdf_octets;
};
/// Returns the product of the normal probabilities of values up to y; each argument is a number or a sequence of a common
/// length.
inline constexpr probability_function<normal_cdf_rule> normal_cdf;

struct normal_lcdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "normal_lcdf", text = "Logarithm of normal_cdf.",
                                    reference = "log(ncdf((y - mu) / sigma)) if y < mu else log1p(-ncdf((mu - y) / sigma))",
                                    source = "log F(y; mu, sigma) = log Phi((y - mu) / sigma)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::normal_lcdf_of(promoted_t<Y, M, S>((y - mu) / sigma));
  }

  using octets = detail::normal_lcdf_octets<1>;
};
/// Returns the sum of the logarithms of the normal probabilities of values up to y.
inline constexpr probability_function<normal_lcdf_rule> normal_lcdf;

struct normal_lccdf_rule : detail::location_scale_rule {
  static constexpr std::string_view
      name = "normal_lccdf",
      text = "Logarithm of the probability of a value beyond y, with mean mu and standard deviation sigma.",
      reference = "log(ncdf((mu - y) / sigma)) if y > mu else log1p(-ncdf((y - mu) / sigma))",
      source = "log(1 - F(y; mu, sigma)) = log Phi((mu - y) / sigma)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::normal_lcdf_of(promoted_t<Y, M, S>((mu - y) / sigma));
  }

  using octets = detail::normal_lcdf_octets<-1>;
};
/// Returns the sum of the logarithms of the normal probabilities of values beyond y.
inline constexpr probability_function<normal_lccdf_rule> normal_lccdf;

struct std_normal_cdf_rule : detail::std_normal_rule {
  static constexpr std::string_view name = "std_normal_cdf", text = "Standard normal probability of a value up to y.",
                                    reference = "ncdf(y)", source = "F(y) = Phi(y)";
  static constexpr bool is_product = true;
  template <class P, class Y>
  static auto term(const parts&, const P&, const Y& y) {
    return detail::normal_cdf_of(promoted_t<Y>(y));
  }
};
/// Returns the product of the standard normal probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<std_normal_cdf_rule> std_normal_cdf;

struct std_normal_lcdf_rule : detail::std_normal_rule {
  static constexpr std::string_view name = "std_normal_lcdf", text = "Logarithm of std_normal_cdf.",
                                    reference = "log(ncdf(y)) if y < 0 else log1p(-ncdf(-y))", source = "log F(y) = log Phi(y)";
  template <class P, class Y>
  static auto term(const parts&, const P&, const Y& y) {
    return detail::normal_lcdf_of(promoted_t<Y>(y));
  }

  using octets = detail::std_normal_lcdf_octets<1>;
};
/// Returns the sum of the logarithms of the standard normal probabilities of values up to y.
inline constexpr probability_function<std_normal_lcdf_rule> std_normal_lcdf;

struct std_normal_lccdf_rule : detail::std_normal_rule {
  static constexpr std::string_view name = "std_normal_lccdf",
                                    text = "Logarithm of the standard normal probability of a value beyond y.",
                                    reference = "log(ncdf(-y)) if y > 0 else log1p(-ncdf(y))",
                                    source = "log(1 - F(y)) = log Phi(-y)";
  template <class P, class Y>
  static auto term(const parts&, const P&, const Y& y) {
    return detail::normal_lcdf_of(promoted_t<Y>(-y));
  }

  using octets = detail::std_normal_lcdf_octets<-1>;
};
/// Returns the sum of the logarithms of the standard normal probabilities of values beyond y.
inline constexpr probability_function<std_normal_lccdf_rule> std_normal_lccdf;

struct std_normal_quantile : quantile_of<std_normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p) {
    return detail::reflected(is_upper, T(ndtri(p)));
  }
};
/// Returns the value up to which the probability is p: the inverse of std_normal_cdf.
inline constexpr quantile_function<std_normal_quantile> std_normal_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<std_normal_quantile, true> std_normal_cqf;

struct normal_quantile : quantile_of<normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    return mu + sigma * std_normal_quantile::term(is_upper, p);
  }
};
/// Returns the value up to which the probability is p: the inverse of normal_cdf.
inline constexpr quantile_function<normal_quantile> normal_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<normal_quantile, true> normal_cqf;

using std_normal_lbetween_rule = log_between<std_normal_lpdf_rule, std_normal_lcdf_rule, std_normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<std_normal_lbetween_rule> std_normal_lbetween;

template <>
struct terms_of_density<normal_lpdf_rule> : detail::location_scale_density {
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    const promoted_t<Y, M, S> z((y - mu) / sigma);
    return -detail::half_log_two_pi - log(sigma) - 0.5 * (z * z);
  }
};

using normal_lbetween_rule = log_between<terms_of_density<normal_lpdf_rule>, normal_lcdf_rule, normal_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<normal_lbetween_rule> normal_lbetween;

/// Draws a standard normal number.
template <class URBG>
double std_normal_rng(URBG& rng) {
  return detail::draw_normal(rng);
}

/// Draws normal numbers with mean mu and standard deviation sigma.
template <class Mu, class Sigma, class URBG>
auto normal_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<normal_lpdf_rule, double>(
      "normal_rng", [&](detail::draw_place, double m, double s) { return m + s * detail::draw_normal(rng); }, mu, sigma);
}

namespace rules {
using normal_family =
    family<typelist<std_normal_lpdf_rule, normal_cdf_rule, normal_lcdf_rule, normal_lccdf_rule, std_normal_cdf_rule,
                    std_normal_lcdf_rule, std_normal_lccdf_rule>,
           typelist<std_normal_quantile, normal_quantile>, typelist<std_normal_lbetween_rule, normal_lbetween_rule>>;
}

}  // namespace agrad
