// The exponential distribution.
//
// The model for a new family: rules with their functions, quantile, interval, draws, and at the end the lists of these.
#pragma once

#include <agrad/families/shared/hazard_octets.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/gamma/quotients.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {
/// What the functions of the exponential distribution have in common.
struct exponential_rule : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan}, {"beta", must_be::positive_finite, true}};
  template <class Y, class B>
  static auto in_support(const Y& y, const B&) {
    return y >= 0;
  }
};

struct exponential_hazard : octet_formulas<2> {
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0], 1e-50, 1e50) && within(x[1], 1e-50, 1e50);
  }
  template <class S>
  static S hazard(const std::array<S, 0>&, const each<S>& x, each<S>& slope) {
    slope[0] = x[1];
    slope[1] = x[0];
    return x[1] * x[0];
  }
};
}  // namespace detail

struct exponential_lpdf_rule : detail::exponential_rule {
  static constexpr std::string_view name = "exponential_lpdf", text = "Log density of y >= 0 with rate beta.",
                                    reference = "log(beta) - beta * y if y >= 0 else -inf",
                                    source = "log f(y; beta) = log beta - beta y";
  static constexpr std::string_view scipy = "expon: x - loc; 1 / scale";
  template <class Y, class B>
  static auto prepare(const parts& included, const Y&, const B& beta) {
    return included.of({1}) ? log(beta) : decltype(log(beta))(0.0);
  }
  template <class P, class Y, class B>
  static auto term(const parts&, const P& log_beta, const Y& y, const B& beta) {
    return log_beta - beta * y;
  }

  struct octets : octet_formulas<2> {
    template <class S>
    static std::array<S, 2> prepare(const parts& included, const each<S>& x) {
      return {exponential_lpdf_rule::prepare(included, x[0], x[1]), 1.0 / x[1]};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] >= 0.0 && within(x[0], -1.0, 1e50) && within(x[1], 1e-50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      slope[0] = -x[1];
      slope[1] = prepared[1] - x[0];
      return prepared[0] - x[1] * x[0];
    }
  };
};
/// Returns the sum of the exponential log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Beta>
auto exponential_lpdf(const Y& y, const Beta& beta) {
  return apply_probability<exponential_lpdf_rule, propto>(y, beta);
}

struct exponential_cdf_rule : detail::exponential_rule {
  static constexpr std::string_view name = "exponential_cdf", text = "Probability of a value up to y, with rate beta.",
                                    reference = "-expm1(-beta * y) if y >= 0 else 0", source = "F(y; beta) = 1 - exp(-beta y)";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class B>
  static auto term(const parts&, const P&, const Y& y, const B& beta) {
    return -expm1(-beta * y);
  }

  using octets = detail::hazard_rest_octets<detail::exponential_hazard>;
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<exponential_cdf_rule> exponential_cdf;

struct exponential_lcdf_rule : detail::exponential_rule {
  static constexpr std::string_view name = "exponential_lcdf", text = "Logarithm of exponential_cdf.",
                                    reference = "log(-expm1(-beta * y)) if y >= 0 else -inf",
                                    source = "log F(y; beta) = log(1 - exp(-beta y)), near 0 by log y";
  template <class P, class Y, class B>
  static auto term(const parts&, const P&, const Y& y, const B& beta) {
    using T = promoted_t<Y, B>;
    return either<T>(
        beta * y < 1, [&] { return T(log(beta) + log(y) + log(exprel(-beta * y))); }, [&] { return T(log1m_exp(-beta * y)); });
  }

  using octets = detail::hazard_complement_octets<detail::exponential_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<exponential_lcdf_rule> exponential_lcdf;

struct exponential_lccdf_rule : detail::exponential_rule {
  static constexpr std::string_view name = "exponential_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with rate beta.",
                                    reference = "-beta * y if y >= 0 else 0", source = "log(1 - F(y; beta)) = -beta y";
  static constexpr double outside = 0;
  template <class P, class Y, class B>
  static auto term(const parts&, const P&, const Y& y, const B& beta) {
    return -beta * y;
  }

  using octets = detail::hazard_octets<detail::exponential_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<exponential_lccdf_rule> exponential_lccdf;

struct exponential_quantile : quantile_of<exponential_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& beta) {
    return -detail::log_above(is_upper, p) / beta;
  }
};
/// Returns the value up to which the probability is p: the inverse of exponential_cdf.
inline constexpr quantile_function<exponential_quantile> exponential_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<exponential_quantile, true> exponential_cqf;

using exponential_lbetween_rule =
    log_between<exponential_lpdf_rule, exponential_lcdf_rule, exponential_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<exponential_lbetween_rule> exponential_lbetween;

/// Draws exponential numbers with rate beta.
template <class Beta, class URBG>
auto exponential_rng(const Beta& beta, URBG& rng) {
  return detail::draws<exponential_lpdf_rule, double>(
      "exponential_rng", [&](detail::draw_place, double b) { return detail::draw_exponential(rng) / b; }, beta);
}

namespace rules {
using exponential_family =
    family<typelist<exponential_lpdf_rule, exponential_cdf_rule, exponential_lcdf_rule, exponential_lccdf_rule>,
           typelist<exponential_quantile>, typelist<exponential_lbetween_rule>>;
}

}  // namespace agrad
