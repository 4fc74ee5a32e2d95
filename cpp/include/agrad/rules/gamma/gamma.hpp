// Gamma function, its logarithm, and the derivatives of the logarithm: digamma and polygamma.
//
// <cmath> has the first two. The others are in rules/polygamma.hpp, because Boost would be a dependency for two functions and
// the usual short recurrences have no correct digit near digamma's root at 1.46.
#pragma once

#include <agrad/rules/density/gamma_octets.hpp>
#include <agrad/rules/density/lgamma_octet.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/polygamma.hpp>

namespace agrad {

struct polygamma_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "polygamma",
                                    text = "Derivative of order x (a whole number from 0 to 100) of digamma at y.",
                                    reference =  // mpmath's function takes for ever at large negative y
                                    "polygamma(int(x), y) if y > 0 else"
                                    " (-1) ** int(x) * polygamma(int(x), 1 - y) - diff(lambda t: pi * cot(pi * t), y, int(x))",
                                    source =
                                        "recurrence and asymptotic series, DLMF 5.15.5 and 5.15.9; reflection, DLMF 5.15.6";
  static constexpr interval domain[] = {{0, detail::highest_polygamma, true}, {}};
  static double value(double x, double y) { return detail::polygamma(x, y); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return apply<polygamma_rule>(x + 1.0, y);
  }
};
/// The order is a whole number: an int, not a variable.
template <class X>
AGRAD_ALWAYS_INLINE applied<polygamma_rule, double, X> polygamma(int order, const X& x) {
  return apply<polygamma_rule>(static_cast<double>(order), x);
}

struct digamma_rule : rule<1> {
  static constexpr std::string_view name = "digamma", text = "Logarithmic derivative of the gamma function.", ufunc = "psi",
                                    source = "recurrence, reflection and asymptotic series, DLMF 5.5.2, 5.5.4 and 5.11.2";
  static double value(double x) { return detail::digamma(x); }
  static constexpr bool needs_wide_packets = true;
  static constexpr interval packets{1e-300, 1e300};
  template <class A>
  static auto values(const A& x) {
    return detail::by_octets(x, [](const detail::octet& of) { return detail::digamma_octet(of); });
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return polygamma(1, x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<digamma_rule, X> digamma(const X& x) {
  return apply<digamma_rule>(x);
}

struct trigamma_rule : rule<1> {
  static constexpr std::string_view name = "trigamma", text = "Derivative of digamma.",
                                    reference = "polygamma(1, x) if x > 0 else -polygamma(1, 1 - x) + (pi / sin(pi * x)) ** 2",
                                    ufunc = no_ufunc, source = polygamma_rule::source;
  static double value(double x) { return detail::polygamma(1, x); }
  static constexpr bool needs_wide_packets = true;
  static constexpr interval packets{1e-300, 1e300};
  template <class A>
  static auto values(const A& x) {
    return detail::by_octets(x, [](const detail::octet& of) { return detail::trigamma_octet(of); });
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return polygamma(2, x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<trigamma_rule, X> trigamma(const X& x) {
  return apply<trigamma_rule>(x);
}

struct tgamma_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "tgamma", text = "Gamma function.", reference = "gamma(x)", ufunc = "gamma";
  static double value(double x) { return std::tgamma(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return value * digamma(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<tgamma_rule, X> tgamma(const X& x) {
  return apply<tgamma_rule>(x);
}

struct lgamma_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "lgamma", text = "Logarithm of the absolute value of the gamma function.",
                                    reference = "log(fabs(gamma(x)))", ufunc = "gammaln";
  static double value(double x) {
#ifdef __GLIBC__
    int sign;
    return lgamma_r(x, &sign);  // std::lgamma writes the sign to a global variable, a race between threads
#else
    return std::lgamma(x);
#endif
  }
  static constexpr bool needs_wide_packets = true;
  static constexpr interval packets{1e-300, 1e300};
  template <class A>
  static auto values(const A& x) {
    return detail::by_octets(x, [](const detail::octet& of) { return detail::lgamma_octet(of); });
  }
  template <class A, class V>
  static auto derivatives(wrt<0>, const A& x, const V&) {
    return detail::by_octets(x, [](const detail::octet& of) { return detail::digamma_octet(of); });
  }
  template <class A, class V>
  static auto second_derivatives(wrt<0>, wrt<0>, const A& x, const V&) {
    return detail::by_octets(x, [](const detail::octet& of) { return detail::trigamma_octet(of); });
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return digamma(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<lgamma_rule, X> lgamma(const X& x) {
  return apply<lgamma_rule>(x);
}

namespace rules {
using gamma = typelist<tgamma_rule, lgamma_rule, digamma_rule, trigamma_rule, polygamma_rule>;
}

}  // namespace agrad
