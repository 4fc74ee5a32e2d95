// Product: matrix multiplication as one operation. integers = {rows of a, columns of a, columns of b}; all are row-major.
// Read next: program/kernels/product_loops.hpp.
#pragma once

#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

extern const kernel product;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/product.ipp>
#endif
