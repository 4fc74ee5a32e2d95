// Owen's T function: the probability that one normal variable exceeds h while another is between 0 and a times it.
//
// Derivatives contain exp(-h^2 (1 + a^2) / 2), whose exponent is computed with more digits, because its size multiplies its
// relative error.
#pragma once

#include <agrad/rules/error/probit.hpp>
#include <agrad/rules/gamma/stirling.hpp>
#include <agrad/rules/gauss_legendre.hpp>

namespace agrad {

namespace detail {

/// Returns the integral of exp(-h^2 (1 + t^2) / 2) / (2 pi (1 + t^2)) over t from 0 to a, for h >= 0 and a >= 0.
inline double owens_t_integral(double h, double a) {
  constexpr double deepest = 9.2;
  if (a == infinity || h == infinity) return h == infinity ? 0 : 0.5 * ndtr(-h);
  const double end = std::fmin(a, deepest / h);
  // The nodes are too few close to the poles at i and -i; what is missing beyond a is another such integral (Owen 1956,
  // equation 2.3).
  if (end > 4) {
    const double tail = ndtr(-h), far_tail = ndtr(-a * h);
    return 0.5 * (tail + far_tail) - tail * far_tail - owens_t_integral(a * h, 1 / a);
  }
  double sum = 0;
  for (int i = 0; i < 32; ++i) {
    const double t = end * (0.5 + 0.5 * (i < 16 ? -gauss_nodes[i] : gauss_nodes[31 - i])), s = h * t;
    sum += gauss_weights[i < 16 ? i : 31 - i] * std::exp(-0.5 * s * s) / (1 + t * t);
  }
  return exp_of_square(h, -0.5) * (sum * end / (2 * two_pi));
}

inline double owens_t(double h, double a) {
  if (std::isnan(h) || std::isnan(a)) return quiet_nan;
  h = std::abs(h);
  return h == infinity ? std::copysign(0.0, a) : std::copysign(owens_t_integral(h, std::abs(a)), a);
}

/// exp(-h^2 (1 + a^2) / 2) / (2 pi).
struct owens_t_density_rule : rule<2> {
  static constexpr std::string_view name = "owens_t_density";
  static double value(double h, double a) {
    const long double wide_h = h, wide_a = a, square = h == 0 ? 0 : wide_h * wide_h * (1 + wide_a * wide_a);
    return static_cast<double>(0.159154943091895335768883763372514362L * std::exp(-square / 2));
  }
  template <class T>
  static T derivative(wrt<0>, const T& h, const T& a, const T& value) {
    return either<T>(
        value == 0, [&] { return value; }, [&] { return T(-h * (1.0 + a * a) * value); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& h, const T& a, const T& value) {
    return either<T>(
        value == 0, [&] { return value; }, [&] { return T(-a * (h * h) * value); });
  }
};

/// Minus the slope with respect to h: the normal density at h times the probability between 0 and a h.
struct owens_t_loss_rule : rule<2> {
  static constexpr std::string_view name = "owens_t_loss";
  static double value(double h, double a) {
    const double density = 0.5 * inv_sqrt_two_pi * exp_of_square(h, -0.5);
    return density == 0 ? density : density * (h == 0 ? std::copysign(0.0, a) : std::erf(a * h * inv_sqrt_2));
  }
  template <class T>
  static T derivative(wrt<0>, const T& h, const T& a, const T& value) {
    const T density = apply<owens_t_density_rule>(h, a);
    const T first = either<T>(
        density == 0, [&] { return density; }, [&] { return T(a * density); });
    return either<T>(
        value == 0, [&] { return first; }, [&] { return T(first - h * value); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& h, const T& a, const T&) {
    return h * apply<owens_t_density_rule>(h, a);
  }
};

}  // namespace detail

struct owens_t_rule : rule<2> {
  static constexpr std::string_view name = "owens_t",
                                    text =
                                        "Owen's T function: the integral of exp(-x^2 (1 + t^2) / 2) / (2 pi (1 + t^2)) over "
                                        "t from 0 to y.",
                                    reference = "owens_t(x, y)",
                                    source =
                                        "Owen (1956), Annals of Mathematical Statistics 27:1075, by Gauss-Legendre "
                                        "quadrature";
  static double value(double x, double y) { return detail::owens_t(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return -apply<detail::owens_t_loss_rule>(x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return apply<detail::owens_t_density_rule>(x, y) / (1.0 + y * y);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<owens_t_rule, X, Y> owens_t(const X& x, const Y& y) {
  return apply<owens_t_rule>(x, y);
}

namespace rules {
using owens_t = typelist<owens_t_rule>;
}

}  // namespace agrad
