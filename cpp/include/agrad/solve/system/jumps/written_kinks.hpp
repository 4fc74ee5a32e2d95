// Written kinks: a right-hand side whose operations with many kinks are written by maximum and minimum.
//
// max and min along an axis, and sorting, are one operation for a line of numbers, and a polygon (np.interp) is one for a
// table. Where states decide, such an operation has as many kinks as pairs of numbers can meet, or as the table has points.
// Written as a chain of maximum or minimum, as a sorting network, or as a sum over the pieces of the polygon, each kink is that
// of one operation, which can be held. Long lines to be sorted stay, because their network is quadratic, and so do long tables.
// Read next: solve/system/jumps/held_code.hpp.
#pragma once

#include <cstddef>
#include <memory>

#include <agrad/program/program.hpp>

namespace agrad {

/// Returns a right-hand side of (t, n states, parameters) with such operations written out; f where there are none.
std::shared_ptr<const program> with_written_kinks(std::shared_ptr<const program> f, std::size_t n);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/written_kinks.ipp>
#endif
