// Lines: an array as lines of entries along one of its axes, for reductions and cumulative operations.
//
// An array of C order is outer x length x inner, where outer and inner are the products of the lengths of the axes before and
// after the axis of the lines; the entries of a line are `inner` slots apart. An operation on lines has the integers {length,
// inner}; the size of its result determines the number of lines. Kernels on lines: program/kernels/reduction.hpp,
// cumulative.hpp, extremum.hpp, log_sum_exp.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <agrad/program/machine/operation.hpp>

namespace agrad::kernels {

struct lines {
  std::uint32_t length, inner, count;

  /// Returns the lines of an operation whose result has one entry per line.
  static lines reduced(const operation& op, const run_context& context) {
    return {context.integers[op.data], context.integers[op.data + 1], op.count};
  }
  /// Returns the lines of an operation whose result has the shape of the operand (or consists of `parts` such arrays).
  static lines whole(const operation& op, const run_context& context, std::uint32_t parts = 1) {
    const std::uint32_t length = context.integers[op.data], inner = context.integers[op.data + 1];
    return {length, inner, length == 0 ? 0 : op.count / parts / length};
  }
  /// Returns whether an operation has {length, inner}, one result per line, and operands of all lines with at least `least`
  /// entries.
  static bool fit_reduced(const operation_view& v, std::uint32_t arity, std::uint32_t least = 0) {
    if (!v.has(arity, 2)) return false;
    const std::uint32_t length = v.integers[0], inner = v.integers[1], n = v.op.count;
    bool fits = v.is_count(length) && v.is_count(inner) && (n == 0 || (length >= least && inner > 0 && n % inner == 0));
    for (std::uint32_t k = 0; k < arity; ++k) fits = fits && v.is_dense(k, std::uint64_t{n} * length);
    return fits;
  }
  /// Returns whether an operation has {length, inner} and a result of the operand's shape, or `parts` such arrays.
  static bool fit_whole(const operation_view& v, std::uint32_t parts = 1) {
    if (!v.has(1, 2) || v.op.count % parts != 0) return false;
    const std::uint32_t length = v.integers[0], inner = v.integers[1], n = v.op.count / parts;
    const std::uint64_t block = std::uint64_t{length} * inner;
    return v.is_count(length) && v.is_count(inner) && (n == 0 || (block > 0 && n % block == 0)) && v.is_dense(0, n);
  }
  /// Returns the offset of the first entry of line i.
  std::size_t begin(std::uint32_t i) const { return std::size_t{i / inner} * length * inner + i % inner; }
};

}  // namespace agrad::kernels
