// Definitions of solve/solver/zero_search.hpp.
#pragma once

#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/zero_search.hpp>

namespace agrad::detail {

AGRAD_INLINE double step_cubic::operator()(double x) const {
  const double u = 1 - x;
  return u * u * ((1 + 2 * x) * begin + x * begin_slope) + x * x * ((3 - 2 * x) * end - u * end_slope);
}

AGRAD_INLINE int step_cubic::corners(std::array<double, 3>& at) const {
  const double rise = end - begin, a = 3 * (begin_slope + end_slope - 2 * rise),
               half_b = 3 * rise - 2 * begin_slope - end_slope;
  const double c = begin_slope, inside = half_b * half_b - a * c;
  int count = 0;
  if (inside > 0) {
    const double q = -(half_b + std::copysign(std::sqrt(inside), half_b));
    double first = a != 0 ? q / a : -1, second = q != 0 ? c / q : -1;
    if (first > second) std::swap(first, second);
    for (const double x : {first, second})
      if (x > 0 && x < 1) at[static_cast<std::size_t>(count++)] = x;
  }
  at[static_cast<std::size_t>(count++)] = 1;
  return count;
}

AGRAD_INLINE double step_cubic::root(double low, double high) const {
  const bool rises = (*this)(high) > 0;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    ((*this)(middle) > 0) == rises ? high = middle : low = middle;
  }
  return (low + high) / 2;
}

}  // namespace agrad::detail
