// Definitions of program/kernels/log_shares.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/lines.hpp>
#include <agrad/program/kernels/log_shares.hpp>
#include <agrad/program/machine/by_duals.hpp>
#include <agrad/rules/arrays/log_shares.hpp>

namespace agrad::kernels {

/// integers = {length, inner}; operands: x and the counts, which have the same shape.
template <class S>
struct log_shares_loops {
  static bool fits(const operation_view& v) { return lines::fit_reduced(v, 2); }
  struct line {
    const S* first;
    std::size_t inner;
    const S& operator()(std::size_t j) const { return first[j * inner]; }
  };
  struct count_line {
    line of;
    double operator()(std::size_t j) const { return agrad::detail::number_of(of(j)); }
  };
  static line line_of(const operation& op, const S* values, const lines& over, std::uint32_t i, int operand) {
    return {values + op.operands[operand].first + over.begin(i), over.inner};
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::reduced(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i)
      values[op.result + i] = agrad::detail::sum_of_log_shares<S>(over.length, count_line{line_of(op, values, over, i, 1)},
                                                                  line_of(op, values, over, i, 0));
  }
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    if (!op.operands[0].active) return;
    const lines over = lines::reduced(op, context);
    std::vector<S> powers(over.length);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const S& seed = adjoints[op.result + i];
      if (is_constant_zero(seed)) continue;
      S* x = adjoints + op.operands[0].first + over.begin(i);
      agrad::detail::slopes_of_log_shares<S>(over.length, count_line{line_of(op, values, over, i, 1)},
                                             line_of(op, values, over, i, 0), powers.data(),
                                             [&](std::size_t j, const S& slope) { x[j * over.inner] += seed * slope; });
    }
  }
};

AGRAD_INLINE constexpr kernel log_shares_along = make<log_shares_loops>("log shares", {dependence::along_lines});

}  // namespace agrad::kernels
