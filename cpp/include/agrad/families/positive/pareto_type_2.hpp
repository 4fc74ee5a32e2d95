// The Pareto distribution of type 2, also called the Lomax distribution.
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
/// What the functions of the Pareto distribution of type 2 have in common.
struct pareto_type_2_rule : probability_rule<4> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan},
                                                   {"mu", must_be::finite},
                                                   {"lambda_", must_be::positive_finite, true},
                                                   {"alpha", must_be::positive_finite, true}};
  template <class Y, class M, class L, class A>
  static auto in_support(const Y& y, const M& mu, const L&, const A&) {
    return y >= mu;
  }
  /// Returns log(1 + distance / lambda). For large distances the logarithm of a sum has mixed derivatives without cancellation.
  template <class D, class L>
  static auto log_power(const D& distance, const L& lambda) {
    using T = promoted_t<D, L>;
    return either<T>(
        distance < lambda, [&] { return T(log1p(distance / lambda)); },
        [&] { return T(log_scaled(distance + lambda, lambda)); });
  }
};

struct pareto_type_2_hazard : octet_formulas<4> {
  template <class S>
  static std::array<S, 1> prepare(const parts&, const each<S>& x) {
    return {1.0 / x[2]};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0] - x[1], 1e-50, 1e50) && within(x[2], 1e-50, 1e50) && within(x[3], 1e-50, 1e50);
  }
  template <class S>
  static S hazard(const std::array<S, 1>& prepared, const each<S>& x, each<S>& slope) {
    const S distance = x[0] - x[1], scaled = distance * prepared[0];
    slope[0] = x[3] / (distance + x[2]);
    slope[1] = -slope[0];
    slope[2] = -scaled * slope[0];
    slope[3] = log1p(scaled);
    return x[3] * slope[3];
  }
};
}  // namespace detail

struct pareto_type_2_lpdf_rule : detail::pareto_type_2_rule {
  static constexpr std::string_view name = "pareto_type_2_lpdf",
                                    text = "Log density of y >= mu with scale lambda and shape alpha.",
                                    reference =
                                        "log(alpha / lambda_) - (alpha + 1) * log1p((y - mu) / lambda_) if mu <= y < inf else"
                                        " -inf",
                                    source =
                                        "log f(y; mu, lambda, alpha) = log(alpha / lambda)"
                                        " - (alpha + 1) log(1 + (y - mu) / lambda)";
  static constexpr std::string_view scipy = "lomax(c): x; loc, scale, c";
  template <class Y, class M, class L, class A>
  static auto in_support(const Y& y, const M& mu, const L&, const A&) {
    return y >= mu && y < infinity;
  }
  template <class P, class Y, class M, class L, class A>
  static auto term(const parts& included, const P&, const Y& y, const M& mu, const L& lambda, const A& alpha) {
    const promoted_t<Y, M> distance = y - mu;
    promoted_t<Y, M, L, A> sum = -alpha * log_power(distance, lambda);
    if (included.of({0, 1, 2})) sum -= log(distance + lambda);
    if (included.of({3})) sum += log(alpha);
    return sum;
  }

  struct octets : octet_formulas<4> {
    template <class S>
    static std::array<S, 4> prepare(const parts& included, const each<S>& x) {
      return {1.0 / x[2], 1.0 / x[3], included.of({3}) ? S(log(x[3])) : S(0.0), log(x[2])};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] >= x[1] && within(x[0] - x[1], -1.0, 1e50) && within(x[2], 1e-50, 1e50) && within(x[3], 1e-50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 4>& prepared, const each<S>& x, const parts& included, each<S>& slope) {
      const S distance = x[0] - x[1], inverse = 1.0 / (distance + x[2]), power = log1p(distance * prepared[0]);
      slope[1] = (x[3] + 1.0) * inverse;
      slope[0] = -slope[1];
      slope[2] = (x[3] * (distance * prepared[0]) - 1.0) * inverse;
      slope[3] = prepared[1] - power;
      const S value = prepared[2] - x[3] * power;
      return included.of({0, 1, 2}) ? value - (power + prepared[3]) : value;
    }
  };
};
/// Returns the sum of the log densities of y of the Pareto distribution of type 2; see normal_lpdf.
template <bool propto = false, class Y, class Mu, class Lambda, class Alpha>
auto pareto_type_2_lpdf(const Y& y, const Mu& mu, const Lambda& lambda, const Alpha& alpha) {
  return apply_probability<pareto_type_2_lpdf_rule, propto>(y, mu, lambda, alpha);
}

