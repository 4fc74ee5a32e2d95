// The Yule-Simon distribution of whole numbers n >= 1.
//
// All functions are ratios of rising factorials, of 1 and of alpha + 1, whose logarithm is a rule with every digit.
#pragma once

#include <cmath>

#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/power.hpp>

namespace agrad {

namespace detail {

/// What the functions have in common; n is any whole number.
struct yule_simon_rule : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"n", must_be::whole}, {"alpha", must_be::positive_finite}};
  template <class N, class A>
  static auto in_support(const N& n, const A&) {
    return n >= 1;
  }
};

/// Returns the log probability of a value beyond n >= 0.
template <class N, class A>
auto yule_simon_beyond(const N& n, const A& alpha) {
  return apply<log_rising_ratio_rule>(1.0, alpha, n);
}

}  // namespace detail

struct yule_simon_lpmf_rule : detail::yule_simon_rule {
  static constexpr std::string_view name = "yule_simon_lpmf", text = "Log mass of the count n >= 1 with shape alpha.",
                                    reference =
                                        "log(alpha) + loggamma(n) + loggamma(alpha + 1) - loggamma(n + alpha + 1) if n >= 1"
                                        " else -inf",
                                    source = "log f(n; alpha) = log alpha + log B(n, alpha + 1)";
  static constexpr std::string_view scipy = "yulesimon(alpha): x - loc; alpha";
  template <class P, class N, class A>
  static auto term(const parts&, const P&, const N& n, const A& alpha) {
    return apply<detail::log_rising_ratio_rule>(1.0, alpha + 1.0, n - 1.0) - log1p(inv(alpha));
  }
};
/// Returns the sum of the Yule-Simon log masses of n; see normal_lpdf.
template <bool propto = false, class N, class Alpha>
auto yule_simon_lpmf(const N& n, const Alpha& alpha) {
  return apply_probability<yule_simon_lpmf_rule, propto>(n, alpha);
}

struct yule_simon_cdf_rule : detail::yule_simon_rule {
  static constexpr std::string_view name = "yule_simon_cdf", text = "Probability of a count up to n, with shape alpha.",
                                    reference =
                                        "1 - exp(loggamma(n + 1) + loggamma(alpha + 1) - loggamma(n + alpha + 1)) if n >= 1"
                                        " else 0",
                                    source = "F(n; alpha) = 1 - n B(n, alpha + 1)";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class N, class A>
  static auto term(const parts&, const P&, const N& n, const A& alpha) {
    return -expm1(detail::yule_simon_beyond(n, alpha));
  }
};
/// Returns the product of the probabilities of counts up to n; see normal_cdf.
inline constexpr probability_function<yule_simon_cdf_rule> yule_simon_cdf;

struct yule_simon_lcdf_rule : detail::yule_simon_rule {
  static constexpr std::string_view name = "yule_simon_lcdf", text = "Logarithm of yule_simon_cdf.",
                                    reference =
                                        "log1p(-exp(loggamma(n + 1) + loggamma(alpha + 1) - loggamma(n + alpha + 1))) if n >= 1"
                                        " else -inf",
                                    source = "log F(n; alpha) = log(1 - n B(n, alpha + 1))";
  template <class P, class N, class A>
  static auto term(const parts&, const P&, const N& n, const A& alpha) {
    return log1m_exp(detail::yule_simon_beyond(n, alpha));
  }
};
/// Returns the sum of the logarithms of the probabilities of counts up to n.
inline constexpr probability_function<yule_simon_lcdf_rule> yule_simon_lcdf;

struct yule_simon_lccdf_rule : detail::yule_simon_rule {
  static constexpr std::string_view name = "yule_simon_lccdf",
                                    text = "Logarithm of the probability of a count beyond n, with shape alpha.",
                                    reference =
                                        "loggamma(n + 1) + loggamma(alpha + 1) - loggamma(n + alpha + 1) if n >= 1 else 0",
                                    source = "log(1 - F(n; alpha)) = log n + log B(n, alpha + 1)";
  static constexpr double outside = 0;
  template <class P, class N, class A>
  static auto term(const parts&, const P&, const N& n, const A& alpha) {
    return detail::yule_simon_beyond(n, alpha);
  }
};
/// Returns the sum of the logarithms of the probabilities of counts beyond n.
inline constexpr probability_function<yule_simon_lccdf_rule> yule_simon_lccdf;

using yule_simon_lbetween_rule = log_between_counts<yule_simon_lpmf_rule, yule_simon_lcdf_rule, yule_simon_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<yule_simon_lbetween_rule> yule_simon_lbetween;

/// Draws Yule-Simon counts, from 1 on, with shape alpha: geometric counts, minus whose log probability is exponential. Throws
/// DomainError where a count is beyond 2^53, which is frequent for small alpha.
template <class Alpha, class URBG>
auto yule_simon_rng(const Alpha& alpha, URBG& rng) {
  return detail::draws<yule_simon_lpmf_rule, count_t>(
      "yule_simon_rng",
      [&](detail::draw_place place, double a) {
        const double log_success = -detail::draw_exponential(rng) / a, log_failure = log1m_exp(log_success);
        const double n = 1 + std::floor(-detail::draw_exponential(rng) / log_failure);
        if (!must_be::countable.holds(n)) detail::fail_draw("yule_simon_rng", "a draw", n, must_be::countable.name, place);
        return n;
      },
      alpha);
}

namespace rules {
using yule_simon_family =
    family<typelist<yule_simon_lpmf_rule, yule_simon_cdf_rule, yule_simon_lcdf_rule, yule_simon_lccdf_rule>, typelist<>,
           typelist<yule_simon_lbetween_rule>>;
}

}  // namespace agrad
