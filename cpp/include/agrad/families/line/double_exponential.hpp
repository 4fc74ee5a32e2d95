// The double exponential distribution, or Laplace distribution.
#pragma once

#include <agrad/families/shared/location_scale.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {
/// Returns the logarithm of the probability of a value up to z, with location 0 and scale 1.
template <class T>
T log_laplace_up_to(const T& z) {
  const auto formula = [&] {
    return either<T>(
        z < 0.0, [&] { return T(z - log_2); }, [&] { return T(log1m(0.5 * exp(-z))); });
  };
  return with_limits(z, -infinity, 0, formula);
}

/// `log_laplace_up_to` of Sign z.
template <int Sign>
struct standard_log_laplace {
  static constexpr double limit = 700;
  template <class S>
  AGRAD_ALWAYS_INLINE static S at(const S& z, S& slope) {
    const S up_to = Sign * z;
    if (all_hold(up_to < 0.0)) {
      slope = 1.0 * Sign;
      return up_to - log_2;
    }
    const S tail = 0.5 * exp(-abs(z));
    slope = chosen(up_to < 0.0, 1.0 * Sign, Sign * tail / (1.0 - tail));
    return chosen(up_to < 0.0, up_to - log_2, log1p(-tail));
  }
};
template <int Sign>
using log_laplace_octets = standardised_octets<standard_log_laplace<Sign>>;
}  // namespace detail

struct double_exponential_lpdf_rule : detail::location_scale_density {
  static constexpr std::string_view name = "double_exponential_lpdf",
                                    text = "Double exponential log density of y with location mu and scale sigma.",
                                    reference = "-log(2 * sigma) - fabs(y - mu) / sigma",
                                    source = "log f(y; mu, sigma) = -log(2 sigma) - |y - mu| / sigma";
  static constexpr std::string_view scipy = "laplace: x; loc, scale";
  template <class Y, class M, class S>
  static auto prepare(const parts& included, const Y&, const M&, const S& sigma) {
    return detail::log_density_of_scale<2>(included, -detail::log_2, sigma);
  }
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P& of_scale, const Y& y, const M& mu, const S& sigma) {
    return of_scale - abs(y - mu) / sigma;
  }

  struct octets : detail::location_scale_octets<double_exponential_lpdf_rule> {
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S z = (x[0] - x[1]) * prepared[0], size = abs(z);
      slope[1] = chosen(z > 0.0, prepared[0], chosen(z < 0.0, -prepared[0], 0.0));
      slope[0] = -slope[1];
      slope[2] = (size - 1.0) * prepared[0];
      return prepared[1] - size;
    }
  };
};
/// Returns the sum of the double exponential log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Sigma>
auto double_exponential_lpdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_probability<double_exponential_lpdf_rule, propto>(y, mu, sigma);
}

struct double_exponential_cdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "double_exponential_cdf",
                                    text = "Probability of a value up to y, with location mu and scale sigma.",
                                    reference = "exp((y - mu) / sigma) / 2 if y < mu else 1 - exp((mu - y) / sigma) / 2",
                                    source = "F = exp(z) / 2 for z = (y - mu) / sigma < 0, else 1 - exp(-z) / 2";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    using T = promoted_t<Y, M, S>;
    const T z = (y - mu) / sigma;
    const auto formula = [&] {
      return either<T>(
          z < 0.0, [&] { return T(0.5 * exp(z)); }, [&] { return T(1.0 - 0.5 * exp(-z)); });
    };
    return detail::with_limits(z, 0, 1, formula);
  }
};
/// Returns the product of the double exponential probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<double_exponential_cdf_rule> double_exponential_cdf;

struct double_exponential_lcdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "double_exponential_lcdf", text = "Logarithm of double_exponential_cdf.",
                                    reference = "(y - mu) / sigma - log(2) if y < mu else log1p(-exp((mu - y) / sigma) / 2)",
                                    source = "log F = z - log 2 for z = (y - mu) / sigma < 0, else log(1 - exp(-z) / 2)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::log_laplace_up_to(promoted_t<Y, M, S>((y - mu) / sigma));
  }

  using octets = detail::log_laplace_octets<1>;
};
/// Returns the sum of the logarithms of the double exponential probabilities of values up to y.
inline constexpr probability_function<double_exponential_lcdf_rule> double_exponential_lcdf;

struct double_exponential_lccdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "double_exponential_lccdf",
                                    text =
                                        "Logarithm of the probability of a value beyond y, with location mu and scale sigma.",
                                    reference = "(mu - y) / sigma - log(2) if y > mu else log1p(-exp((y - mu) / sigma) / 2)",
                                    source = "log(1 - F) = -z - log 2 for z = (y - mu) / sigma > 0, else log(1 - exp(z) / 2)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::log_laplace_up_to(promoted_t<Y, M, S>((mu - y) / sigma));
  }

  using octets = detail::log_laplace_octets<-1>;
};
/// Returns the sum of the logarithms of the double exponential probabilities of values beyond y.
inline constexpr probability_function<double_exponential_lccdf_rule> double_exponential_lccdf;

struct double_exponential_quantile : quantile_of<double_exponential_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    const T x = either<T>(
        p < 0.5, [&] { return T(log(2.0 * p)); }, [&] { return T(-log(2.0 * (1.0 - p))); });
    return mu + sigma * detail::reflected(is_upper, x);
  }
};
/// Returns the value up to which the probability is p: the inverse of double_exponential_cdf.
inline constexpr quantile_function<double_exponential_quantile> double_exponential_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<double_exponential_quantile, true> double_exponential_cqf;

using double_exponential_lbetween_rule =
    kinked_log_between<double_exponential_lpdf_rule, double_exponential_lcdf_rule, double_exponential_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<double_exponential_lbetween_rule> double_exponential_lbetween;

/// Draws double exponential (Laplace) numbers with location mu and scale sigma: differences of exponential numbers.
template <class Mu, class Sigma, class URBG>
auto double_exponential_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<double_exponential_lpdf_rule, double>(
      "double_exponential_rng",
      [&](detail::draw_place, double m, double s) {
        const double above = detail::draw_exponential(rng);
        return m + s * (above - detail::draw_exponential(rng));
      },
      mu, sigma);
}

namespace rules {
using double_exponential_family = family<typelist<double_exponential_lpdf_rule, double_exponential_cdf_rule,
                                                  double_exponential_lcdf_rule, double_exponential_lccdf_rule>,
                                         typelist<double_exponential_quantile>, typelist<double_exponential_lbetween_rule>>;
}

}  // namespace agrad
