// The upper tail of Student's t distribution and its logarithm as internal rules, with derivatives up to order 2.
//
// The functions of doubles are in rules/special/student_tail.hpp.
#pragma once

#include <agrad/rules/gamma/gamma.hpp>
#include <agrad/rules/special/student_tail.hpp>

namespace agrad::detail {

/// Derivative (m, j, k) with respect to nu, distance and scale of the tail beyond distance / scale, or of its logarithm; orders
/// above 2 are nan.
template <bool is_log, int m, int j, int k>
struct student_tail_rule : rule<3> {
  static constexpr auto letters = with_digits<m, j, k>(is_log ? "student_log_tail" : "student_tail");
  static constexpr std::string_view name = letters.data();
  static double value(double nu, double distance, double scale) {
    return student_tail_derivative(nu, distance, scale, is_log, m, j, k);
  }
  static double value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>&, double nu, double distance,
                                 double scale) {
    const auto of = [&](const auto& tail) {
      slopes.fill(quiet_nan);
      if constexpr (m + j + k < 2) slopes = {tail(m + 1, j, k), tail(m, j + 1, k), tail(m, j, k + 1)};
      return tail(m, j, k);
    };
    const double t = distance / scale;
    if (m + j + k == 0 && has_student_series(nu, distance, scale)) {
      const student_tail_slopes<double> tail = student_tail_of_number(nu, t, is_log);
      slopes = {tail.of_nu, tail.of_z / scale, -tail.of_log_z / scale};
      return tail.value;
    }
    if (is_student_limit(nu, t)) return of([&](int a, int b, int c) { return student_limit(nu, t, is_log, a + b + c); });
    const student_tail tail(nu, distance, scale);
    return of([&](int a, int b, int c) { return tail.derivative(is_log, a, b, c); });
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T& nu, const T& distance, const T& scale, const T&) {
    if constexpr (m + j + k == 2)
      return T(quiet_nan);
    else
      return apply<student_tail_rule<is_log, m + (I == 0), j + (I == 1), k + (I == 2)>>(nu, distance, scale);
  }
};

}  // namespace agrad::detail
