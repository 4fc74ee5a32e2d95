// Modified Bessel functions of orders 0 and 1, plain and exponentially scaled.
//
// The functions of doubles, and why derivatives are moments, are in rules/bessel/bessel_moments.hpp.
#pragma once

#include <agrad/rules/bessel/bessel_moments.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/piecewise.hpp>

namespace agrad {

namespace detail {

/// I_n(x) / x^n; the derivative is x times the same function of order n + 1 (DLMF 10.29.4).
struct bessel_i_over_power_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "bessel_i_over_power";
  static double value(double order, double x) { return bessel_i_over_power(order, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T&) {
    return x * apply<bessel_i_over_power_rule>(order + 1.0, x);
  }
};

/// The common part of the moments; the derivative is minus the moment of order n + 1.
template <class Rule>
struct moment_rule : rule<2>, data_arguments<0> {
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T&) {
    return -apply<Rule>(order + 1.0, x);
  }
};
struct bessel_i_moment_rule : moment_rule<bessel_i_moment_rule> {
  static constexpr std::string_view name = "bessel_i_moment";
  static double value(double order, double x) { return bessel_i_moment(order, x); }
};
struct bessel_k_moment_rule : moment_rule<bessel_k_moment_rule> {
  static constexpr std::string_view name = "bessel_k_moment";
  static double value(double order, double x) { return bessel_k_moment(order, x); }
};

}  // namespace detail

struct i0_rule : rule<1> {
  static constexpr std::string_view name = "i0", text = "Modified Bessel function of the first kind, of order 0.",
                                    reference = "besseli(0, x)";
  static double value(double x) { return detail::bessel_i_over_power(0, x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return x * apply<detail::bessel_i_over_power_rule>(1.0, x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<i0_rule, X> i0(const X& x) {
  return apply<i0_rule>(x);
}

struct i1_rule : rule<1> {
  static constexpr std::string_view name = "i1", text = "Modified Bessel function of the first kind, of order 1.",
                                    reference = "besseli(1, x)";
  static double value(double x) { return std::isinf(x) ? x : x * detail::bessel_i_over_power(1, x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    const T before = i0(x);
    return either<T>(
        before < infinity, [&] { return T(before - apply<detail::bessel_i_over_power_rule>(1.0, x)); }, [&] { return before; });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<i1_rule, X> i1(const X& x) {
  return apply<i1_rule>(x);
}

struct i0e_rule : rule<1> {
  static constexpr std::string_view name = "i0e", text = "exp(-abs(x)) i0(x); its derivative at 0 is taken to be 0.",
                                    reference = "exp(-fabs(x)) * besseli(0, x)";
  static double value(double x) { return detail::i0e(std::abs(x)); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -detail::sign_of(x) * apply<detail::bessel_i_moment_rule>(1.0, abs(x));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<i0e_rule, X> i0e(const X& x) {
  return apply<i0e_rule>(x);
}

struct i1e_rule : rule<1> {
  static constexpr std::string_view name = "i1e", text = "exp(-abs(x)) i1(x).", reference = "exp(-fabs(x)) * besseli(1, x)";
  static double value(double x) { return std::copysign(detail::i1e(std::abs(x)), x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    const T size = abs(x);
    return apply<detail::bessel_i_moment_rule>(2.0, size) - apply<detail::bessel_i_moment_rule>(1.0, size);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<i1e_rule, X> i1e(const X& x) {
  return apply<i1e_rule>(x);
}

struct k0e_rule : rule<1> {
  static constexpr std::string_view name = "k0e", text = "exp(x) k0(x).", reference = "exp(x) * bessel_k(0, x)";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) { return detail::bessel_k_moment(0, x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -apply<detail::bessel_k_moment_rule>(1.0, x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<k0e_rule, X> k0e(const X& x) {
  return apply<k0e_rule>(x);
}

struct k1e_rule : rule<1> {
  static constexpr std::string_view name = "k1e", text = "exp(x) k1(x).", reference = "exp(x) * bessel_k(1, x)";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) { return detail::k1e(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -apply<detail::bessel_k_moment_rule>(1.0, x) - apply<detail::bessel_k_moment_rule>(2.0, x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<k1e_rule, X> k1e(const X& x) {
  return apply<k1e_rule>(x);
}

struct k0_rule;
template <class X>
AGRAD_ALWAYS_INLINE applied<k0_rule, X> k0(const X& x);

struct k1_rule : rule<1> {
  static constexpr std::string_view name = "k1", text = "Modified Bessel function of the second kind, of order 1.",
                                    reference = "bessel_k(1, x)";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) { return x < infinity ? std::exp(-x) * detail::k1e(x) : x == infinity ? 0 : x; }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return -k0(x) - value / x;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<k1_rule, X> k1(const X& x) {
  return apply<k1_rule>(x);
}

struct k0_rule : rule<1> {
  static constexpr std::string_view name = "k0", text = "Modified Bessel function of the second kind, of order 0.",
                                    reference = "bessel_k(0, x)";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) { return x < infinity ? std::exp(-x) * detail::bessel_k_moment(0, x) : x == infinity ? 0 : x; }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -k1(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<k0_rule, X> k0(const X& x) {
  return apply<k0_rule>(x);
}

namespace rules {
using bessel = typelist<i0_rule, i1_rule, i0e_rule, i1e_rule, k0_rule, k1_rule, k0e_rule, k1e_rule>;
}

}  // namespace agrad
