// The Bernoulli distribution, by probability or log odds.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {
/// What the distribution functions have in common; n is any whole number.
struct bernoulli_below_rule : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"n", must_be::whole}, {"theta", must_be::probability, true}};
};
}  // namespace detail

struct bernoulli_lpmf_rule : probability_rule<2> {
  static constexpr std::string_view name = "bernoulli_lpmf", text = "Log mass of n = 0 or 1 with probability theta of 1.",
                                    reference = "log(theta) if n == 1 else log1p(-theta)",
                                    source = "log f(n; theta) = n log theta + (1 - n) log(1 - theta)";
  static constexpr std::string_view scipy = "bernoulli(p): x - loc; p";
  static constexpr density_argument arguments[] = {{"n", must_be::zero_or_one}, {"theta", must_be::probability, true}};
  template <class P, class N, class A>
  static auto term(const parts&, const P&, const N& n, const A& theta) {
    using T = promoted_t<N, A>;
    return either<T>(
        n == 1, [&] { return T(log(theta)); }, [&] { return T(log1m(theta)); });
  }

  struct octets : octet_formulas<2> {
    template <class S>
    static std::array<S, 4> prepare(const parts&, const each<S>& x) {
      return {log(x[1]), log1m(x[1]), 1.0 / x[1], -1.0 / (1.0 - x[1])};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[1], 1e-100, 1.0);
    }
    static octet term(const std::array<octet, 4>& prepared, const each<>& x, const parts&, each<>& slope) {
      slope[0] = 0.0;
      slope[1] = chosen(x[0] == 1.0, prepared[2], prepared[3]);
      return chosen(x[0] == 1.0, prepared[0], prepared[1]);
    }
    /// Takes one of the two logarithms.
    static double one(const each<double>& x, const parts&, each<double>& slope) {
      slope = {0.0, x[0] == 1 ? 1 / x[1] : -1 / (1 - x[1])};
      return x[0] == 1 ? std::log(x[1]) : std::log1p(-x[1]);
    }
  };
};
/// Returns the sum of the Bernoulli log masses of n; see normal_lpdf.
template <bool propto = false, class N, class Theta>
auto bernoulli_lpmf(const N& n, const Theta& theta) {
  return apply_probability<bernoulli_lpmf_rule, propto>(n, theta);
}

struct bernoulli_logit_lpmf_rule : probability_rule<2> {
  static constexpr std::string_view name = "bernoulli_logit_lpmf", text = "Log mass of n = 0 or 1 with log odds alpha of 1.",
                                    reference = "-log1p(exp(-alpha)) if n == 1 else -log1p(exp(alpha))",
                                    source = "log f(n; alpha) = -log(1 + exp((1 - 2 n) alpha))";
  static constexpr density_argument arguments[] = {{"n", must_be::zero_or_one}, {"alpha", must_be::not_nan, true}};
  template <class P, class N, class A>
  static auto term(const parts&, const P&, const N& n, const A& alpha) {
    using T = promoted_t<N, A>;
    return either<T>(
        n == 1, [&] { return T(log_inv_logit(alpha)); }, [&] { return T(log_inv_logit(-alpha)); });
  }

  struct octets : octet_formulas<2> {
    template <class S>
    static std::array<S, 4> prepare(const parts&, const each<S>& x) {
      using detail::chosen;
      const S& odds = x[1];
      const S smaller = exp(-abs(odds)), of_both = log1p(smaller), inverse = 1.0 / (1.0 + smaller);
      const auto is_positive = odds > 0.0;
      return {chosen(is_positive, 0.0, odds) - of_both, chosen(is_positive, -odds, 0.0) - of_both,
              chosen(is_positive, smaller, 1.0) * inverse, -chosen(is_positive, 1.0, smaller) * inverse};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[1], -700, 700);
    }
    template <class S>
    static S term(const std::array<S, 4>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      slope[0] = 0.0;
      slope[1] = chosen(x[0] == 1.0, prepared[2], prepared[3]);
      return chosen(x[0] == 1.0, prepared[0], prepared[1]);
    }
  };
};
/// Returns the sum of the Bernoulli log masses of n, given log odds; see normal_lpdf.
template <bool propto = false, class N, class Alpha>
auto bernoulli_logit_lpmf(const N& n, const Alpha& alpha) {
  return apply_probability<bernoulli_logit_lpmf_rule, propto>(n, alpha);
}

struct bernoulli_cdf_rule : detail::bernoulli_below_rule {
  static constexpr std::string_view name = "bernoulli_cdf",
                                    text = "Probability of a value up to n, with probability theta of 1.",
                                    reference = "0 if n < 0 else 1 - theta if n < 1 else 1",
                                    source = "F(0; theta) = 1 - theta, F(1; theta) = 1";
  static constexpr bool is_product = true;
  template <class P, class N, class A>
  static auto term(const parts&, const P&, const N& n, const A& theta) {
    using T = promoted_t<N, A>;
    return either<T>(
        n < 0, [&] { return T(0.0); }, n < 1, [&] { return T(1.0 - theta); }, [&] { return T(1.0); });
  }
};
/// Returns the product of the probabilities of values up to n; see normal_cdf.
inline constexpr probability_function<bernoulli_cdf_rule> bernoulli_cdf;

