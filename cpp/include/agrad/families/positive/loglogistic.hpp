// The log-logistic distribution.
#pragma once

#include <cmath>

#include <agrad/families/shared/powers.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/hyperbolic.hpp>

namespace agrad {

namespace detail {
/// What the functions of the log-logistic distribution have in common.
struct loglogistic_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"alpha", must_be::positive_finite, true}, {"beta", must_be::positive_finite, true}};
  template <class Y, class A, class B>
  static auto in_support(const Y& y, const A&, const B&) {
    return y > 0;
  }
};
}  // namespace detail

struct loglogistic_lpdf_rule : detail::loglogistic_rule {
  static constexpr std::string_view name = "loglogistic_lpdf", text = "Log density of y > 0 with scale alpha and shape beta.",
                                    reference =
                                        "log(beta / alpha) + (beta - 1) * log(y / alpha) - 2 * log1p((y / alpha) ** beta)"
                                        " if 0 < y < inf else inf if y == 0 and beta < 1 else"
                                        " -log(alpha) if y == 0 and beta == 1 else -inf",
                                    source =
                                        "log f(y; alpha, beta) = log(beta / alpha) + (beta - 1) log(y / alpha)"
                                        " - 2 log(1 + (y / alpha)^beta)";
  static constexpr std::string_view scipy = "fisk(c): x - loc; scale, c";
  template <class Y, class A, class B>
  static auto in_support(const Y& y, const A&, const B&) {
    return y >= 0 && y < infinity;
  }
  template <class P, class Y, class A, class B>
  static auto term(const parts& included, const P&, const Y& y, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    // At 0, and below the scale if the shape may be near 1, powers of y are written out; elsewhere the density of log(y) is
    // symmetric in z, and is written so near z = 0, where the slope is small.
    const T log_y = detail::log_scaled(y, alpha), z = beta * log_y;
    const auto at_zero = [&] { return T(xlogy(beta - 1.0, y) - 2.0 * log1p(pow(y / alpha, beta)) - beta * log(alpha)); };
    const auto below = [&] {
      const T ratio = y / alpha;
      const T log_rest = either<T>(
          detail::is_plain_power(ratio, beta, z), [&] { return T(log1p(pow(ratio, beta))); }, [&] { return T(log1p_exp(z)); });
      return T((beta - 1.0) * log_y - 2.0 * log_rest - log(alpha));
    };
    const auto central = [&] { return T(-2.0 * detail::log_2 - 2.0 * log(cosh(0.5 * z)) - log(y)); };
    const auto in_tails = [&] { return T(log_inv_logit(z) + log_inv_logit(-z) - log(y)); };
    T sum = either<T>(y == 0, at_zero, beta > 0.5 && z < -1, below, abs(z) < 1, central, in_tails);
    if (included.of({2})) sum += log(beta);
    return sum;
  }

  struct octets : octet_formulas<3> {
    template <class S>
    static std::array<S, 3> prepare(const parts& included, const each<S>& x) {
      const S of_shape = included.of({2}) ? S(log(x[2])) : S(0.0);
      return {1.0 / x[1], of_shape - log(x[1]), 1.0 / x[2]};
    }
    /// For larger beta log(y / alpha) the rounding error of this product would count in the derivatives.
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0], 1e-4 * x[1], 1e4 * x[1]) && within(x[1], 1e-50, 1e50) && within(x[2], 1e-3, 10);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S log_y = log(x[0] * prepared[0]), z = x[2] * log_y, size = abs(z), decay = exp(-size), less = x[2] - 1.0;
      const S far = 1.0 / (1.0 + decay), twice_share = 2.0 * far * chosen(z > 0.0, 1.0, decay);
      slope[0] = (less - x[2] * twice_share) / x[0];
      slope[1] = x[2] * (twice_share - 1.0) * prepared[0];
      slope[2] = prepared[2] + log_y * (1.0 - twice_share);
      return prepared[1] + less * log_y - z - size - 2.0 * log1p(decay);
    }
  };
};
/// Returns the sum of the log-logistic log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Alpha, class Beta>
auto loglogistic_lpdf(const Y& y, const Alpha& alpha, const Beta& beta) {
  return apply_probability<loglogistic_lpdf_rule, propto>(y, alpha, beta);
}

