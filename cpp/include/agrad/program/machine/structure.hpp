// Structure: operations that move or sum entries (gather, sum), that check the path (guard), and the external operation.
//
// Reshaping, slicing, transposing and joining are not operations: recorded arrays know the slots of their entries, and a gather
// copies the slots only where an operation needs consecutive slots.
// Read next: program/kernels/product.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <agrad/program/machine/by_duals.hpp>

namespace agrad {

namespace detail {

/// Marks the numbers that have changed.
inline void mark_changes(const double* before, const double* now, std::size_t n, double* marks) {
  for (std::size_t i = 0; i < n; ++i)
    if (!(now[i] == before[i])) marks[i] = 1;
}

/// Moves `width` numbers for each slot: result[i] = space[integers[i]].
struct gather_loops {
  static bool fits(const operation_view& v) {
    return v.has(0, v.op.count) && std::all_of(v.integers, v.integers + v.op.count, [&](slot s) { return v.is_ready(s); });
  }
  static void move(const operation& op, const run_context& context, double* space, std::size_t width) {
    const std::uint32_t* from = context.integers + op.data;
    double* to = space + op.result * width;
    for (std::size_t i = 0; i < op.count; ++i)
      for (std::size_t k = 0; k < width; ++k) to[i * width + k] = space[from[i] * width + k];
  }
  static void move_back(const operation& op, const run_context& context, double* space, std::size_t width) {
    const std::uint32_t* to = context.integers + op.data;
    const double* from = space + op.result * width;
    for (std::size_t i = 0; i < op.count; ++i)
      for (std::size_t k = 0; k < width; ++k) space[to[i] * width + k] += from[i * width + k];
  }
  static void forward(const operation& op, const run_context& context, double* values) { move(op, context, values, 1); }
  static void reverse(const operation& op, const run_context& context, const double*, double* adjoints) {
    move_back(op, context, adjoints, 1);
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double*, double* tangents) {
    move(op, context, tangents, Width);
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    move_back(op, context, w.adjoints, 1);
    move_back(op, context, w.adjoint_tangents, Width);
  }
};

/// Sums consecutive groups of entries: integers = {size of a group}. The sums of two halves are added, so rounding errors grow
/// with the logarithm of the length; blocks of 256 entries have eight partial sums, so that additions need not wait for each
/// other. The order depends on the length alone. Tiles add block by block in the same order (program/tiles/run.hpp).
struct sum_loops {
  static bool fits(const operation_view& v) {
    return v.has(1, 1) && v.is_count(v.integers[0]) && v.is_dense(0, std::uint64_t{v.op.count} * v.integers[0]);
  }
  static constexpr std::size_t block_length = 256;

