// The distribution functions of the binomial distribution.
//
// They are the incomplete beta function of theta, where 0 <= n < N, and constants elsewhere. For few trials the distribution
// function of numbers and its first derivative are short sums.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/count_tails.hpp>
#include <agrad/rules/betainc.hpp>

namespace agrad {

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
template <class Count, class Trials, class Theta>
auto binomial_cdf(const Count& n, const Trials& N, const Theta& theta) {
  return apply_probability<binomial_cdf_rule>(n, N, theta);
}

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
template <class Count, class Trials, class Theta>
auto binomial_lcdf(const Count& n, const Trials& N, const Theta& theta) {
  return apply_probability<binomial_lcdf_rule>(n, N, theta);
}

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
template <class Count, class Trials, class Theta>
auto binomial_lccdf(const Count& n, const Trials& N, const Theta& theta) {
  return apply_probability<binomial_lccdf_rule>(n, N, theta);
}

namespace rules {
using binomial_cdfs = typelist<binomial_cdf_rule, binomial_lcdf_rule, binomial_lccdf_rule>;
}

}  // namespace agrad