struct bernoulli_lcdf_rule : detail::bernoulli_below_rule {
  static constexpr std::string_view name = "bernoulli_lcdf", text = "Logarithm of bernoulli_cdf.",
                                    reference = "-inf if n < 0 else log1p(-theta) if n < 1 else 0",
                                    source = "log F(0; theta) = log(1 - theta), log F(1; theta) = 0";
  template <class P, class N, class A>
  static auto term(const parts&, const P&, const N& n, const A& theta) {
    using T = promoted_t<N, A>;
    return either<T>(
        n < 0, [&] { return T(-infinity); }, n < 1, [&] { return T(log1m(theta)); }, [&] { return T(0.0); });
  }

  struct octets : octet_formulas<2> {
    template <class S>
    static std::array<S, 2> prepare(const parts&, const each<S>& x) {
      return {log1m(x[1]), -1.0 / (1.0 - x[1])};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] >= 0.0 && within(x[1], 1e-100, 1.0);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      slope[0] = 0.0;
      slope[1] = chosen(x[0] < 1.0, prepared[1], 0.0);
      return chosen(x[0] < 1.0, prepared[0], 0.0);
    }
  };
};
/// Returns the sum of the logarithms of the probabilities of values up to n.
inline constexpr probability_function<bernoulli_lcdf_rule> bernoulli_lcdf;

struct bernoulli_lccdf_rule : detail::bernoulli_below_rule {
  static constexpr std::string_view name = "bernoulli_lccdf",
                                    text = "Logarithm of the probability of a value beyond n, with probability theta of 1.",
                                    reference = "0 if n < 0 else log(theta) if n < 1 else -inf",
                                    source = "log(1 - F(0; theta)) = log theta";
  template <class P, class N, class A>
  static auto term(const parts&, const P&, const N& n, const A& theta) {
    using T = promoted_t<N, A>;
    return either<T>(
        n < 0, [&] { return T(0.0); }, n < 1, [&] { return T(log(theta)); }, [&] { return T(-infinity); });
  }

  struct octets : octet_formulas<2> {
    template <class S>
    static std::array<S, 2> prepare(const parts&, const each<S>& x) {
      return {log(x[1]), 1.0 / x[1]};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[1], 1e-100, 1.0);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S none = 0.0;
      const auto is_zero = x[0] >= 0.0 && x[0] < 1.0;
      slope[0] = 0.0;
      slope[1] = chosen(is_zero, prepared[1], 0.0);
      return chosen(is_zero, prepared[0], chosen(x[0] < 1.0, none, -infinity));
    }
    /// Takes the logarithm only where it counts.
    static double one(const each<double>& x, const parts&, each<double>& slope) {
      const bool is_zero = x[0] >= 0 && x[0] < 1;
      slope = {0.0, is_zero ? 1 / x[1] : 0.0};
      return is_zero ? std::log(x[1]) : x[0] < 1 ? 0 : -infinity;
    }
  };
};
/// Returns the sum of the logarithms of the probabilities of values beyond n.
inline constexpr probability_function<bernoulli_lccdf_rule> bernoulli_lccdf;

using bernoulli_lbetween_rule = log_between_counts<bernoulli_lpmf_rule, bernoulli_lcdf_rule, bernoulli_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<bernoulli_lbetween_rule> bernoulli_lbetween;

/// Draws outcomes that are 1 with probability theta, else 0.
template <class Theta, class URBG>
auto bernoulli_rng(const Theta& theta, URBG& rng) {
  return detail::draws<bernoulli_lpmf_rule, count_t>(
      "bernoulli_rng", [&](detail::draw_place, double t) { return open_unit_rng(rng) < t; }, theta);
}

/// Draws outcomes that are 1 with log odds alpha, else 0.
template <class Alpha, class URBG>
auto bernoulli_logit_rng(const Alpha& alpha, URBG& rng) {
  return detail::draws<bernoulli_logit_lpmf_rule, count_t>(
      "bernoulli_logit_rng", [&](detail::draw_place, double a) { return detail::draw_logistic(rng) < a; }, alpha);
}

namespace rules {
using bernoulli_family = family<
    typelist<bernoulli_lpmf_rule, bernoulli_logit_lpmf_rule, bernoulli_cdf_rule, bernoulli_lcdf_rule, bernoulli_lccdf_rule>,
    typelist<>, typelist<bernoulli_lbetween_rule>>;
}

}  // namespace agrad