  /// Returns how many of several blocks are in the first half.
  static std::size_t first_half(std::size_t blocks) { return blocks / 2; }
  /// Sums entries of `Width` numbers.
  template <std::size_t Width>
  static void sum_of(const double* x, std::size_t length, double* sum) {
    if (length > block_length) {
      const std::size_t half = first_half((length + block_length - 1) / block_length) * block_length;
      double other[Width];
      sum_of<Width>(x, half, sum);
      sum_of<Width>(x + half * Width, length - half, other);
      for (std::size_t k = 0; k < Width; ++k) sum[k] += other[k];
      return;
    }
    double part[8 * Width] = {};
    std::size_t j = 0;
    for (; j + 8 <= length; j += 8)
      for (std::size_t k = 0; k < 8 * Width; ++k) part[k] += x[j * Width + k];
    for (std::size_t k = 0; k < (length - j) * Width; ++k) part[k] += x[j * Width + k];
    for (std::size_t k = 0; k < Width; ++k) {
      const auto of = [&](std::size_t i) { return part[i * Width + k]; };
      sum[k] = ((of(0) + of(4)) + (of(1) + of(5))) + ((of(2) + of(6)) + (of(3) + of(7)));
    }
  }
  /// Returns the same sum from the sums of its blocks.
  static double sum_of_blocks(const double* sums, std::size_t blocks) {
    if (blocks == 1) return *sums;
    const std::size_t half = first_half(blocks);
    return sum_of_blocks(sums, half) + sum_of_blocks(sums + half, blocks - half);
  }
  template <std::size_t Width>
  static void sum_groups(const operation& op, const run_context& context, double* space) {
    const std::size_t length = context.integers[op.data];
    const double* x = space + op.operands[0].first * Width;
    for (std::size_t i = 0; i < op.count; ++i) sum_of<Width>(x + i * length * Width, length, space + (op.result + i) * Width);
  }
  static void forward(const operation& op, const run_context& context, double* values) { sum_groups<1>(op, context, values); }
  static void spread(const operation& op, const run_context& context, double* space, std::size_t width) {
    const std::size_t length = context.integers[op.data];
    double* x = space + op.operands[0].first * width;
    for (std::size_t i = 0; i < op.count; ++i)
      for (std::size_t j = 0; j < length; ++j, x += width)
        for (std::size_t k = 0; k < width; ++k) x[k] += space[(op.result + i) * width + k];
  }
  static void reverse(const operation& op, const run_context& context, const double*, double* adjoints) {
    spread(op, context, adjoints, 1);
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double*, double* tangents) {
    sum_groups<Width>(op, context, tangents);
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    spread(op, context, w.adjoints, 1);
    spread(op, context, w.adjoint_tangents, Width);
  }
};

/// Runs an external operation: integers = {index among the program's external operations}. Where the operand is passive, no
/// derivative of an output passes through the operation, and it computes values only.
struct external_loops {
  static bool fits(const operation_view& v) {
    return v.has(1, 1) && v.integers[0] < v.externals.size() && v.is_dense(0, v.op.operands[0].count) &&
           v.externals[v.integers[0]]->fits(v.op.operands[0].count, v.op.count);
  }
  static const external_operation& of(const operation& op, const run_context& context) {
    return *context.externals[context.integers[op.data]];
  }
  static external_operation::state& state_of(const operation& op, const run_context& context) {
    return *context.states[context.integers[op.data]];
  }
  /// Throws where an operation says that it has no tangents, because its results might then be wrong.
  static void expect_tangents(const external_operation& f, int order) {
    if (const external_operation* without = f.first_without_tangents(order)) without->fail_tangent();
  }
  static void forward(const operation& op, const run_context& context, double* values) {
    auto& state = context.states[context.integers[op.data]];
    if (state == nullptr) state = of(op, context).make_state();
    of(op, context)
        .forward(*state, values + op.operands[0].first, values + op.result, context.with_adjoint && op.operands[0].active);
  }
  static void reverse(const operation& op, const run_context& context, const double*, double* adjoints) {
    if (!op.operands[0].active) return;
    of(op, context).reverse(state_of(op, context), adjoints + op.result, adjoints + op.operands[0].first);
  }
  /// Runs the reverse pass for `count` spaces of adjoints, one after the other.
  static void reverse_rows(const operation& op, const run_context& context, std::size_t count, double* adjoints,
                           std::size_t slots) {
    if (!op.operands[0].active) return;
    of(op, context).reverse_rows(state_of(op, context), count, adjoints + op.result, adjoints + op.operands[0].first, slots);
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double*, double* tangents) {
    double* to = tangents + op.result * std::size_t{Width};
    if (!op.operands[0].active) {
      std::fill_n(to, op.count * std::size_t{Width}, 0.0);
      return;
    }
    expect_tangents(of(op, context), 1);
    of(op, context).tangent(state_of(op, context), Width, tangents + op.operands[0].first * std::size_t{Width}, to);
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    if (!op.operands[0].active) return;
    const std::size_t x = op.operands[0].first, y = op.result;
    expect_tangents(of(op, context), 2);
    of(op, context)
        .second(state_of(op, context), Width, w.adjoints + y, w.adjoint_tangents + y * Width, w.adjoints + x,
                w.adjoint_tangents + x * Width);
  }
};

}  // namespace detail

namespace kernels {

/// Thrown by a run when a comparison differs from the recording, so that the recorded path is not valid.
struct path_left {};

inline constexpr kernel gather = make_of<agrad::detail::gather_loops>("gather", {dependence::gathered, true});
inline constexpr kernel sum = make_of<agrad::detail::sum_loops>("sum", {dependence::grouped, true});
inline constexpr kernel external = make_of<agrad::detail::external_loops>("external");

}  // namespace kernels

namespace detail {

/// Checks a comparison against its result in the recording: integers = {1 or 0}.
struct guard_loops {
  static bool fits(const operation_view& v) { return v.has(1, 1) && v.op.count == 0 && v.is_dense(0, 1); }
  static void forward(const operation& op, const run_context& context, double* values) {
    if ((values[op.operands[0].first] != 0) != (context.integers[op.data] != 0)) throw kernels::path_left{};
  }
  static void reverse(const operation&, const run_context&, const double*, double*) {}
  template <int>
  static void tangent(const operation&, const run_context&, const double*, double*) {}
  template <int>
  static void second(const operation&, const run_context&, const second_spaces&) {}
};

}  // namespace detail

namespace kernels {
inline constexpr kernel guard = make_of<agrad::detail::guard_loops>("guard", {dependence::on_nothing, true});
}

AGRAD_COLD inline void external_operation::write(portable_writer&) const {
  throw std::logic_error(std::string(name()) + ": cannot be stored as bytes");
}
AGRAD_COLD inline std::vector<slot> external_operation::record(recorder&, const span&) const {
  fail_tangent();
  return {};  // not reached
}
inline void external_operation::tangent(state&, int, const double*, double*) const { fail_tangent(); }
inline void external_operation::second(state&, int, const double*, const double*, double*, double*) const { fail_tangent(); }
inline void external_operation::reverse_carefully(state& s, int width, const marked_adjoints& y, const marked_adjoints& x,
                                                  const std::vector<bool>& varies) const {
  const std::size_t n = varies.size();
  const std::size_t lanes = n * static_cast<std::size_t>(width);
  const std::vector<double> adjoints(x.adjoints, x.adjoints + n), tangents(x.tangents, x.tangents + lanes);
  if (width == 0)
    reverse(s, y.adjoints, x.adjoints);
  else
    second(s, width, y.adjoints, y.tangents, x.adjoints, x.tangents);
  detail::mark_changes(adjoints.data(), x.adjoints, n, x.marks);
  detail::mark_changes(tangents.data(), x.tangents, lanes, x.tangent_marks);
}
AGRAD_COLD inline void external_operation::fail_tangent() const {
  const bool passes = has_first_tangents();
  throw DerivativeError(std::string(name()) + ": has first derivatives only" + (passes ? "" : ", by reverse mode") +
                        ", but must have " + (passes ? "" : "tangents or ") + "second derivatives here");
}

}  // namespace agrad
