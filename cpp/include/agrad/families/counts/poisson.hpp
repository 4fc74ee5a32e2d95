// The Poisson distribution, by rate or log rate.
//
// A log mass is Loader's: minus the deviance of n from the rate, minus the rest of Stirling's formula for n!, so that large
// counts keep their digits. With `propto` nothing large cancels, and the plain formula is used.
#pragma once

#include <cmath>

#include <agrad/families/shared/count_octets.hpp>
#include <agrad/families/shared/count_tails.hpp>
#include <agrad/families/tails/count_deviance.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>
#include <agrad/rules/gamma/gammainc.hpp>
#include <agrad/rules/gamma/log_gammainc.hpp>

namespace agrad {

namespace detail {
inline constexpr std::string_view poisson_source =
    "Loader (2000), Fast and Accurate Computation of Binomial Probabilities: "
    "log f(n; lambda) = n log lambda - lambda - log n!";
}

struct poisson_lpmf_rule : probability_rule<2> {
  static constexpr std::string_view name = "poisson_lpmf", text = "Log mass of the count n with rate lambda.",
                                    reference = "(n * log(lambda_) if n != 0 else 0) - lambda_ - loggamma(n + 1)",
                                    source = detail::poisson_source;
  static constexpr std::string_view scipy = "poisson(mu): x - loc; mu";
  static constexpr density_argument arguments[] = {{"n", must_be::whole_nonnegative}, {"lambda_", must_be::nonnegative, true}};
  template <class N, class L>
  static auto in_support(const N&, const L& lambda) {
    return lambda < infinity;
  }
  template <class P, class N, class L>
  static auto term(const parts& included, const P&, const N& n, const L& lambda) {
    using T = promoted_t<N, L>;
    if (included.constants()) return T(-kl_div(n, lambda) - apply<detail::factorial_rest_rule>(n));
    return T(xlogy(n, lambda) - lambda);
  }

  struct octets : octet_formulas<2> {
    template <class S>
    static std::array<S, 2> prepare(const parts&, const each<S>& x) {
      return {log(x[1]), 1.0 / x[1]};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] < double{detail::small_count} && within(x[1], 1e-50, 1e6);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts& included, each<S>& slope) {
      slope[0] = 0.0;
      slope[1] = (x[0] - x[1]) * prepared[1];
      const S value = x[0] * prepared[0] - x[1];
      return included.constants() ? value - detail::log_factorial(x[0]) : value;
    }
  };
};
/// Returns the sum of the Poisson log masses of n; see normal_lpdf.
template <bool propto = false, class N, class Lambda>
auto poisson_lpmf(const N& n, const Lambda& lambda) {
  return apply_probability<poisson_lpmf_rule, propto>(n, lambda);
}

struct poisson_log_lpmf_rule : probability_rule<2> {
  static constexpr std::string_view name = "poisson_log_lpmf", text = "Log mass of the count n with log rate alpha.",
                                    reference = "n * alpha - exp(alpha) - loggamma(n + 1)",
                                    source = "log f(n; alpha) = n alpha - exp(alpha) - log n!";
  static constexpr density_argument arguments[] = {{"n", must_be::whole_nonnegative}, {"alpha", must_be::not_nan, true}};
  template <class N, class A>
  static auto in_support(const N& n, const A& alpha) {
    return (alpha > -infinity || n == 0) && alpha < infinity;
  }
  template <class P, class N, class A>
  static auto term(const parts& included, const P&, const N& n, const A& alpha) {
    using T = promoted_t<N, A>;
    if (included.constants())
      return T(-apply<detail::log_mean_deviance_rule>(n, alpha) - apply<detail::factorial_rest_rule>(n));
    return either<T>(
        n == 0, [&] { return T(-exp(alpha)); }, [&] { return T(n * alpha - exp(alpha)); });
  }

  struct octets : octet_formulas<2> {
    static constexpr bool fills_last = true;
    template <class S>
    static std::array<S, 1> prepare(const parts&, const each<S>& x) {
      return {exp(x[1])};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] < double{detail::small_count} && within(x[1], -300, 50);
    }
    template <class S>
    static S term(const std::array<S, 1>& prepared, const each<S>& x, const parts& included, each<S>& slope) {
      slope[0] = 0.0;
      slope[1] = x[0] - prepared[0];
      const S value = x[0] * x[1] - prepared[0];
      return included.constants() ? value - detail::log_factorial(x[0]) : value;
    }
  };
};
/// Returns the sum of the Poisson log masses of n, given log rates; see normal_lpdf.
template <bool propto = false, class N, class Alpha>
auto poisson_log_lpmf(const N& n, const Alpha& alpha) {
  return apply_probability<poisson_log_lpmf_rule, propto>(n, alpha);
}

