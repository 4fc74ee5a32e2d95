// Logarithms of shares along an axis, weighted and added up: sum_j c_j log(exp(x_j) / sum_i exp(x_i)) of each line.
//
// The counts c are data, without derivatives. It is the operation of log masses by log odds: a category has counts of 0 and 1.
// A nearly certain category keeps its digits, see rules/arrays/log_shares.hpp. Read first: program/kernels/lines.hpp.
#pragma once

#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

extern const kernel log_shares_along;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/log_shares.ipp>
#endif
