// Definitions of program/kernels/product.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/product_loops.hpp>

namespace agrad::kernels {

AGRAD_INLINE constexpr kernel product = make_of<agrad::detail::product_loops>("product", {dependence::product})
                                            .with_rows(agrad::detail::product_loops::rows_of_vector);

}  // namespace agrad::kernels
