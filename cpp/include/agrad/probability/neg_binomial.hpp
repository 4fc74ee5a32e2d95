// The negative binomial distribution: mass, by shape and inverse scale, by mean and shape, or by log mean and shape.
//
// A log mass is minus the deviance of n from the mean, plus the rests of Stirling's formulas: nothing cancels if the shape is
// large, where the distribution becomes a Poisson distribution, or small. For a count of 1 and a small mean the derivatives of
// the two parts with respect to the shape would cancel, and the log mass has another form. With `propto`, the rests that depend
// on n alone are dropped.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/count_octets.hpp>
#include <agrad/rules/count_deviance.hpp>
#include <agrad/rules/gamma_rest.hpp>

namespace agrad {

namespace detail {

/// Returns the rests of log(gamma(n + phi)) - log(gamma(phi)) - log(n!). Argument `shape` of the rule is phi.
template <class N, class F>
promoted_t<N, F> neg_binomial_rest(const density_parts<3>& included, int shape, const N& n, const F& phi) {
  promoted_t<N, F> rest(0.0);
  if (included.of({shape})) rest += apply<rising_rest_rule>(phi, n);
  if (included.constants()) rest -= apply<factorial_rest_rule>(n);
  return rest;
}

inline constexpr std::string_view neg_binomial_source =
    "log f(n; mu, phi) = log gamma(n + phi) - log gamma(phi) - log n! + n log(mu / (mu + phi)) + phi log(phi / (mu + phi))";

}  // namespace detail

struct neg_binomial_lpmf_rule : probability_rule<3> {
  static constexpr std::string_view name = "neg_binomial_lpmf",
                                    text = "Log mass of the count n with shape alpha and inverse scale beta.",
                                    reference =
                                        "loggamma(n + alpha) - loggamma(alpha) - loggamma(n + 1)"
                                        " - alpha * log1p(1 / beta) - n * log1p(beta)",
                                    source =
                                        "log f(n; alpha, beta) = log gamma(n + alpha) - log gamma(alpha) - log n! +"
                                        " alpha log(beta / (1 + beta)) - n log(1 + beta)";
  static constexpr std::string_view scipy = "nbinom(n, p {between 0 and 1, not 0}): x - loc; n, p / (1 - p)";
  static constexpr density_argument arguments[] = {
      {"n", must_be::whole_nonnegative}, {"alpha", must_be::positive_finite}, {"beta", must_be::positive_finite, true}};
  template <class P, class N, class A, class B>
  static auto term(const parts& included, const P&, const N& n, const A& alpha, const B& beta) {
    promoted_t<N, A, B> sum(detail::neg_binomial_rest(included, 1, n, alpha));
    if (included.of({1, 2})) sum -= apply<detail::odds_deviance_rule>(n, alpha, beta);
    return sum;
  }

  struct octets : octet_formulas<3> {
    static constexpr bool has_propto = false, fills_last = true;
    template <class S>
    static std::array<S, 3> prepare(const parts&, const each<S>& x) {
      return {log1p(x[2]), log1p(1.0 / x[2]), 1.0 / (x[2] * (1.0 + x[2]))};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] <= detail::longest_product && within(x[1], 1e-3, 200) && within(x[2], 1e-3, 1e3);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const detail::rising_product product(x[0], x[1]);
      slope[0] = 0.0;
      slope[1] = product.sum_of_inverses - prepared[1];
      slope[2] = (x[1] - x[0] * x[2]) * prepared[2];
      return log(product.ratio) - x[1] * prepared[1] - x[0] * prepared[0];
    }
  };
};
/// Returns the sum of the negative binomial log masses of n; see normal_lpdf.
template <bool propto = false, class N, class Alpha, class Beta>
auto neg_binomial_lpmf(const N& n, const Alpha& alpha, const Beta& beta) {
  return apply_probability<neg_binomial_lpmf_rule, propto>(n, alpha, beta);
}

struct neg_binomial_2_lpmf_rule : probability_rule<3> {
  static constexpr std::string_view name = "neg_binomial_2_lpmf", text = "Log mass of the count n with mean mu and shape phi.",
                                    reference =
                                        "loggamma(n + phi) - loggamma(phi) - loggamma(n + 1) - phi * log1p(mu / phi)"
                                        " - (n * log1p(phi / mu) if n != 0 else 0)",
                                    source = detail::neg_binomial_source;
  static constexpr density_argument arguments[] = {
      {"n", must_be::whole_nonnegative}, {"mu", must_be::positive_finite, true}, {"phi", must_be::positive_finite, true}};
  template <class P, class N, class M, class F>
  static auto term(const parts& included, const P&, const N& n, const M& mu, const F& phi) {
    using T = promoted_t<N, M, F>;
    const auto general = [&] {
      T sum(detail::neg_binomial_rest(included, 2, n, phi));
      if (included.of({1, 2})) sum -= apply<detail::shaped_deviance_rule>(n, mu, phi);
      return sum;
    };
    const auto one = [&] { return T(log(mu) - log1p(mu / phi) - apply<detail::shaped_deviance_rule>(0.0, mu, phi)); };
    return included.propto ? general() : either<T>(n == 1 && mu < phi, one, general);
  }

