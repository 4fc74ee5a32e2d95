// Bessel functions of the first and second kind, of whole orders.
//
// The C library computes them; long double, where it has more digits, keeps the digits between the roots for all orders.
// A derivative is half of the difference of the neighbours' values (DLMF 10.6.1).
#pragma once

#include <cmath>
#include <limits>

#include <agrad/rules/exponential.hpp>

namespace agrad {

namespace detail {

#if defined(__MINGW32__) && defined(__STRICT_ANSI__)
extern "C" double jn(int, double);  // the library has them, and -std=c++17 hides their declarations
extern "C" double yn(int, double);
#endif

/// The largest order: the time grows with the order.
inline constexpr double highest_bessel_order = 100000;

inline double bessel_j(double order, double x) {
  if (!(std::abs(order) <= highest_bessel_order && order == std::floor(order)) || std::isnan(x)) return quiet_nan;
  const int n = static_cast<int>(std::abs(order));
  if (std::isinf(x)) return 0;
  const double sign = n % 2 != 0 && (order < 0) != (x < 0) ? -1 : 1;
#ifdef __GLIBC__
  return sign * static_cast<double>(jnl(n, std::abs(x)));
#else
  return sign * jn(n, std::abs(x));
#endif
}

inline double bessel_y(double order, double x) {
  if (!(std::abs(order) <= highest_bessel_order && order == std::floor(order) && x >= 0)) return quiet_nan;
  const int n = static_cast<int>(std::abs(order));
  const double sign = n % 2 != 0 && order < 0 ? -1 : 1;
  if (x == 0 || std::isinf(x)) return x == 0 ? -sign * infinity : 0;
#ifdef __GLIBC__
  return sign * static_cast<double>(ynl(n, x));
#else
  return sign * yn(n, x);
#endif
}

}  // namespace detail

struct bessel_first_kind_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "bessel_first_kind",
                                    text = "Bessel function of the first kind, of a whole order x up to 100000, at y.",
                                    reference = "bessel_j(int(x), y)", ufunc = no_ufunc,
                                    source = "the C library; derivatives by DLMF 10.6.1";
  static constexpr interval domain[] = {{-infinity, infinity, true}, {}};
  static double value(double x, double y) { return detail::bessel_j(x, y); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return 0.5 * (apply<bessel_first_kind_rule>(x - 1.0, y) - apply<bessel_first_kind_rule>(x + 1.0, y));
  }
};
/// The order is a whole number: an int, not a variable.
template <class X>
AGRAD_ALWAYS_INLINE applied<bessel_first_kind_rule, double, X> bessel_first_kind(int order, const X& x) {
  return apply<bessel_first_kind_rule>(static_cast<double>(order), x);
}

struct bessel_second_kind_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "bessel_second_kind",
                                    text = "Bessel function of the second kind, of a whole order x up to 100000, at y.",
                                    reference = "bessel_y(int(x), y)", ufunc = no_ufunc,
                                    source = bessel_first_kind_rule::source;
  static constexpr interval domain[] = {{-infinity, infinity, true}, {0, infinity}};
  static double value(double x, double y) { return detail::bessel_y(x, y); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return either<T>(
        y > 0,
        [&] { return T(0.5 * (apply<bessel_second_kind_rule>(x - 1.0, y) - apply<bessel_second_kind_rule>(x + 1.0, y))); },
        [&] { return T(quiet_nan); });
  }
};
/// The order is a whole number: an int, not a variable.
template <class X>
AGRAD_ALWAYS_INLINE applied<bessel_second_kind_rule, double, X> bessel_second_kind(int order, const X& x) {
  return apply<bessel_second_kind_rule>(static_cast<double>(order), x);
}

namespace rules {
using bessel_integer = typelist<bessel_first_kind_rule, bessel_second_kind_rule>;
}

}  // namespace agrad