struct loglogistic_cdf_rule : detail::loglogistic_rule {
  static constexpr std::string_view name = "loglogistic_cdf",
                                    text = "Probability of a value up to y, with scale alpha and shape beta.",
                                    reference = "1 / (1 + (y / alpha) ** -beta) if y > 0 else 0",
                                    source = "F(y; alpha, beta) = 1 / (1 + (y / alpha)^-beta)";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    const T z = beta * detail::log_scaled(y, alpha), ratio = y / alpha;
    const auto small = [&] {
      const T power = pow(ratio, beta);
      return T(power / (1.0 + power));
    };
    return either<T>(  // the hyperbolic tangent has a second derivative without cancellation near 0
        y == infinity, [] { return T(1.0); }, abs(z) < 1, [&] { return T(0.5 + 0.5 * tanh(0.5 * z)); },
        detail::is_plain_power(ratio, beta, z), small,  //
        detail::is_plain_power(T(alpha / y), beta, T(-z)), [&] { return T(1.0 / (1.0 + pow(alpha / y, beta))); },
        [&] { return T(inv_logit(z)); });
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<loglogistic_cdf_rule> loglogistic_cdf;

struct loglogistic_lcdf_rule : detail::loglogistic_rule {
  static constexpr std::string_view name = "loglogistic_lcdf", text = "Logarithm of loglogistic_cdf.",
                                    reference = "-log1p((y / alpha) ** -beta) if y > 0 else -inf",
                                    source = "log F(y; alpha, beta) = -log(1 + (y / alpha)^-beta)";
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    const T z = beta * detail::log_scaled(y, alpha), ratio = alpha / y;
    return either<T>(
        y == infinity, [] { return T(0.0); },  //
        detail::is_plain_power(ratio, beta, T(-z)), [&] { return T(-log1p(pow(ratio, beta))); },
        [&] { return T(log_inv_logit(z)); });
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<loglogistic_lcdf_rule> loglogistic_lcdf;

struct loglogistic_lccdf_rule : detail::loglogistic_rule {
  static constexpr std::string_view name = "loglogistic_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with scale alpha and shape beta.",
                                    reference = "-log1p((y / alpha) ** beta) if y > 0 else 0",
                                    source = "log(1 - F(y; alpha, beta)) = -log(1 + (y / alpha)^beta)";
  static constexpr double outside = 0;
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    const T z = beta * detail::log_scaled(y, alpha), ratio = y / alpha;
    return either<T>(
        y == infinity, [] { return T(-infinity); },  //
        detail::is_plain_power(ratio, beta, z), [&] { return T(-log1p(pow(ratio, beta))); },
        [&] { return T(log_inv_logit(-z)); });
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<loglogistic_lccdf_rule> loglogistic_lccdf;

struct loglogistic_quantile : quantile_of<loglogistic_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& beta) {
    // As powers of the odds that are less than 1, neither do derivatives by a tiny p overflow nor those near 1 cancel.
    const T power = is_upper ? T(-1.0 / beta) : T(1.0 / beta);
    return alpha * either<T>(
                       p > 0 && p < 0.5, [&] { return T(pow(p / (1.0 - p), power)); },    //
                       p >= 0.5 && p < 1, [&] { return T(pow((1.0 - p) / p, -power)); },  //
                       [&] { return T(exp(detail::log_odds_below(is_upper, p) / beta)); });
  }
};
/// Returns the value up to which the probability is p: the inverse of loglogistic_cdf.
inline constexpr quantile_function<loglogistic_quantile> loglogistic_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<loglogistic_quantile, true> loglogistic_cqf;

using loglogistic_lbetween_rule =
    log_between<loglogistic_lpdf_rule, loglogistic_lcdf_rule, loglogistic_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<loglogistic_lbetween_rule> loglogistic_lbetween;

/// Draws log-logistic numbers with scale alpha and shape beta.
template <class Alpha, class Beta, class URBG>
auto loglogistic_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<loglogistic_lpdf_rule, double>(
      "loglogistic_rng",
      [&](detail::draw_place, double a, double b) { return std::exp(std::log(a) + detail::draw_logistic(rng) / b); }, alpha,
      beta);
}

namespace rules {
using loglogistic_family =
    family<typelist<loglogistic_lpdf_rule, loglogistic_cdf_rule, loglogistic_lcdf_rule, loglogistic_lccdf_rule>,
           typelist<loglogistic_quantile>, typelist<loglogistic_lbetween_rule>>;
}

}  // namespace agrad
