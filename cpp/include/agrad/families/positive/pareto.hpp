// The Pareto distribution.
#pragma once

#include <cmath>

#include <agrad/families/shared/powers.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {
/// What the functions of the Pareto distribution have in common.
struct pareto_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"y_min", must_be::positive_finite, true}, {"alpha", must_be::positive_finite, true}};
  template <class Y, class M, class A>
  static auto in_support(const Y& y, const M& y_min, const A&) {
    return y >= y_min;
  }
};

struct pareto_hazard : octet_formulas<3> {
  template <class S>
  static std::array<S, 1> prepare(const parts&, const each<S>& x) {
    return {1.0 / x[1]};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return x[0] > x[1] && within(x[0], 1e-50, 1e50) && within(x[1], 1e-50, 1e50) && within(x[2], 1e-50, 1e50);
  }
  template <class S>
  static S hazard(const std::array<S, 1>& prepared, const each<S>& x, each<S>& slope) {
    slope[0] = x[2] / x[0];
    slope[1] = -x[2] * prepared[0];
    slope[2] = log1p_inside((x[0] - x[1]) * prepared[0]);
    return x[2] * slope[2];
  }
};
}  // namespace detail

struct pareto_lpdf_rule : detail::pareto_rule {
  static constexpr std::string_view name = "pareto_lpdf", text = "Log density of y >= y_min with shape alpha.",
                                    reference =
                                        "log(alpha) + alpha * log(y_min) - (alpha + 1) * log(y) if y_min <= y < inf else -inf",
                                    source = "log f(y; y_min, alpha) = log(alpha) + alpha log(y_min) - (alpha + 1) log(y)";
  static constexpr std::string_view scipy = "pareto(b): x - loc; scale, b";
  template <class Y, class M, class A>
  static auto in_support(const Y& y, const M& y_min, const A&) {
    return y >= y_min && y < infinity;
  }
  template <class P, class Y, class M, class A>
  static auto term(const parts& included, const P&, const Y& y, const M& y_min, const A& alpha) {
    promoted_t<Y, M, A> sum = -alpha * detail::log_scaled(y, y_min);
    if (included.of({0})) sum -= log(y);
    if (included.of({2})) sum += log(alpha);
    return sum;
  }

  struct octets : octet_formulas<3> {
    template <class S>
    static std::array<S, 3> prepare(const parts& included, const each<S>& x) {
      const S of_shape = included.of({2}) ? S(log(x[2])) : S(0.0);
      return {1.0 / x[1], 1.0 / x[2], included.of({0}) ? S(of_shape - log(x[1])) : of_shape};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] >= x[1] && within(x[0], 1e-50, 1e50) && within(x[1], 1e-50, 1e50) && within(x[2], 1e-50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts& included, each<S>& slope) {
      const S log_y = detail::log1p_inside((x[0] - x[1]) * prepared[0]), power = x[2] + 1.0;
      slope[0] = -power / x[0];
      slope[1] = x[2] * prepared[0];
      slope[2] = prepared[1] - log_y;
      return prepared[2] - (included.of({0}) ? power : x[2]) * log_y;
    }
  };
};
/// Returns the sum of the Pareto log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class YMin, class Alpha>
auto pareto_lpdf(const Y& y, const YMin& y_min, const Alpha& alpha) {
  return apply_probability<pareto_lpdf_rule, propto>(y, y_min, alpha);
}

struct pareto_cdf_rule : detail::pareto_rule {
  static constexpr std::string_view name = "pareto_cdf",
                                    text = "Probability of a value up to y, at least y_min, with shape alpha.",
                                    reference = "-expm1(alpha * log(y_min / y)) if y > y_min else 0",
                                    source = "F(y; y_min, alpha) = 1 - (y_min / y)^alpha";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class M, class A>
  static auto term(const parts&, const P&, const Y& y, const M& y_min, const A& alpha) {
    using T = promoted_t<Y, M, A>;
    return either<T>(
        y == infinity, [] { return T(1.0); }, [&] { return T(-expm1(-alpha * detail::log_scaled(y, y_min))); });
  }

  using octets = detail::hazard_rest_octets<detail::pareto_hazard>;
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<pareto_cdf_rule> pareto_cdf;

struct pareto_lcdf_rule : detail::pareto_rule {
  static constexpr std::string_view name = "pareto_lcdf", text = "Logarithm of pareto_cdf.",
                                    reference = "log(-expm1(alpha * log(y_min / y))) if y > y_min else -inf",
                                    source = "log F(y; y_min, alpha) = log(1 - (y_min / y)^alpha)";
  template <class Y, class M, class A>
  static auto in_support(const Y& y, const M& y_min, const A&) {
    return y > y_min;
  }
  template <class P, class Y, class M, class A>
  static auto term(const parts&, const P&, const Y& y, const M& y_min, const A& alpha) {
    using T = promoted_t<Y, M, A>;
    const T log_y = detail::log_scaled(y, y_min);
    return either<T>(
        y == infinity, [] { return T(0.0); }, [&] { return detail::log1m_exp_product<T>(alpha, log_y, T(log(log_y))); });
  }

  using octets = detail::hazard_complement_octets<detail::pareto_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<pareto_lcdf_rule> pareto_lcdf;

struct pareto_lccdf_rule : detail::pareto_rule {
  static constexpr std::string_view name = "pareto_lccdf",
                                    text =
                                        "Logarithm of the probability of a value beyond y, at least y_min, with shape alpha.",
                                    reference = "alpha * log(y_min / y) if y > y_min else 0",
                                    source = "log(1 - F(y; y_min, alpha)) = alpha log(y_min / y)";
  static constexpr double outside = 0;
  template <class P, class Y, class M, class A>
  static auto term(const parts&, const P&, const Y& y, const M& y_min, const A& alpha) {
    using T = promoted_t<Y, M, A>;
    return either<T>(
        y == infinity, [] { return T(-infinity); }, [&] { return T(-alpha * detail::log_scaled(y, y_min)); });
  }

  using octets = detail::hazard_octets<detail::pareto_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<pareto_lccdf_rule> pareto_lccdf;

struct pareto_quantile : quantile_of<pareto_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& y_min, const T& alpha) {
    return y_min * exp(-detail::log_above(is_upper, p) / alpha);
  }
};
/// Returns the value up to which the probability is p: the inverse of pareto_cdf.
inline constexpr quantile_function<pareto_quantile> pareto_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<pareto_quantile, true> pareto_cqf;

using pareto_lbetween_rule = log_between<pareto_lpdf_rule, pareto_lcdf_rule, pareto_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<pareto_lbetween_rule> pareto_lbetween;

/// Draws Pareto numbers from y_min on with shape alpha.
template <class YMin, class Alpha, class URBG>
auto pareto_rng(const YMin& y_min, const Alpha& alpha, URBG& rng) {
  return detail::draws<pareto_lpdf_rule, double>(
      "pareto_rng",
      [&](detail::draw_place, double least, double a) { return least * std::exp(detail::draw_exponential(rng) / a); }, y_min,
      alpha);
}

namespace rules {
using pareto_family = family<typelist<pareto_lpdf_rule, pareto_cdf_rule, pareto_lcdf_rule, pareto_lccdf_rule>,
                             typelist<pareto_quantile>, typelist<pareto_lbetween_rule>>;
}

}  // namespace agrad
