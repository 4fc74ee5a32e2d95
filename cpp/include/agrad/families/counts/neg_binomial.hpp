// The negative binomial distribution, by shape and inverse scale, by mean and shape, or by log mean and shape.
//
// A log mass is minus the deviance of n from the mean, plus the rests of Stirling's formulas: nothing cancels if the shape is
// large, where the distribution becomes a Poisson distribution, or small. For a count of 1 and a small mean the derivatives of
// the two parts with respect to the shape would cancel, and the log mass has another form. With `propto`, the rests that depend
// on n alone are dropped.
//
// Distribution functions are the incomplete beta function of the smaller of success and failure probability. neg_binomial has
// shape and inverse scale as arguments, neg_binomial_2 mean and precision: at a fixed mean, derivatives with respect to a large
// precision would cancel, and families/tails/neg_binomial.hpp has these.
#pragma once

#include <cmath>

#include <agrad/families/shared/count_octets.hpp>
#include <agrad/families/shared/count_tails.hpp>
#include <agrad/families/tails/count_deviance.hpp>
#include <agrad/families/tails/neg_binomial.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/beta/betainc.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>

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

namespace detail {
/// What the distribution functions of the negative binomial distribution have in common.
struct neg_binomial_cdf_base : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"n", must_be::whole}, {"alpha", must_be::positive_finite, true}, {"beta", must_be::positive_finite, true}};
  /// Returns the probability of values up to n, or beyond it, or its logarithm.
  template <bool is_upper, bool is_log, class Y, class A, class B>
  static auto tail(const Y& n, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    const double none = is_log ? -infinity : 0, all = is_log ? 0 : 1;
    return either<T>(
        !(n >= 0), [&] { return T(is_upper ? all : none); }, !(n < infinity), [&] { return T(is_upper ? none : all); },
        beta < 1, [&] { return T(apply<incomplete_beta<is_upper, is_log>>(alpha, n + 1.0, beta / (1.0 + beta))); },
        [&] { return T(apply<incomplete_beta<!is_upper, is_log>>(n + 1.0, alpha, 1.0 / (1.0 + beta))); });
  }
};

/// The same parts for a mean and a precision.
struct neg_binomial_2_cdf_base : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"n", must_be::whole}, {"mu", must_be::positive_finite, true}, {"phi", must_be::positive_finite, true}};
  /// Returns the probability of values up to n, or beyond it, or its logarithm.
  template <bool is_upper, bool is_log, class Y, class M, class A>
  static auto tail(const Y& n, const M& mu, const A& phi) {
    using T = promoted_t<Y, M, A>;
    const double none = is_log ? -infinity : 0, all = is_log ? 0 : 1;
    return either<T>(
        !(n >= 0), [&] { return T(is_upper ? all : none); }, !(n < infinity), [&] { return T(is_upper ? none : all); },
        phi < 1 && !(phi * (n + 2.0 + phi) > (phi + 1.0) * (phi + mu)),
        [&] { return T(apply<incomplete_beta<is_upper, is_log>>(phi, n + 1.0, phi / (phi + mu))); },
        [&] { return T(apply<neg_binomial_tail_rule<is_upper, is_log, 0, 0>>(n, mu, phi)); });
  }
};
}  // namespace detail

struct neg_binomial_cdf_rule : detail::neg_binomial_cdf_base {
  static constexpr std::string_view name = "neg_binomial_cdf",
                                    text = "Probability of a value up to n, of shape alpha and inverse scale beta.",
                                    reference =
                                        "betainc(alpha, n + 1, 0, beta / (1 + beta), regularized=True) if n >= 0 else 0",
                                    source = "F(n; alpha, beta) = I_{beta / (1 + beta)}(alpha, n + 1)";
  static constexpr bool is_product = true;
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& n, const A& alpha, const B& beta) {
    return tail<false, false>(n, alpha, beta);
  }
};
/// Returns the product of the probabilities of values up to n; see normal_cdf.
inline constexpr probability_function<neg_binomial_cdf_rule> neg_binomial_cdf;

struct neg_binomial_lcdf_rule : detail::neg_binomial_cdf_base {
  static constexpr std::string_view
      name = "neg_binomial_lcdf",
      text = "Logarithm of neg_binomial_cdf.",
      reference = "log(betainc(alpha, n + 1, 0, beta / (1 + beta), regularized=True)) if n >= 0 else -inf",
      source = "log F(n; alpha, beta)";
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& n, const A& alpha, const B& beta) {
    return tail<false, true>(n, alpha, beta);
  }

  using octets = detail::neg_binomial_tail_octets<false>;
};
/// Returns the sum of the logarithms of the probabilities of values up to n.
inline constexpr probability_function<neg_binomial_lcdf_rule> neg_binomial_lcdf;

struct neg_binomial_lccdf_rule : detail::neg_binomial_cdf_base {
  static constexpr std::string_view
      name = "neg_binomial_lccdf",
      text = "Logarithm of the probability of a value beyond n, of shape alpha and inverse scale beta.",
      reference = "log(betainc(n + 1, alpha, 0, 1 / (1 + beta), regularized=True)) if n >= 0 else 0",
      source = "log(1 - F(n; alpha, beta))";
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& n, const A& alpha, const B& beta) {
    return tail<true, true>(n, alpha, beta);
  }

  using octets = detail::neg_binomial_tail_octets<true>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond n.
