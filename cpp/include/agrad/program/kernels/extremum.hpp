// Extremes and order along an axis: max, min, their places, and sorting.
//
// The order is determined at each run. Entries that share an extreme share its derivative equally, as the two arguments of
// maximum(x, y) do. As in NumPy, sorting puts nan after all numbers, and a line with nan has the extreme nan. Read first:
// program/kernels/lines.hpp.
#pragma once

#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

extern const kernel max_along;
extern const kernel min_along;
extern const kernel argmax_along;
extern const kernel argmin_along;
extern const kernel sort_along;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/extremum.ipp>
#endif
