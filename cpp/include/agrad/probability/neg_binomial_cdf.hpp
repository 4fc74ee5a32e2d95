// The distribution functions of the negative binomial distribution.
//
// The functions are the incomplete beta function of the smaller of success and failure probability. neg_binomial has shape and
// inverse scale as arguments, neg_binomial_2 mean and precision: at a fixed mean, derivatives with respect to a large precision
// would cancel, and rules/neg_binomial.hpp has these.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/count_tails.hpp>
#include <agrad/rules/betainc.hpp>
#include <agrad/rules/neg_binomial.hpp>

namespace agrad {

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
template <class N, class Alpha, class Beta>
auto neg_binomial_cdf(const N& n, const Alpha& alpha, const Beta& beta) {
  return apply_probability<neg_binomial_cdf_rule>(n, alpha, beta);
}

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
template <class N, class Alpha, class Beta>
auto neg_binomial_lcdf(const N& n, const Alpha& alpha, const Beta& beta) {
  return apply_probability<neg_binomial_lcdf_rule>(n, alpha, beta);
}

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
template <class N, class Alpha, class Beta>
auto neg_binomial_lccdf(const N& n, const Alpha& alpha, const Beta& beta) {
  return apply_probability<neg_binomial_lccdf_rule>(n, alpha, beta);
}

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
template <class N, class Mu, class Phi>
auto neg_binomial_2_cdf(const N& n, const Mu& mu, const Phi& phi) {
  return apply_probability<neg_binomial_2_cdf_rule>(n, mu, phi);
}

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
template <class N, class Mu, class Phi>
auto neg_binomial_2_lcdf(const N& n, const Mu& mu, const Phi& phi) {
  return apply_probability<neg_binomial_2_lcdf_rule>(n, mu, phi);
}

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
template <class N, class Mu, class Phi>
auto neg_binomial_2_lccdf(const N& n, const Mu& mu, const Phi& phi) {
  return apply_probability<neg_binomial_2_lccdf_rule>(n, mu, phi);
}

namespace rules {
using neg_binomial_cdfs = typelist<neg_binomial_cdf_rule, neg_binomial_lcdf_rule, neg_binomial_lccdf_rule,
                                   neg_binomial_2_cdf_rule, neg_binomial_2_lcdf_rule, neg_binomial_2_lccdf_rule>;
}

}  // namespace agrad
