// Beta distribution: log density.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/rules/beta_density.hpp>

namespace agrad {

struct beta_lpdf_rule : probability_rule<3> {
  static constexpr std::string_view name = "beta_lpdf",
                                    text = "Log density of theta between 0 and 1 with the shapes alpha and beta.",
                                    reference =
                                        "((alpha - 1) * log(theta) if alpha != 1 else 0)"
                                        " + ((beta - 1) * log(1 - theta) if beta != 1 else 0)"
                                        " - (loggamma(alpha) + loggamma(beta) - loggamma(alpha + beta))"
                                        " if 0 <= theta <= 1 else -inf",
                                    source =
                                        "log f(theta; alpha, beta) = (alpha - 1) log(theta) + (beta - 1) log(1 - theta)"
                                        " - betaln(alpha, beta); deviances of Loader (2000), Fast and accurate computation of"
                                        " binomial probabilities, for large shapes";
  static constexpr std::string_view scipy = "beta(a, b): (x - loc) / scale; a, b";
  static constexpr density_argument arguments[] = {
      {"theta", must_be::not_nan}, {"alpha", must_be::positive_finite, true}, {"beta", must_be::positive_finite, true}};
  template <class Y, class A, class B>
  static auto in_support(const Y& theta, const A&, const B&) {
    return theta >= 0 && theta <= 1;
  }
  template <class P, class Y, class A, class B>
  static auto term(const parts& included, const P&, const Y& theta, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    if (included.of({1, 2})) return T(apply<detail::beta_log_density_rule>(alpha, beta, theta));
    return T(xlogy(alpha - 1.0, theta) + xlog1py(beta - 1.0, -theta));
  }

  struct octets : octet_formulas<3> {
    template <class S>
    static std::array<S, 3> prepare(const parts& included, const each<S>& x) {
      const S sum = x[1] + x[2], slope_of_sum = apply<digamma_rule>(sum);
      const S constant = apply<lgamma_rule>(sum) - apply<lgamma_rule>(x[1]) - apply<lgamma_rule>(x[2]);
      return {slope_of_sum - apply<digamma_rule>(x[1]), slope_of_sum - apply<digamma_rule>(x[2]),
              included.of({1, 2}) ? constant : S(0.0)};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0], 1e-50, 1.0) && within(x[1], 0.05, 64) && within(x[2], 0.05, 64);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S rest = 1.0 - x[0], log_y = log(x[0]), log_rest = log1p(-x[0]), a = x[1] - 1.0, b = x[2] - 1.0;
      slope[0] = a / x[0] - b / rest;
      slope[1] = prepared[0] + log_y;
      slope[2] = prepared[1] + log_rest;
      return prepared[2] + a * log_y + b * log_rest;
    }
  };
};
/// Returns the sum of the beta log densities of theta; see normal_lpdf.
template <bool propto = false, class Theta, class Alpha, class Beta>
auto beta_lpdf(const Theta& theta, const Alpha& alpha, const Beta& beta) {
  return apply_probability<beta_lpdf_rule, propto>(theta, alpha, beta);
}

namespace rules {
using beta_distribution = typelist<beta_lpdf_rule>;
}

}  // namespace agrad