namespace detail {
/// What the distribution functions have in common.
struct poisson_cdf_base : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"n", must_be::whole}, {"lambda_", must_be::nonnegative}};
  template <class N, class L>
  static auto in_support(const N& n, const L&) {
    return n >= 0;
  }
};
}  // namespace detail

struct poisson_cdf_rule : detail::poisson_cdf_base {
  static constexpr std::string_view name = "poisson_cdf", text = "Probability of a count up to n, with rate lambda.",
                                    reference = "upper_gamma(n + 1, lambda_) if n >= 0 else 0",
                                    source = "F(n; lambda) = Q(n + 1, lambda), DLMF 8.4.10";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class N, class L>
  static auto term(const parts&, const P&, const N& n, const L& lambda) {
    return gammaincc(n + 1.0, lambda);
  }
};
/// Returns the product of the probabilities of counts up to n; see normal_cdf.
inline constexpr probability_function<poisson_cdf_rule> poisson_cdf;

struct poisson_lcdf_rule : detail::poisson_cdf_base {
  static constexpr std::string_view name = "poisson_lcdf", text = "Logarithm of poisson_cdf.",
                                    reference = "log(upper_gamma(n + 1, lambda_)) if n >= 0 else -inf",
                                    source = "log F(n; lambda) = log Q(n + 1, lambda)";
  template <class P, class N, class L>
  static auto term(const parts&, const P&, const N& n, const L& lambda) {
    return log_gammaincc(n + 1.0, lambda);
  }

  using octets = detail::poisson_tail_octets<false>;
};
/// Returns the sum of the logarithms of the probabilities of counts up to n.
inline constexpr probability_function<poisson_lcdf_rule> poisson_lcdf;

struct poisson_lccdf_rule : detail::poisson_cdf_base {
  static constexpr std::string_view name = "poisson_lccdf",
                                    text = "Logarithm of the probability of a count beyond n, with rate lambda.",
                                    reference = "log(lower_gamma(n + 1, lambda_)) if n >= 0 else 0",
                                    source = "log(1 - F(n; lambda)) = log P(n + 1, lambda)";
  static constexpr double outside = 0;
  template <class P, class N, class L>
  static auto term(const parts&, const P&, const N& n, const L& lambda) {
    return log_gammainc(n + 1.0, lambda);
  }

  using octets = detail::poisson_tail_octets<true>;
};
/// Returns the sum of the logarithms of the probabilities of counts beyond n.
inline constexpr probability_function<poisson_lccdf_rule> poisson_lccdf;

using poisson_lbetween_rule = log_between_counts<poisson_lpmf_rule, poisson_lcdf_rule, poisson_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<poisson_lbetween_rule> poisson_lbetween;

namespace detail {
/// The parameters of Poisson draws, whose rates are bounded.
struct poisson_draw {
  static constexpr density_argument arguments[] = {{"n", must_be::whole_nonnegative}, {"lambda_", must_be::countable_rate}};
};
struct poisson_log_draw {
  static constexpr density_argument arguments[] = {{"n", must_be::whole_nonnegative}, {"alpha", must_be::countable_log_rate}};
};
}  // namespace detail

/// Draws Poisson counts with rate lambda, at most 2^52.
template <class Lambda, class URBG>
auto poisson_rng(const Lambda& lambda_, URBG& rng) {
  return detail::draws<detail::poisson_draw, count_t>(
      "poisson_rng", [&](detail::draw_place place, double l) { return detail::draw_poisson("poisson_rng", l, place, rng); },
      lambda_);
}

/// Draws Poisson counts with log rate alpha, at most log(2^52).
template <class Alpha, class URBG>
auto poisson_log_rng(const Alpha& alpha, URBG& rng) {
  return detail::draws<detail::poisson_log_draw, count_t>(
      "poisson_log_rng",
      [&](detail::draw_place place, double a) { return detail::draw_poisson("poisson_log_rng", std::exp(a), place, rng); },
      alpha);
}

namespace rules {
using poisson_family =
    family<typelist<poisson_lpmf_rule, poisson_log_lpmf_rule, poisson_cdf_rule, poisson_lcdf_rule, poisson_lccdf_rule>,
           typelist<>, typelist<poisson_lbetween_rule>>;
}

}  // namespace agrad
