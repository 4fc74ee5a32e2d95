// Lookups: linear interpolation in a table, places in a table and the entries there, and sums into places that are known at
// recording.
//
// A lookup finds its place by bisection and touches the entries there only, so tables may be long.
#pragma once

#include <agrad/base/error.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

/// A place is not in the table. In Python also an IndexError.
struct PlaceError : DomainError {
  using DomainError::DomainError;
};

}  // namespace agrad

namespace agrad::kernels {

extern const kernel interpolation;        // np.interp
extern const kernel interpolation_slope;  // its derivative
extern const kernel search;               // np.searchsorted
extern const kernel pick;                 // table[place]
extern const kernel scatter_add;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/lookup.ipp>
#endif
