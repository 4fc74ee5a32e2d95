// Tails of Student's t distribution, eight at once: the logarithms of the distribution function and of its complement.
//
// The formulas are those of rules/special/student_series.hpp, for the tail beyond (mu - y) / sigma or (y - mu) / sigma.
// Read first: probability/octets.hpp.
#pragma once

#include <agrad/probability/octets.hpp>
#include <agrad/rules/special/student_series.hpp>

namespace agrad::detail {

/// Formulas for the logarithm of the probability of a value up to y, or beyond it.
template <bool is_upper>
struct student_tail_octets : octet_formulas<4> {
  static constexpr bool fills_last = true;
  template <class S>
  static std::array<S, 2> prepare(const parts&, const each<S>& x) {
    return student_constants(x[1]);
  }
  static auto suits(const each<>& x) { return has_student_series(x[1], x[0] - x[2], x[3]); }
  static octet term(const std::array<octet, 2>& prepared, const each<>& x, const parts&, each<>& slope) {
    const octet inverse = 1.0 / x[3], distance = is_upper ? x[0] - x[2] : x[2] - x[0];
    const student_tail_slopes<octet> tail = student_tail_by_series(prepared, x[1], distance * inverse, true);
    const octet of_distance = tail.of_z * inverse;
    slope[0] = is_upper ? of_distance : -of_distance;
    slope[1] = tail.of_nu;
    slope[2] = -slope[0];
    slope[3] = -tail.of_log_z * inverse;
    return tail.value;
  }
};

}  // namespace agrad::detail
