// Moments of the inverse tangent: the derivatives of atan(w) / w as a function of s = w^2.
//
// atan(w) / w is the integral of 1 / (1 + s t^2) over t from 0 to 1. Its derivatives are integrals of one sign, which are
// computed as such: the derivatives of the quotient would cancel for small w.
#pragma once

#include <agrad/rules/exponential.hpp>

namespace agrad::detail {

/// Returns the integral of t^(2 n) / (1 + s t^2)^(n + 1) over [0, 1], for 0 <= s <= 1: by Pfaff's transformation (DLMF 15.8.1)
/// a series of positive terms in x = s / (1 + s).
inline double atan_moment(double order, double s) {
  const double x = s / (1 + s);
  double coefficient = 1, sum = 0, term = 1;
  for (int k = 0; term > 1e-17 * sum; ++k) {
    term = coefficient / (2 * (order + k) + 1);
    sum += term;
    coefficient *= x * (k + 0.5) / (k + 1);
  }
  return sum * std::pow(1 + s, -(order + 0.5));
}

struct atan_moment_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "atan_moment";
  static double value(double order, double s) { return s >= 0 && s <= 1 ? atan_moment(order, s) : quiet_nan; }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& s, const T&) {
    return -(order + 1.0) * apply<atan_moment_rule>(order + 1.0, s);
  }
};

}  // namespace agrad::detail
