// Reductions along an axis: sums of lines whose entries are not consecutive, and products with correct derivatives at zeros.
//
// Sums of consecutive entries are `kernels::sum` in program/machine/structure.hpp. Read first: program/kernels/lines.hpp.
#pragma once

#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

extern const kernel sum_along;
extern const kernel product_along;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/reduction.ipp>
#endif
