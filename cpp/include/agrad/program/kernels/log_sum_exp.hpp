// Logarithms of sums of exponentials along an axis, log(sum_j b_j exp(x_j)) with optional weights b_j.
//
// The largest x_j is subtracted, and without weights its term 1 is left out of the logarithm's sum (log1p), so that large
// arguments do not overflow and sums close to 1 lose no digits. Entries of -inf add nothing; a line with only -inf is -inf and
// has zero derivatives. Several entries of +inf share the derivative equally. Read first: program/kernels/lines.hpp.
#pragma once

#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

extern const kernel log_sum_exp_along;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/log_sum_exp.ipp>
#endif
