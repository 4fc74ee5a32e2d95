// The regularised incomplete gamma functions, with derivatives with respect to both arguments.
//
// The functions of doubles are in rules/gamma/incomplete_gamma.hpp.
#pragma once

#include <agrad/rules/gamma/gamma.hpp>
#include <agrad/rules/gamma/incomplete_gamma.hpp>

namespace agrad {

namespace detail {

/// Base of rules of an order, a and x; the order counts derivatives with respect to a.
template <class Rule>
struct gamma_order_rule : rule<3>, data_arguments<0> {
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& a, const T& x, const T&) {
    return apply<Rule>(order + 1.0, a, x);
  }
};

/// x^(a - 1) e^-x / gamma(a).
struct gamma_density_rule : gamma_order_rule<gamma_density_rule> {
  static constexpr std::string_view name = "gamma_density";
  using gamma_order_rule<gamma_density_rule>::derivative;
  static double value(double order, double a, double x) { return gamma_density_derivative(order, a, x); }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& a, const T& x, const T& value) {
    const T slope = (a - 1.0 - x) / x * value;
    // The density of shape a - 1, which a program needs at x = 0 only, where it takes no time.
    const auto at_0 = [&] {
      return T(apply<gamma_density_rule>(order, a - 1.0,
                                         either<T>(
                                             x == 0, [&] { return x; }, [] { return T(0.0); })) -
               value);
    };
    return either<T>(
        x == 0 && a > 1, at_0, x == 0 && a == 1 && order == 0, [&] { return T(-value); },  //
        order == 0, [&] { return slope; }, [&] { return T(slope + order / x * apply<gamma_density_rule>(order - 1.0, a, x)); });
  }
};

template <bool is_upper>
struct gamma_tail_rule : gamma_order_rule<gamma_tail_rule<is_upper>> {
  static constexpr std::string_view name = is_upper ? "gamma_upper_tail" : "gamma_lower_tail";
  using gamma_order_rule<gamma_tail_rule<is_upper>>::derivative;
  static double value(double order, double a, double x) { return gamma_tail_derivative(order, a, x, is_upper); }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& a, const T& x, const T&) {
    const T density = apply<gamma_density_rule>(order, a, x);
    return is_upper ? T(-density) : density;
  }
};

inline constexpr std::string_view gammainc_source =
    "DLMF 8.11.4, 8.9.2, and 8.6.4 by Gauss-Legendre quadrature; Gautschi (1979), ACM Transactions on Mathematical Software "
    "5:466, for small x";

}  // namespace detail

struct gammainc_rule : rule<2> {
  static constexpr std::string_view name = "gammainc", stan = "gamma_p",
                                    text = "Regularised lower incomplete gamma function, of shape x at y.",
                                    reference = "lower_gamma(x, y)", source = detail::gammainc_source;
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}};
  static double value(double x, double y) { return detail::gamma_tail_derivative(0, x, y, false); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return apply<detail::gamma_tail_rule<false>>(1.0, x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return apply<detail::gamma_density_rule>(0.0, x, y);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<gammainc_rule, X, Y> gammainc(const X& x, const Y& y) {
  return apply<gammainc_rule>(x, y);
}
/// Does the same as `gammainc`; this is Stan's name.
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<gammainc_rule, X, Y> gamma_p(const X& x, const Y& y) {
  return apply<gammainc_rule>(x, y);
}

struct gammaincc_rule : rule<2> {
  static constexpr std::string_view name = "gammaincc", stan = "gamma_q",
                                    text = "Regularised upper incomplete gamma function, of shape x at y.",
                                    reference = "upper_gamma(x, y)", source = detail::gammainc_source;
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}};
  static double value(double x, double y) { return detail::gamma_tail_derivative(0, x, y, true); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return apply<detail::gamma_tail_rule<true>>(1.0, x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return -apply<detail::gamma_density_rule>(0.0, x, y);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<gammaincc_rule, X, Y> gammaincc(const X& x, const Y& y) {
  return apply<gammaincc_rule>(x, y);
}
/// Does the same as `gammaincc`; this is Stan's name.
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<gammaincc_rule, X, Y> gamma_q(const X& x, const Y& y) {
  return apply<gammaincc_rule>(x, y);
}

namespace rules {
using gammainc = typelist<gammainc_rule, gammaincc_rule>;
}

}  // namespace agrad
