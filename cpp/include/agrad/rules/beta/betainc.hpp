// The regularised incomplete beta function, its complement, and their logarithms, with derivatives by all arguments.
//
// Where 1 - x has more digits than x, the caller has betainc(a, b, x) as betaincc(b, a, 1 - x). The functions of doubles are
// in rules/beta/incomplete_beta.hpp.
#pragma once

#include <agrad/rules/beta/incomplete_beta.hpp>
#include <agrad/rules/gamma/gamma.hpp>

namespace agrad {

namespace detail {

/// The highest order of derivatives that the rules have; beyond it they are nan.
inline constexpr int highest_beta_derivative = 3;

/// Derivative (m, n, k) with respect to a, b and x of a tail of the beta distribution, or of its logarithm. The orders are
/// parts of the type, because an instruction of a program has three operands.
template <bool is_upper, bool is_log, int m, int n, int k>
struct beta_tail_rule : rule<3> {
  static constexpr auto letters = with_digits<m, n, k>(is_log ? (is_upper ? "beta_log_upper_tail" : "beta_log_lower_tail")
                                                              : (is_upper ? "beta_upper_tail" : "beta_lower_tail"));
  static constexpr std::string_view name = letters.data();
  static double value(double a, double b, double x) { return beta_tail_derivative(a, b, x, is_upper, is_log, m, n, k); }
  template <int I, class T>
  static auto derivative(wrt<I>, const T& a, const T& b, const T& x, const T&) {
    if constexpr (m + n + k == highest_beta_derivative)
      return T(quiet_nan);
    else
      return apply<beta_tail_rule<is_upper, is_log, m + (I == 0), n + (I == 1), k + (I == 2)>>(a, b, x);
  }
};

/// What the four functions have in common.
template <bool is_upper, bool is_log>
struct betainc_base : rule<3> {
  static constexpr std::string_view source =
      "DLMF 8.17.1 by Gauss-Legendre quadrature, and DLMF 8.17.7; deviances as Loader (2000), Fast and accurate computation of "
      "binomial probabilities";
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}, {0, 1}};
  static double value(double a, double b, double x) { return detail::beta_tail_derivative(a, b, x, is_upper, is_log, 0, 0, 0); }
  static double value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>& wanted, double a, double b,
                                 double x) {
    return detail::beta_tail_slopes(a, b, x, is_upper, is_log, wanted, slopes);
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T& a, const T& b, const T& x, const T&) {
    if constexpr (is_upper && !is_log)
      return T(-apply<beta_tail_rule<false, false, I == 0, I == 1, I == 2>>(a, b, x));
    else
      return apply<beta_tail_rule<is_upper, is_log, I == 0, I == 1, I == 2>>(a, b, x);
  }
};

}  // namespace detail

struct betainc_rule : detail::betainc_base<false, false> {
  static constexpr std::string_view name = "betainc", stan = "inc_beta",
                                    text = "Regularised incomplete beta function, of shapes a and b from 0 to x.",
                                    reference = "lower_beta(x, y, z)";
};
template <class A, class B, class X>
AGRAD_ALWAYS_INLINE applied<betainc_rule, A, B, X> betainc(const A& a, const B& b, const X& x) {
  return apply<betainc_rule>(a, b, x);
}
/// Does the same as `betainc`; this is Stan's name.
template <class A, class B, class X>
AGRAD_ALWAYS_INLINE applied<betainc_rule, A, B, X> inc_beta(const A& a, const B& b, const X& x) {
  return apply<betainc_rule>(a, b, x);
}

struct betaincc_rule : detail::betainc_base<true, false> {
  static constexpr std::string_view name = "betaincc",
                                    text = "Regularised incomplete beta function, of shapes a and b from x to 1.",
                                    reference = "lower_beta(y, x, 1 - z)";
};
template <class A, class B, class X>
AGRAD_ALWAYS_INLINE applied<betaincc_rule, A, B, X> betaincc(const A& a, const B& b, const X& x) {
  return apply<betaincc_rule>(a, b, x);
}

struct log_betainc_rule : detail::betainc_base<false, true> {
  static constexpr std::string_view name = "log_betainc", text = "Logarithm of betainc, finite where betainc underflows.",
                                    reference = "log(lower_beta(x, y, z))", ufunc = no_ufunc;
};
template <class A, class B, class X>
AGRAD_ALWAYS_INLINE applied<log_betainc_rule, A, B, X> log_betainc(const A& a, const B& b, const X& x) {
  return apply<log_betainc_rule>(a, b, x);
}

struct log_betaincc_rule : detail::betainc_base<true, true> {
  static constexpr std::string_view name = "log_betaincc", text = "Logarithm of betaincc, finite where betaincc underflows.",
                                    reference = "log(lower_beta(y, x, 1 - z))", ufunc = no_ufunc;
};
template <class A, class B, class X>
AGRAD_ALWAYS_INLINE applied<log_betaincc_rule, A, B, X> log_betaincc(const A& a, const B& b, const X& x) {
  return apply<log_betaincc_rule>(a, b, x);
}

namespace detail {
/// One of the four functions.
template <bool is_upper, bool is_log>
using incomplete_beta = std::conditional_t<is_log, std::conditional_t<is_upper, log_betaincc_rule, log_betainc_rule>,
                                           std::conditional_t<is_upper, betaincc_rule, betainc_rule>>;
}  // namespace detail

namespace rules {
using betainc = typelist<betainc_rule, betaincc_rule>;  // the logarithms are for C++ alone
}

}  // namespace agrad