struct pareto_type_2_cdf_rule : detail::pareto_type_2_rule {
  static constexpr std::string_view name = "pareto_type_2_cdf",
                                    text = "Probability of a value up to y, at least mu, with scale lambda and shape alpha.",
                                    reference = "-expm1(-alpha * log1p((y - mu) / lambda_)) if y > mu else 0",
                                    source = "F(y; mu, lambda, alpha) = 1 - (1 + (y - mu) / lambda)^-alpha";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class M, class L, class A>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const L& lambda, const A& alpha) {
    using T = promoted_t<Y, M, L, A>;
    const promoted_t<Y, M> distance = y - mu;
    const T power = alpha * log_power(distance, lambda), ratio = lambda / (lambda + distance);
    return either<T>(
        y == infinity, [] { return T(1.0); },  //
        detail::is_plain_power(ratio, alpha, T(-power)), [&] { return T(1.0 - pow(ratio, alpha)); },
        [&] { return T(-expm1(-power)); });
  }

  using octets = detail::hazard_rest_octets<detail::pareto_type_2_hazard>;
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<pareto_type_2_cdf_rule> pareto_type_2_cdf;

struct pareto_type_2_lcdf_rule : detail::pareto_type_2_rule {
  static constexpr std::string_view name = "pareto_type_2_lcdf", text = "Logarithm of pareto_type_2_cdf.",
                                    reference = "log(-expm1(-alpha * log1p((y - mu) / lambda_))) if y > mu else -inf",
                                    source = "log F(y; mu, lambda, alpha) = log(1 - (1 + (y - mu) / lambda)^-alpha)";
  template <class Y, class M, class L, class A>
  static auto in_support(const Y& y, const M& mu, const L&, const A&) {
    return y > mu;
  }
  template <class P, class Y, class M, class L, class A>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const L& lambda, const A& alpha) {
    using T = promoted_t<Y, M, L, A>;
    const promoted_t<Y, M> distance = y - mu;
    const T power = log_power(distance, lambda);
    // exprel(log(1 + t)) is t / log(1 + t): the logarithm of t is a sum of logarithms of distance and lambda.
    const T log_power = either<T>(
        distance < lambda, [&] { return T(log(distance) - log(lambda) - log(exprel(power))); }, [&] { return T(log(power)); });
    const T ratio = lambda / (lambda + distance);
    return either<T>(
        y == infinity, [] { return T(0.0); },  //
        detail::is_plain_power(ratio, alpha, T(-alpha * power)), [&] { return T(log1m(pow(ratio, alpha))); },
        [&] { return detail::log1m_exp_product<T>(alpha, power, log_power); });
  }

  using octets = detail::hazard_complement_octets<detail::pareto_type_2_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<pareto_type_2_lcdf_rule> pareto_type_2_lcdf;

struct pareto_type_2_lccdf_rule : detail::pareto_type_2_rule {
  static constexpr std::string_view
      name = "pareto_type_2_lccdf",
      text = "Logarithm of the probability of a value beyond y, at least mu, with scale lambda and shape alpha.",
      reference = "-alpha * log1p((y - mu) / lambda_) if y > mu else 0",
      source = "log(1 - F(y; mu, lambda, alpha)) = -alpha log(1 + (y - mu) / lambda)";
  static constexpr double outside = 0;
  template <class P, class Y, class M, class L, class A>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const L& lambda, const A& alpha) {
    using T = promoted_t<Y, M, L, A>;
    const promoted_t<Y, M> distance = y - mu;
    return either<T>(
        y == infinity, [] { return T(-infinity); }, [&] { return T(-alpha * log_power(distance, lambda)); });
  }

  using octets = detail::hazard_octets<detail::pareto_type_2_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<pareto_type_2_lccdf_rule> pareto_type_2_lccdf;

struct pareto_type_2_quantile : quantile_of<pareto_type_2_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& lambda, const T& alpha) {
    return mu + lambda * expm1(-detail::log_above(is_upper, p) / alpha);
  }
};
/// Returns the value up to which the probability is p: the inverse of pareto_type_2_cdf.
inline constexpr quantile_function<pareto_type_2_quantile> pareto_type_2_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<pareto_type_2_quantile, true> pareto_type_2_cqf;

using pareto_type_2_lbetween_rule = log_between<pareto_type_2_lpdf_rule, pareto_type_2_lcdf_rule, pareto_type_2_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<pareto_type_2_lbetween_rule> pareto_type_2_lbetween;

/// Draws Pareto numbers of the second type (Lomax) from mu on with scale lambda and shape alpha.
template <class Mu, class Lambda, class Alpha, class URBG>
auto pareto_type_2_rng(const Mu& mu, const Lambda& lambda_, const Alpha& alpha, URBG& rng) {
  return detail::draws<pareto_type_2_lpdf_rule, double>(
      "pareto_type_2_rng",
      [&](detail::draw_place, double m, double l, double a) { return m + l * std::expm1(detail::draw_exponential(rng) / a); },
      mu, lambda_, alpha);
}

namespace rules {
using pareto_type_2_family =
    family<typelist<pareto_type_2_lpdf_rule, pareto_type_2_cdf_rule, pareto_type_2_lcdf_rule, pareto_type_2_lccdf_rule>,
           typelist<pareto_type_2_quantile>, typelist<pareto_type_2_lbetween_rule>>;
}

}  // namespace agrad
