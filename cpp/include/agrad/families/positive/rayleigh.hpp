// The Rayleigh distribution.
#pragma once

#include <cmath>

#include <agrad/families/shared/powers.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/power.hpp>

namespace agrad {

namespace detail {
/// What the functions of the Rayleigh distribution have in common.
struct rayleigh_rule : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan}, {"sigma", must_be::positive_finite, true}};
  template <class Y, class S>
  static auto in_support(const Y& y, const S&) {
    return y > 0;
  }
  /// Returns the logarithm of the probability of a value beyond y, without its sign.
  template <class Y, class S>
  static auto hazard(const Y& y, const S& sigma) {
    return 0.5 * square(y / sigma);
  }
};

struct rayleigh_hazard : octet_formulas<2> {
  template <class S>
  static std::array<S, 1> prepare(const parts&, const each<S>& x) {
    return {1.0 / x[1]};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0], 1e-50, 1e50) && within(x[1], 1e-50, 1e50);
  }
  template <class S>
  static S hazard(const std::array<S, 1>& prepared, const each<S>& x, each<S>& slope) {
    const S z = x[0] * prepared[0];
    slope[0] = z * prepared[0];
    slope[1] = -z * slope[0];
    return 0.5 * z * z;
  }
};
}  // namespace detail

struct rayleigh_lpdf_rule : detail::rayleigh_rule {
  static constexpr std::string_view name = "rayleigh_lpdf", text = "Log density of y > 0 with scale sigma.",
                                    reference = "log(y / sigma ** 2) - (y / sigma) ** 2 / 2 if 0 < y < inf else -inf",
                                    source = "log f(y; sigma) = log y - 2 log sigma - (y / sigma)^2 / 2";
  static constexpr std::string_view scipy = "rayleigh: x - loc; scale";
  template <class Y, class S>
  static auto in_support(const Y& y, const S&) {
    return y > 0 && y < infinity;
  }
  template <class Y, class S>
  static auto prepare(const parts& included, const Y&, const S& sigma) {
    return included.of({1}) ? -2.0 * log(sigma) : promoted_t<S>(0.0);
  }
  template <class P, class Y, class S>
  static auto term(const parts& included, const P& log_scale, const Y& y, const S& sigma) {
    promoted_t<Y, S, P> sum = log_scale - hazard(y, sigma);
    if (included.of({0})) sum += log(y);
    return sum;
  }

  struct octets : octet_formulas<2> {
    template <class S>
    static std::array<S, 2> prepare(const parts& included, const each<S>& x) {
      return {rayleigh_lpdf_rule::prepare(included, x[0], x[1]), 1.0 / x[1]};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0], 1e-50, 1e50) && within(x[1], 1e-50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts& included, each<S>& slope) {
      const S z = x[0] * prepared[1], square = z * z;
      slope[0] = 1.0 / x[0] - z * prepared[1];
      slope[1] = (square - 2.0) * prepared[1];
      const S value = prepared[0] - 0.5 * square;
      return included.of({0}) ? value + detail::log_inside(x[0]) : value;
    }
  };
};
/// Returns the sum of the Rayleigh log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Sigma>
auto rayleigh_lpdf(const Y& y, const Sigma& sigma) {
  return apply_probability<rayleigh_lpdf_rule, propto>(y, sigma);
}

struct rayleigh_cdf_rule : detail::rayleigh_rule {
  static constexpr std::string_view name = "rayleigh_cdf", text = "Probability of a value up to y, with scale sigma.",
                                    reference = "-expm1(-(y / sigma) ** 2 / 2) if y > 0 else 0",
                                    source = "F(y; sigma) = 1 - exp(-(y / sigma)^2 / 2)";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class S>
  static auto term(const parts&, const P&, const Y& y, const S& sigma) {
    using T = promoted_t<Y, S>;
    return either<T>(
        y == infinity, [] { return T(1.0); }, [&] { return T(-expm1(-hazard(y, sigma))); });
  }

  using octets = detail::hazard_rest_octets<detail::rayleigh_hazard>;
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<rayleigh_cdf_rule> rayleigh_cdf;

struct rayleigh_lcdf_rule : detail::rayleigh_rule {
  static constexpr std::string_view name = "rayleigh_lcdf", text = "Logarithm of rayleigh_cdf.",
                                    reference = "log(-expm1(-(y / sigma) ** 2 / 2)) if y > 0 else -inf",
                                    source = "log F(y; sigma) = log(1 - exp(-(y / sigma)^2 / 2))";
  template <class P, class Y, class S>
  static auto term(const parts&, const P&, const Y& y, const S& sigma) {
    using T = promoted_t<Y, S>;
    return either<T>(
        y == infinity, [] { return T(0.0); },
        [&] { return detail::log1m_exp_exp(T(2.0 * detail::log_scaled(y, sigma) - detail::log_2)); });
  }

  using octets = detail::hazard_complement_octets<detail::rayleigh_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<rayleigh_lcdf_rule> rayleigh_lcdf;

struct rayleigh_lccdf_rule : detail::rayleigh_rule {
  static constexpr std::string_view name = "rayleigh_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with scale sigma.",
                                    reference = "-(y / sigma) ** 2 / 2 if y > 0 else 0",
                                    source = "log(1 - F(y; sigma)) = -(y / sigma)^2 / 2";
  static constexpr double outside = 0;
  template <class P, class Y, class S>
  static auto term(const parts&, const P&, const Y& y, const S& sigma) {
    using T = promoted_t<Y, S>;
    return either<T>(
        y == infinity, [] { return T(-infinity); }, [&] { return T(-hazard(y, sigma)); });
  }

  using octets = detail::hazard_octets<detail::rayleigh_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<rayleigh_lccdf_rule> rayleigh_lccdf;

struct rayleigh_quantile : quantile_of<rayleigh_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& sigma) {
    return sigma * sqrt(-2.0 * detail::log_above(is_upper, p));
  }
};
/// Returns the value up to which the probability is p: the inverse of rayleigh_cdf.
inline constexpr quantile_function<rayleigh_quantile> rayleigh_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<rayleigh_quantile, true> rayleigh_cqf;

using rayleigh_lbetween_rule = log_between<rayleigh_lpdf_rule, rayleigh_lcdf_rule, rayleigh_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<rayleigh_lbetween_rule> rayleigh_lbetween;

/// Draws Rayleigh numbers with scale sigma.
template <class Sigma, class URBG>
auto rayleigh_rng(const Sigma& sigma, URBG& rng) {
  return detail::draws<rayleigh_lpdf_rule, double>(
      "rayleigh_rng", [&](detail::draw_place, double s) { return s * std::sqrt(2 * detail::draw_exponential(rng)); }, sigma);
}

namespace rules {
using rayleigh_family = family<typelist<rayleigh_lpdf_rule, rayleigh_cdf_rule, rayleigh_lcdf_rule, rayleigh_lccdf_rule>,
                               typelist<rayleigh_quantile>, typelist<rayleigh_lbetween_rule>>;
}

}  // namespace agrad
