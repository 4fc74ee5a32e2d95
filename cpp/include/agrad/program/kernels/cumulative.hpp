// Cumulative sums and products along an axis.
//
// Both reverse passes take one loop without divisions: with y_j = x_1 ... x_j and seeds s_j, the adjoint of x_j is y_{j-1} t_j
// where t_j = s_j + x_{j+1} t_{j+1}. Read first: program/kernels/lines.hpp.
#pragma once

#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

extern const kernel cumulative_sum;
extern const kernel cumulative_product;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/cumulative.ipp>
#endif
