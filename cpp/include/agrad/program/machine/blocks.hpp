// Blocks: operands of elementwise operations, read in blocks that fit the first cache.
//
// Operands that are lists of slots, or one slot for all entries, are copied block by block, so one loop over consecutive
// numbers serves every mixture of operands.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <agrad/program/machine/entries.hpp>
#include <agrad/program/machine/operation.hpp>

namespace agrad::detail {

/// One operand of an operation, read in blocks from a space with `Width` numbers for each slot.
template <int Width>
class block_reader {
 public:
  static constexpr std::size_t width = static_cast<std::size_t>(Width);

  block_reader(const span& x, const std::uint32_t* integers)
      : first_(x.first), list_(x.listed ? integers + x.first : nullptr), stride_(x.stride) {}

  /// Returns entries begin .. begin + n of the operand, `step()` numbers apart: side by side, or, of tangents along several
  /// directions, the same numbers for all entries.
  AGRAD_ALWAYS_INLINE const double* read(const double* space, std::uint32_t begin, std::uint32_t n) {
    if (list_ == nullptr && (stride_ == 1 || width > 1)) return space + (first_ + begin * stride_) * width;
    double* to = copy_.data();
    if (list_ == nullptr) {
      std::fill_n(to, n, space[first_]);
    } else {
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < width; ++k) to[i * width + k] = space[list_[begin + i] * width + k];
    }
    return to;
  }
  std::size_t step() const { return width > 1 ? stride_ * width : 1; }

  /// Adds n times `width` numbers to the operand's entries in a space.
  AGRAD_ALWAYS_INLINE void add(double* space, std::uint32_t begin, std::uint32_t n, const double* __restrict what) const {
    if (list_ != nullptr) {
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < width; ++k) space[list_[begin + i] * width + k] += what[i * width + k];
    } else if (stride_ == 1) {
      double* to = space + (first_ + begin) * width;
      for (std::size_t i = 0; i < n * width; ++i) to[i] += what[i];
    } else {
      add_total(n, what, space + first_ * width);
    }
  }

  /// Adds the sums of n times `width` numbers, with eight partial sums in a fixed order.
  AGRAD_ALWAYS_INLINE static void add_total(std::uint32_t n, const double* __restrict what, double* to) {
    double sums[8 * width] = {};
    std::uint32_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (std::size_t k = 0; k < 8 * width; ++k) sums[k] += what[i * width + k];
    for (; i < n; ++i)
      for (std::size_t k = 0; k < width; ++k) sums[k] += what[i * width + k];
    for (std::size_t k = 0; k < width; ++k) {
      const auto of = [&](std::size_t part) { return sums[part * width + k]; };
      to[k] += ((of(0) + of(4)) + (of(2) + of(6))) + ((of(1) + of(5)) + (of(3) + of(7)));
    }
  }

 private:
  std::size_t first_;
  const std::uint32_t* list_;
  std::size_t stride_;
  std::array<double, block_length * width> copy_;
};

/// The operands of an elementwise operation, read in blocks.
template <int Width>
struct block_operands {
  static constexpr std::size_t most = most_arguments;
  std::array<block_reader<Width>, most> readers;
  std::array<const double*, most> x{};

  block_operands(const operation& op, const run_context& context)
      : readers{block_reader<Width>(op.operands[0], context.integers), block_reader<Width>(op.operands[1], context.integers),
                block_reader<Width>(op.operands[2], context.integers), block_reader<Width>(op.operands[3], context.integers)} {}
  columns read(const operation& op, const double* space, std::uint32_t begin, std::uint32_t n) {
    for (std::uint32_t k = 0; k < op.arity; ++k) x[k] = readers[k].read(space, begin, n);
    return x.data();
  }
};

}  // namespace agrad::detail
