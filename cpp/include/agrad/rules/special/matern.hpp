// Matern correlations as functions of the squared distance.
//
// The argument is the squared distance, because the functions are smooth in the square where the distance, a square root, is
// not smooth: where points coincide, the first derivatives are finite, and infinite second ones meet the derivative 0 of a
// squared distance. Each derivative is a function of the same kind, so that no digits cancel, neither near 0 nor far from it.
#pragma once

#include <agrad/rules/exponential.hpp>
#include <agrad/rules/power.hpp>

namespace agrad {

struct matern32_rule : rule<1> {
  static constexpr std::string_view name = "matern32",
                                    text =
                                        "Matern correlation of smoothness 3/2 at the squared distance x, with length scale 1.",
                                    reference = "(1 + sqrt(3 * x)) * exp(-sqrt(3 * x))",
                                    source = "Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, eq. 4.17";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) {
    const double u = std::sqrt(3 * x);
    return u > 800 ? 0 : (1 + u) * std::exp(-u);  // the product would be nan at infinity
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -1.5 * exp(-sqrt(3.0 * x));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<matern32_rule, X> matern32(const X& x) {
  return apply<matern32_rule>(x);
}

struct matern52_rule : rule<1> {
  static constexpr std::string_view name = "matern52",
                                    text =
                                        "Matern correlation of smoothness 5/2 at the squared distance x, with length scale 1.",
                                    reference = "(1 + sqrt(5 * x) + 5 * x / 3) * exp(-sqrt(5 * x))",
                                    source = "Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, eq. 4.17";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) {
    const double u = std::sqrt(5 * x);
    return u > 800 ? 0 : (1 + u + u * u / 3) * std::exp(-u);
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -(5.0 / 6) * matern32((5.0 / 3) * x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<matern52_rule, X> matern52(const X& x) {
  return apply<matern52_rule>(x);
}

namespace rules {
using matern = typelist<matern32_rule, matern52_rule>;
}

}  // namespace agrad
