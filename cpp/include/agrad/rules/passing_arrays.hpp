// Passing arrays: products of slopes with adjoints or tangents (rules/passing.hpp), several side by side.
//
// GCC makes packets of a loop over `passed` with AVX-512 alone: with AVX2 such a loop takes eight times as long as here.
#pragma once

#include <cstddef>

#include <agrad/base/lanes.hpp>
#include <agrad/rules/passing.hpp>

namespace agrad::detail {

template <std::size_t N>
AGRAD_ALWAYS_INLINE lanes<N> passed(const lanes<N>& slope, const lanes<N>& x) {
  const lanes<N> zero = lanes<N>::same(0);
  return lanes<N>::chosen(slope == zero, zero, lanes<N>::chosen(x == zero, zero, slope * x));
}

/// Computes the products of n slopes and adjoints; `to` may be the slopes.
inline void pass_entries(std::size_t n, const double* slopes, const double* adjoints, double* to) {
  constexpr std::size_t size = 8;
  using all = lanes<size>;
  std::size_t i = 0;
  for (; i + size <= n; i += size) passed(all::load(slopes + i), all::load(adjoints + i)).store(to + i);
  for (; i < n; ++i) to[i] = passed(slopes[i], adjoints[i]);
}

/// Adds the products of n slopes and adjoints.
inline void add_passed_entries(std::size_t n, const double* slopes, const double* adjoints, double* to) {
  constexpr std::size_t size = 8;
  using all = lanes<size>;
  std::size_t i = 0;
  for (; i + size <= n; i += size) (all::load(to + i) + passed(all::load(slopes + i), all::load(adjoints + i))).store(to + i);
  for (; i < n; ++i) to[i] += passed(slopes[i], adjoints[i]);
}

/// Adds the products of n slopes and one adjoint.
inline void add_passed_entries(std::size_t n, const double* slopes, double adjoint, double* to) {
  constexpr std::size_t size = 8;
  using all = lanes<size>;
  const all same = all::same(adjoint);
  std::size_t i = 0;
  for (; i + size <= n; i += size) (all::load(to + i) + passed(all::load(slopes + i), same)).store(to + i);
  for (; i < n; ++i) to[i] += passed(slopes[i], adjoint);
}

/// Compute and add the products of n finite slopes and eight tangents each, which are `step` numbers apart. With a finite slope
/// other than zero, the ordinary product is the passed one for every tangent, so only the slope is tested.
inline void multiply_eight_tangents(std::size_t n, const double* slopes, const double* tangents, std::size_t step, double* to) {
  using all = lanes<8>;
  for (std::size_t i = 0; i < n; ++i, tangents += step, to += 8)
    if (slopes[i] == 0)
      all::same(0).store(to);
    else
      (all::same(slopes[i]) * all::load(tangents)).store(to);
}
inline void add_multiplied_eight_tangents(std::size_t n, const double* slopes, const double* tangents, std::size_t step,
                                          double* to) {
  using all = lanes<8>;
  for (std::size_t i = 0; i < n; ++i, tangents += step, to += 8)
    if (slopes[i] != 0) (all::load(to) + all::same(slopes[i]) * all::load(tangents)).store(to);
}

/// Adds the products of a slope and a number's `Width` tangents.
template <std::size_t Width>
AGRAD_ALWAYS_INLINE void add_passed_tangents(double slope, const double* tangents, double* to) {
  constexpr std::size_t first = Width >= 8 ? 8 : Width >= 4 ? 4 : Width >= 2 ? 2 : 1;
  if constexpr (first == 1) {
    *to += passed(slope, *tangents);
  } else {
    using all = lanes<first>;
    (all::load(to) + passed(all::same(slope), all::load(tangents))).store(to);
  }
  if constexpr (Width > first) add_passed_tangents<Width - first>(slope, tangents + first, to + first);
}

/// Adds the tangents of the product of a slope and an adjoint, which both have `Width` tangents, 1 or a power of two.
template <std::size_t Width>
AGRAD_ALWAYS_INLINE void add_tangents_of_passed(double slope, const double* slope_tangents, double adjoint,
                                                const double* adjoint_tangents, double* to) {
  if constexpr (Width == 1) {
    *to += passed(*slope_tangents, adjoint) + passed(slope, *adjoint_tangents);
  } else {
    using all = lanes<Width>;
    const all of_slope = passed(all::load(slope_tangents), all::same(adjoint));
    (all::load(to) + (of_slope + passed(all::same(slope), all::load(adjoint_tangents)))).store(to);
  }
}

}  // namespace agrad::detail
