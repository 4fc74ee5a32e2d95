// The binomial distribution, by probability or log odds.
//
// A log mass is Loader's: minus the deviances of n and N - n from their means, and the rests of Stirling's formulas for the
// binomial coefficient, so that large counts keep their digits. With `propto` nothing large cancels, and the plain formula is
// used.
//
// Distribution functions are the incomplete beta function of theta, where 0 <= n < N, and constants elsewhere. For few trials
// the distribution function of numbers and its first derivative are short sums.
#pragma once

#include <agrad/families/shared/count_octets.hpp>
#include <agrad/families/shared/count_tails.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/beta/betainc.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/factorial.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {

/// Returns the rests of Stirling's formulas in log(N! / (n! (N - n)!)).
template <class N, class S>
auto binomial_rest(const N& n, const S& size) {
  return apply<factorial_rest_rule>(size) - apply<factorial_rest_rule>(n) - apply<factorial_rest_rule>(size - n);
}

struct binomial_rule : probability_rule<3> {
  template <class N, class S, class A>
  static auto in_support(const N& n, const S& size, const A&) {
    return n <= size;
  }
};

}  // namespace detail

struct binomial_lpmf_rule : detail::binomial_rule {
  static constexpr std::string_view name = "binomial_lpmf",
                                    text = "Log mass of n successes in N trials with probability theta.",
                                    reference =
                                        "loggamma(N + 1) - loggamma(n + 1) - loggamma(N - n + 1) + (n * log(theta) if n != 0"
                                        " else 0) + ((N - n) * log1p(-theta) if n != N else 0) if n <= N else -inf",
                                    source =
                                        "Loader (2000), Fast and Accurate Computation of Binomial Probabilities: log f(n; N, "
                                        "theta) = log(N! / (n! (N - n)!)) + n log theta + (N - n) log(1 - theta)";
  static constexpr std::string_view scipy = "binom(n, p): x - loc; n, p";
  static constexpr density_argument arguments[] = {
      {"n", must_be::whole_nonnegative}, {"N", must_be::whole_nonnegative}, {"theta", must_be::probability, true}};
  template <class P, class N, class S, class A>
  static auto term(const parts& included, const P&, const N& n, const S& size, const A& theta) {
    using T = promoted_t<N, S, A>;
    if (!included.constants()) return T(xlogy(n, theta) + xlog1py(size - n, -theta));
    return T(detail::binomial_rest(n, size) - kl_div(n, size * theta) - kl_div(size - n, size * (1.0 - theta)));
  }

  struct octets : octet_formulas<3> {
    static constexpr bool fills_last = true;
    template <class S>
    static std::array<S, 3> prepare(const parts&, const each<S>& x) {
      return {log(x[2]), log1m(x[2]), 1.0 / (x[2] * (1.0 - x[2]))};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] <= x[1] && x[1] < double{detail::small_count} && within(x[2], 1e-50, 1.0);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts& included, each<S>& slope) {
      slope[0] = slope[1] = 0.0;
      slope[2] = (x[0] - x[1] * x[2]) * prepared[2];
      const S value = x[0] * prepared[0] + (x[1] - x[0]) * prepared[1];
      return included.constants() ? value + detail::log_choices(x[1], x[0]) : value;
    }
  };
};
/// Returns the sum of the binomial log masses of n in N trials; see normal_lpdf.
template <bool propto = false, class N, class Trials, class Theta>
auto binomial_lpmf(const N& n, const Trials& trials, const Theta& theta) {
  return apply_probability<binomial_lpmf_rule, propto>(n, trials, theta);
}

struct binomial_logit_lpmf_rule : detail::binomial_rule {
  static constexpr std::string_view name = "binomial_logit_lpmf",
                                    text = "Log mass of n successes in N trials with log odds alpha.",
                                    reference =
                                        "loggamma(N + 1) - loggamma(n + 1) - loggamma(N - n + 1) - n * log1p(exp(-alpha))"
                                        " - (N - n) * log1p(exp(alpha)) if n <= N else -inf",
                                    source =
                                        "log f(n; N, alpha) = log(N! / (n! (N - n)!)) - n log(1 + exp(-alpha)) -"
                                        " (N - n) log(1 + exp(alpha))";
  static constexpr density_argument arguments[] = {
      {"n", must_be::whole_nonnegative}, {"N", must_be::whole_nonnegative}, {"alpha", must_be::finite, true}};
  template <class P, class N, class S, class A>
  static auto term(const parts& included, const P&, const N& n, const S& size, const A& alpha) {
    using T = promoted_t<N, S, A>;
    const auto plain = [&] { return T(n * log_inv_logit(alpha) + (size - n) * log_inv_logit(-alpha)); };
    if (!included.constants()) return plain();
    const auto near_mean = [&] {
      return T(detail::binomial_rest(n, size) - kl_div(n, size * inv_logit(alpha)) -
               kl_div(size - n, size * inv_logit(-alpha)));
    };
    return either<T>(abs(alpha - log(n / (size - n))) < 1, near_mean, [&] { return T(lchoose(size, n) + plain()); });
  }

  struct octets : octet_formulas<3> {
    static constexpr bool fills_last = true;
    template <class S>
    static std::array<S, 3> prepare(const parts&, const each<S>& x) {
      return {log_inv_logit(x[2]), log_inv_logit(S(-x[2])), inv_logit(x[2])};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] <= x[1] && x[1] < double{detail::small_count} && within(x[2], -700, 700);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts& included, each<S>& slope) {
      slope[0] = slope[1] = 0.0;
      slope[2] = x[0] - x[1] * prepared[2];
      const S value = x[0] * prepared[0] + (x[1] - x[0]) * prepared[1];
      return included.constants() ? value + detail::log_choices(x[1], x[0]) : value;
    }
  };
};
/// Returns the sum of the binomial log masses of n in N trials, given log odds; see normal_lpdf.
template <bool propto = false, class N, class Trials, class Alpha>
auto binomial_logit_lpmf(const N& n, const Trials& trials, const Alpha& alpha) {
  return apply_probability<binomial_logit_lpmf_rule, propto>(n, trials, alpha);
}