inline constexpr probability_function<neg_binomial_lccdf_rule> neg_binomial_lccdf;

struct neg_binomial_2_cdf_rule : detail::neg_binomial_2_cdf_base {
  static constexpr std::string_view name = "neg_binomial_2_cdf",
                                    text = "Probability of a value up to n, of mean mu and precision phi.",
                                    reference = "betainc(phi, n + 1, 0, phi / (phi + mu), regularized=True) if n >= 0 else 0",
                                    source = "F(n; mu, phi) = I_{phi / (phi + mu)}(phi, n + 1)";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class A>
  static auto term(const parts&, const P&, const Y& n, const M& mu, const A& phi) {
    return tail<false, false>(n, mu, phi);
  }
};
/// Returns the product of the probabilities of values up to n; see normal_cdf.
inline constexpr probability_function<neg_binomial_2_cdf_rule> neg_binomial_2_cdf;

struct neg_binomial_2_lcdf_rule : detail::neg_binomial_2_cdf_base {
  static constexpr std::string_view name = "neg_binomial_2_lcdf", text = "Logarithm of neg_binomial_2_cdf.",
                                    reference =
                                        "log(betainc(phi, n + 1, 0, phi / (phi + mu), regularized=True)) if n >= 0 else -inf",
                                    source = "log F(n; mu, phi)";
  template <class P, class Y, class M, class A>
  static auto term(const parts&, const P&, const Y& n, const M& mu, const A& phi) {
    return tail<false, true>(n, mu, phi);
  }

  using octets = detail::neg_binomial_2_tail_octets<false>;
};
/// Returns the sum of the logarithms of the probabilities of values up to n.
inline constexpr probability_function<neg_binomial_2_lcdf_rule> neg_binomial_2_lcdf;

struct neg_binomial_2_lccdf_rule : detail::neg_binomial_2_cdf_base {
  static constexpr std::string_view name = "neg_binomial_2_lccdf",
                                    text = "Logarithm of the probability of a value beyond n, of mean mu and precision phi.",
                                    reference =
                                        "log(betainc(n + 1, phi, 0, mu / (phi + mu), regularized=True)) if n >= 0 else 0",
                                    source = "log(1 - F(n; mu, phi))";
  template <class P, class Y, class M, class A>
  static auto term(const parts&, const P&, const Y& n, const M& mu, const A& phi) {
    return tail<true, true>(n, mu, phi);
  }

  using octets = detail::neg_binomial_2_tail_octets<true>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond n.
inline constexpr probability_function<neg_binomial_2_lccdf_rule> neg_binomial_2_lccdf;

using neg_binomial_lbetween_rule = log_between_counts<neg_binomial_lpmf_rule, neg_binomial_lcdf_rule, neg_binomial_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<neg_binomial_lbetween_rule> neg_binomial_lbetween;

using neg_binomial_2_lbetween_rule =
    log_between_counts<neg_binomial_2_lpmf_rule, neg_binomial_2_lcdf_rule, neg_binomial_2_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<neg_binomial_2_lbetween_rule> neg_binomial_2_lbetween;

/// Draws negative binomial counts: Poisson counts whose rates are gamma numbers with shape alpha and rate beta.
template <class Alpha, class Beta, class URBG>
auto neg_binomial_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<neg_binomial_lpmf_rule, count_t>(
      "neg_binomial_rng",
      [&](detail::draw_place place, double a, double b) {
        return detail::draw_poisson("neg_binomial_rng", detail::draw_gamma_power(a, b, 1, 1, rng), place, rng);
      },
      alpha, beta);
}

/// Draws negative binomial counts with mean mu and shape phi; for large phi they are Poisson counts.
template <class Mu, class Phi, class URBG>
auto neg_binomial_2_rng(const Mu& mu, const Phi& phi, URBG& rng) {
  return detail::draws<neg_binomial_2_lpmf_rule, count_t>(
      "neg_binomial_2_rng",
      [&](detail::draw_place place, double m, double p) {
        return detail::draw_poisson("neg_binomial_2_rng", detail::draw_gamma_power(p, p, 1, m, rng), place, rng);
      },
      mu, phi);
}

/// Draws negative binomial counts with log mean eta and shape phi.
template <class Eta, class Phi, class URBG>
auto neg_binomial_2_log_rng(const Eta& eta, const Phi& phi, URBG& rng) {
  return detail::draws<neg_binomial_2_log_lpmf_rule, count_t>(
      "neg_binomial_2_log_rng",
      [&](detail::draw_place place, double e, double p) {
        const double log_share =
            p < 1 ? detail::draw_log_gamma(p, rng) - std::log(p) : std::log(detail::draw_gamma_power(p, p, 1, 1, rng));
        return detail::draw_poisson("neg_binomial_2_log_rng", std::exp(e + log_share), place, rng);
      },
      eta, phi);
}

namespace rules {
using neg_binomial_family = family<typelist<neg_binomial_lpmf_rule, neg_binomial_2_lpmf_rule, neg_binomial_2_log_lpmf_rule,
                                            neg_binomial_cdf_rule, neg_binomial_lcdf_rule, neg_binomial_lccdf_rule,
                                            neg_binomial_2_cdf_rule, neg_binomial_2_lcdf_rule, neg_binomial_2_lccdf_rule>,
                                   typelist<>, typelist<neg_binomial_lbetween_rule, neg_binomial_2_lbetween_rule>>;
}

}  // namespace agrad