  struct octets : octet_formulas<3> {
    static constexpr bool has_propto = false, fills_last = true;
    template <class S>
    static std::array<S, 3> prepare(const parts&, const each<S>& x) {
      return {log1p(x[1] / x[2]), log1p(x[2] / x[1]), 1.0 / x[1]};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] <= detail::longest_product && within(x[1], 0.02 * x[2], 1e3) && within(x[2], 1e-2, 200);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const detail::rising_product product(x[0], x[2]);
      const S inverse = 1.0 / (x[1] + x[2]);
      slope[0] = 0.0;
      slope[1] = x[2] * (x[0] - x[1]) * prepared[2] * inverse;
      slope[2] = product.sum_of_inverses - prepared[0] + (x[1] - x[0]) * inverse;
      return log(product.ratio) - x[2] * prepared[0] - x[0] * prepared[1];
    }
  };
};
/// Returns the sum of the negative binomial log masses of n, given means and shapes; see normal_lpdf.
template <bool propto = false, class N, class Mu, class Phi>
auto neg_binomial_2_lpmf(const N& n, const Mu& mu, const Phi& phi) {
  return apply_probability<neg_binomial_2_lpmf_rule, propto>(n, mu, phi);
}

struct neg_binomial_2_log_lpmf_rule : probability_rule<3> {
  static constexpr std::string_view name = "neg_binomial_2_log_lpmf",
                                    text = "Log mass of the count n with log mean eta and shape phi.",
                                    reference =
                                        "loggamma(n + phi) - loggamma(phi) - loggamma(n + 1) - phi * log1p(exp(eta - log(phi)))"
                                        " - (n * log1p(exp(log(phi) - eta)) if n != 0 else 0)",
                                    source = detail::neg_binomial_source;
  static constexpr density_argument arguments[] = {
      {"n", must_be::whole_nonnegative}, {"eta", must_be::finite, true}, {"phi", must_be::positive_finite, true}};
  template <class P, class N, class E, class F>
  static auto term(const parts& included, const P&, const N& n, const E& eta, const F& phi) {
    using T = promoted_t<N, E, F>;
    const auto general = [&] {
      T sum(detail::neg_binomial_rest(included, 2, n, phi));
      if (included.of({1, 2})) sum -= apply<detail::shaped_log_deviance_rule>(n, eta, phi);
      return sum;
    };
    const auto one = [&] {
      const T odds = eta - log(phi);
      return T(eta - log1p_exp(odds) - apply<detail::shaped_log_deviance_rule>(0.0, eta, phi));
    };
    return included.propto ? general() : either<T>(n == 1 && eta < -0.5 && eta < log(phi), one, general);
  }

  struct octets : octet_formulas<3> {
    static constexpr bool has_propto = false, fills_last = true;
    template <class S>
    static std::array<S, 3> prepare(const parts&, const each<S>& x) {
      const S mu = exp(x[1]);
      return {log1p(mu / x[2]), log1p(x[2] / mu), mu};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] <= detail::longest_product && within(x[1], -2, 7) && within(x[2], 1e-2, 50);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const detail::rising_product product(x[0], x[2]);
      const S inverse = 1.0 / (prepared[2] + x[2]);
      slope[0] = 0.0;
      slope[1] = x[2] * (x[0] - prepared[2]) * inverse;
      slope[2] = product.sum_of_inverses - prepared[0] + (prepared[2] - x[0]) * inverse;
      return log(product.ratio) - x[2] * prepared[0] - x[0] * prepared[1];
    }
  };
};
/// Returns the sum of the negative binomial log masses of n, given log means and shapes; see normal_lpdf.
template <bool propto = false, class N, class Eta, class Phi>
auto neg_binomial_2_log_lpmf(const N& n, const Eta& eta, const Phi& phi) {
  return apply_probability<neg_binomial_2_log_lpmf_rule, propto>(n, eta, phi);
}

namespace rules {
using neg_binomial_distribution = typelist<neg_binomial_lpmf_rule, neg_binomial_2_lpmf_rule, neg_binomial_2_log_lpmf_rule>;
}

}  // namespace agrad
