// The inverses of the regularised incomplete beta function and of its complement, with derivatives by all arguments.
//
// They are the quantiles of the beta distribution (rules/special/quantiles.hpp) with the shapes first, as Stan and SciPy have
// them.
#pragma once

#include <agrad/rules/special/quantiles.hpp>

namespace agrad {

namespace detail {

/// What both inverses have in common.
template <bool is_upper>
struct betaincinv_base : rule<3> {
  static constexpr std::string_view source =
      "Newton's method on the logarithm of the smaller tail; derivatives are those of the "
      "implicit function";
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}, {0, 1}};
  static double value(double a, double b, double p) { return beta_quantile_rule<is_upper>::value(p, a, b); }
  template <int I, class T>
  static T derivative(wrt<I>, const T& a, const T& b, const T& p, const T& x) {
    return beta_quantile_rule<is_upper>::derivative(wrt<(I + 1) % 3>{}, p, a, b, x);
  }
};

}  // namespace detail

struct betaincinv_rule : detail::betaincinv_base<false> {
  static constexpr std::string_view name = "betaincinv", stan = "inv_inc_beta",
                                    text =
                                        "Inverse of betainc: the value up to which the probability is z, of the beta "
                                        "distribution of shapes x and y.",
                                    reference = "lower_beta_inverse(x, y, z)";
};
template <class A, class B, class P>
AGRAD_ALWAYS_INLINE applied<betaincinv_rule, A, B, P> betaincinv(const A& a, const B& b, const P& p) {
  return apply<betaincinv_rule>(a, b, p);
}
/// Does the same as `betaincinv`; this is Stan's name.
template <class A, class B, class P>
AGRAD_ALWAYS_INLINE applied<betaincinv_rule, A, B, P> inv_inc_beta(const A& a, const B& b, const P& p) {
  return apply<betaincinv_rule>(a, b, p);
}

struct betainccinv_rule : detail::betaincinv_base<true> {
  static constexpr std::string_view name = "betainccinv",
                                    text =
                                        "Inverse of betaincc: the value beyond which the probability is z, of the beta "
                                        "distribution of shapes x and y.",
                                    reference = "1 - lower_beta_inverse(y, x, z)";
};
template <class A, class B, class P>
AGRAD_ALWAYS_INLINE applied<betainccinv_rule, A, B, P> betainccinv(const A& a, const B& b, const P& p) {
  return apply<betainccinv_rule>(a, b, p);
}

namespace rules {
using betaincinv = typelist<betaincinv_rule, betainccinv_rule>;
}

}  // namespace agrad
