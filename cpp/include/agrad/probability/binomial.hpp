// The binomial distribution: mass, by probability or log odds.
//
// A log mass is Loader's: minus the deviances of n and N - n from their means, and the rests of Stirling's formulas for the
// binomial coefficient, so that large counts keep their digits. With `propto` nothing large cancels, and the plain formula is
// used.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/count_octets.hpp>
#include <agrad/rules/entropy.hpp>
#include <agrad/rules/factorial.hpp>
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

namespace rules {
using binomial_distribution = typelist<binomial_lpmf_rule, binomial_logit_lpmf_rule>;
}

}  // namespace agrad
