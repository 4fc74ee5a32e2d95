// Jacobians of programs: columns by tangents, eight at a time, or rows by adjoints.
#pragma once

#include <algorithm>
#include <vector>

#include <agrad/program/program.hpp>

namespace agrad {

/// Computes y = f(x) and the columns [first, first + count) of the Jacobian, row-major m x count, by ceil(count / 8) tangent
/// passes.
void jacobian_columns(const program& f, workspace& w, const double* x, std::size_t first, std::size_t count, double* y,
                      double* entries);

/// Returns whether the Jacobian takes fewer passes by tangents, eight columns in each, than by adjoints, one for each row.
inline bool are_tangents_fewer(const program& f) { return (f.input_size() + lane_count - 1) / lane_count < f.output_size(); }

/// Computes y = f(x) and the whole Jacobian, row-major m x n, by tangents.
void jacobian_by_tangents(const program& f, workspace& w, const double* x, double* y, double* entries);

/// Does the same by a reverse pass for each row, or by one reverse pass for several rows where the program has external
/// operations.
void jacobian_by_adjoints(const program& f, workspace& w, const double* x, double* y, double* entries);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/jacobian.ipp>
#endif
