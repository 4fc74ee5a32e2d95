// Blocks: operands of elementwise operations, read in blocks that fit the first cache.
//
// Operands that are lists of slots, or one slot for all entries, are copied block by block, so one loop over consecutive
// numbers serves every mixture of operands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <agrad/program/machine/entries.hpp>
#include <agrad/program/machine/operation.hpp>

namespace agrad::detail {

inline constexpr std::uint32_t block_length = 256;

/// One operand of an operation, read in blocks from a space with `Width` numbers for each slot.
template <int Width>
class block_reader {
 public:
  static constexpr std::size_t width = static_cast<std::size_t>(Width);

  block_reader(const span& x, const std::uint32_t* integers)
      : first_(x.first), list_(x.listed ? integers + x.first : nullptr), stride_(x.stride) {}

  /// Returns entries begin .. begin + n of the operand as consecutive numbers.
  AGRAD_ALWAYS_INLINE const double* read(const double* space, std::uint32_t begin, std::uint32_t n) {
    if (list_ == nullptr && stride_ == 1) return space + (first_ + begin) * width;
    double* to = copy_.data();
    if (list_ == nullptr) {
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < width; ++k) to[i * width + k] = space[first_ * width + k];
    } else {
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < width; ++k) to[i * width + k] = space[list_[begin + i] * width + k];
    }
    return to;
  }

  /// Adds n times `width` numbers to the operand's entries in a space.
  AGRAD_ALWAYS_INLINE void add(double* space, std::uint32_t begin, std::uint32_t n, const double* __restrict what) const {
    if (list_ != nullptr) {
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < width; ++k) space[list_[begin + i] * width + k] += what[i * width + k];
    } else if (stride_ == 1) {
      double* to = space + (first_ + begin) * width;
      for (std::size_t i = 0; i < n * width; ++i) to[i] += what[i];
    } else {
      for (std::size_t k = 0; k < width; ++k) space[first_ * width + k] += total(n, what + k);
    }
  }

  /// Returns the sum of n numbers at a distance of `width`, with eight partial sums in a fixed order.
  AGRAD_ALWAYS_INLINE static double total(std::uint32_t n, const double* __restrict what) {
    double sums[8] = {};
    std::uint32_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (std::size_t k = 0; k < 8; ++k) sums[k] += what[(i + k) * width];
    for (; i < n; ++i) sums[0] += what[i * width];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
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
