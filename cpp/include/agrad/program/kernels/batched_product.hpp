// Products of many matrices at once, for np.matmul and np.einsum.
//
// integers = {rows of a, columns of a, columns of b, number of products, whether the matrices a differ, whether the matrices b
// differ}: an operand is either one matrix per product, one after the other, or one matrix for all. Read first:
// program/kernels/product.hpp, which computes each product.
#pragma once

#include <agrad/program/machine/operation.hpp>

namespace agrad::kernels {

extern const kernel batched_product;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/batched_product.ipp>
#endif