namespace detail {
/// What the distribution functions of the binomial distribution have in common.
struct binomial_cdf_base : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"n", must_be::whole}, {"N", must_be::whole_nonnegative}, {"theta", must_be::probability, true}};
  /// Returns the probability of values up to n, or beyond it, or its logarithm.
  template <bool is_upper, bool is_log, class Y, class M, class Q>
  static auto tail(const Y& n, const M& N, const Q& theta) {
    using T = promoted_t<Y, M, Q>;
    const double none = is_log ? -infinity : 0, all = is_log ? 0 : 1;
    return either<T>(
        !(n >= 0), [&] { return T(is_upper ? all : none); }, !(n < N), [&] { return T(is_upper ? none : all); },
        [&] { return T(apply<incomplete_beta<!is_upper, is_log>>(n + 1.0, N - n, theta)); });
  }
};

/// Whether T is a number, or a dual with numbers as value and derivatives.
template <class T>
inline constexpr bool is_of_numbers = std::is_same_v<T, double>;
template <int K>
inline constexpr bool is_of_numbers<dual<double, K>> = true;

/// Returns the probability of values up to n by sums of masses, with the derivative -(N - n) / (1 - theta) times the mass at n.
template <class Q>
Q short_binomial_cdf(double n, double N, const Q& theta) {
  const double p = primal_value(theta), misses = N - n;
  const binomial_sums<double> sums(n, misses, (1 - p) / p, p / (1 - p));
  const double all = sums.below + sums.above;
  Q tail(sums.below / all);
  if constexpr (!std::is_same_v<Q, double>)
    for (std::size_t k = 0; k < tail.tangent.size(); ++k) tail.tangent[k] = passed(-misses / (1 - p) / all, theta.tangent[k]);
  return tail;
}
}  // namespace detail

struct binomial_cdf_rule : detail::binomial_cdf_base {
  static constexpr std::string_view name = "binomial_cdf",
                                    text = "Probability of a value up to n, of N trials that succeed with probability theta.",
                                    reference =
                                        "(betainc(n + 1, N - n, theta, 1, regularized=True) if n < N else 1) if n >= 0 else 0",
                                    source = "F(n; N, theta) = 1 - I_theta(n + 1, N - n)";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class Q>
  static auto term(const parts&, const P&, const Y& n, const M& N, const Q& theta) {
    using T = promoted_t<Y, M, Q>;
    if constexpr (detail::is_of_numbers<Q> && std::is_same_v<T, Q>)
      if (detail::has_short_binomial_sums<double>(n, N, detail::primal_value(theta)))
        return T(detail::short_binomial_cdf(n, N, theta));
    return T(tail<false, false>(n, N, theta));
  }
};
/// Returns the product of the probabilities of values up to n; see normal_cdf.
inline constexpr probability_function<binomial_cdf_rule> binomial_cdf;

struct binomial_lcdf_rule : detail::binomial_cdf_base {
  static constexpr std::string_view
      name = "binomial_lcdf",
      text = "Logarithm of binomial_cdf.",
      reference = "(log(betainc(n + 1, N - n, theta, 1, regularized=True)) if n < N else 0) if n >= 0 else -inf",
      source = "log F(n; N, theta)";
  template <class P, class Y, class M, class Q>
  static auto term(const parts&, const P&, const Y& n, const M& N, const Q& theta) {
    return tail<false, true>(n, N, theta);
  }

  using octets = detail::binomial_tail_octets<false>;
};
/// Returns the sum of the logarithms of the probabilities of values up to n.
inline constexpr probability_function<binomial_lcdf_rule> binomial_lcdf;

struct binomial_lccdf_rule : detail::binomial_cdf_base {
  static constexpr std::string_view
      name = "binomial_lccdf",
      text = "Logarithm of the probability of a value beyond n, of N trials that succeed with probability theta.",
      reference = "(log(betainc(n + 1, N - n, 0, theta, regularized=True)) if n < N else -inf) if n >= 0 else 0",
      source = "log(1 - F(n; N, theta)) = log I_theta(n + 1, N - n)";
  template <class P, class Y, class M, class Q>
  static auto term(const parts&, const P&, const Y& n, const M& N, const Q& theta) {
    return tail<true, true>(n, N, theta);
  }

  using octets = detail::binomial_tail_octets<true>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond n.
inline constexpr probability_function<binomial_lccdf_rule> binomial_lccdf;

using binomial_lbetween_rule = log_between_counts<binomial_lpmf_rule, binomial_lcdf_rule, binomial_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<binomial_lbetween_rule> binomial_lbetween;

/// Draws the number of successes in N trials, each with probability theta.
template <class Trials, class Theta, class URBG>
auto binomial_rng(const Trials& trials, const Theta& theta, URBG& rng) {
  return detail::draws<binomial_lpmf_rule, count_t>(
      "binomial_rng", [&](detail::draw_place, double n, double t) { return detail::draw_binomial(n, t, rng); }, trials, theta);
}

namespace rules {
using binomial_family =
    family<typelist<binomial_lpmf_rule, binomial_logit_lpmf_rule, binomial_cdf_rule, binomial_lcdf_rule, binomial_lccdf_rule>,
           typelist<>, typelist<binomial_lbetween_rule>>;
}

}  // namespace agrad
