// The upper tail of Student's t distribution and its logarithm as internal rules, with derivatives up to order 2.
//
// The functions of doubles are in rules/student_tail.hpp.
#pragma once

#include <agrad/rules/gamma.hpp>
#include <agrad/rules/student_tail.hpp>

namespace agrad::detail {

/// Derivative (m, k) with respect to nu and t of the tail beyond t, or of its logarithm; orders above 2 are nan.
template <bool is_log, int m, int k>
struct student_tail_rule : rule<2> {
  static constexpr auto letters = with_digits<m, k>(is_log ? "student_log_tail" : "student_tail");
  static constexpr std::string_view name = letters.data();
  static double value(double nu, double t) { return student_tail_derivative(nu, t, is_log, m, k); }
  static double value_and_slopes(std::array<double, 2>& slopes, const std::array<bool, 2>&, double nu, double t) {
    const auto of = [&](const auto& tail) {
      slopes = {m + k < 2 ? tail(m + 1, k) : quiet_nan, m + k < 2 ? tail(m, k + 1) : quiet_nan};
      return tail(m, k);
    };
    if (is_student_limit(nu, t)) return of([&](int i, int j) { return student_limit(nu, t, is_log, i, j); });
    const student_tail tail(nu, t);
    return of([&](int i, int j) { return tail.derivative(is_log, i, j); });
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T& nu, const T& t, const T&) {
    if constexpr (m + k == 2)
      return T(quiet_nan);
    else
      return apply<student_tail_rule<is_log, m + (I == 0), k + (I == 1)>>(nu, t);
  }
};

}  // namespace agrad::detail
