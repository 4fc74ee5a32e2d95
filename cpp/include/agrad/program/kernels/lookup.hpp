// Lookups: linear interpolation in a table, and sums into places that are known at recording.
#pragma once

#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

extern const kernel interpolation;
extern const kernel scatter_add;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/lookup.ipp>
#endif
