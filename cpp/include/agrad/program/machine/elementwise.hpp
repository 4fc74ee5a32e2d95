// Elementwise: the loops over spans of every elementwise rule.
//
// Entries are processed in blocks that fit the first cache. Operands that are lists of slots, or one slot for all entries, are
// copied block by block, so one loop over consecutive numbers serves every mixture of operands. The value of an entry does not
// depend on the number of entries (rules/values.hpp, octets). Only the file that builds the table of rules includes this
// header.
#pragma once

#include <algorithm>
#include <array>

#include <agrad/program/machine/kernel_list.hpp>
#ifdef AGRAD_COMPILED
#include <agrad/program/machine/kernel_table.hpp>
#endif
#include <agrad/program/machine/straight.hpp>
#include <agrad/program/machine/tracing.hpp>

namespace agrad {

namespace detail {

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

/// The loops of every elementwise rule, around the functions in the rule's kernel.
struct elementwise_loops {
  static bool fits(const operation_view& v) {
    bool each = v.has(v.op.what->entries->arity, 0);
    for (std::uint32_t k = 0; k < v.op.arity; ++k) each = each && v.is_entrywise(k, v.op.count);
    return each;
  }
  /// Calls use(begin, n) for each block.
  template <class Use>
  AGRAD_ALWAYS_INLINE static void each_block(const operation& op, const Use& use) {
    for (std::uint32_t begin = 0; begin < op.count; begin += block_length) use(begin, std::min(block_length, op.count - begin));
  }

  static void forward(const operation& op, const run_context& context, double* values) {
    block_operands<1> x(op, context);
    each_block(op, [&](std::uint32_t begin, std::uint32_t n) {
      op.what->entries->values(n, x.read(op, values, begin, n), values + op.result + begin);
    });
  }

  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    block_operands<1> x(op, context);
    each_block(op, [&](std::uint32_t begin, std::uint32_t n) {
      const columns from = x.read(op, values, begin, n);
      const double *y = values + op.result + begin, *y_adjoint = adjoints + op.result + begin;
      for (std::uint32_t j = 0; j < op.arity; ++j) {
        if (!op.operands[j].active) continue;
        double d[block_length];
        op.what->entries->reverse(j, n, from, y, y_adjoint, d);
        x.readers[j].add(adjoints, begin, n, d);
      }
    });
  }

  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double* values, double* tangents) {
    block_operands<1> x(op, context);
    block_operands<Width> dx(op, context);
    each_block(op, [&](std::uint32_t begin, std::uint32_t n) {
      const columns from = x.read(op, values, begin, n), along = dx.read(op, tangents, begin, n);
      double* to = tangents + (op.result + begin) * std::size_t{Width};
      std::fill_n(to, n * Width, 0.0);
      for (std::uint32_t j = 0; j < op.arity; ++j) {
        if (!op.operands[j].active) continue;
        double d[block_length];
        op.what->entries->partial(j, n, from, values + op.result + begin, d);
        add_products<Width>(n, d, along[j], to);
      }
    });
  }

  /// Adds d times the tangents of each entry to `to`.
  template <int Width>
  static void add_products(std::uint32_t n, const double* d, const double* from, double* __restrict to) {
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < Width; ++k) to[i * Width + k] += passed(d[i], from[i * Width + k]);
  }

  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    block_operands<1> x(op, context);
    block_operands<Width> dx(op, context);
    each_block(op, [&](std::uint32_t begin, std::uint32_t n) {
      const columns from = x.read(op, w.values, begin, n), along = dx.read(op, w.tangents, begin, n);
      for (std::uint32_t j = 0; j < op.arity; ++j)
        if (op.operands[j].active) second_of<Width>(op, w, begin, n, j, from, along, x.readers[j], dx.readers[j]);
    });
  }

  /// Propagates the adjoints of a block, with tangents, to operand j.
  template <int Width>
  static void second_of(const operation& op, const second_spaces& w, std::uint32_t begin, std::uint32_t n, std::uint32_t j,
                        columns x, columns dx, const block_reader<1>& to, const block_reader<Width>& to_tangents) {
    const std::size_t at = op.result + begin;
    const double *y = w.values + at, *y_adjoint = w.adjoints + at, *y_tangents = w.adjoint_tangents + at * Width;
    double d[block_length], sums[block_length];
    std::array<double, block_length * Width> tangents;
    std::fill_n(tangents.data(), n * std::size_t{Width}, 0.0);
    unsigned curved = op.what->depends.curved[j];  // active operands on which d depends
    for (std::uint32_t l = 0; l < op.arity; ++l) curved &= ~(op.operands[l].active ? 0U : 1U << l);
    if (curved == 0) {
      op.what->entries->partial(j, n, x, y, d);
    } else {
      double h[most_arguments][block_length], *columns_of_h[] = {h[0], h[1], h[2], h[3]};
      op.what->entries->second(j, n, x, y, d, columns_of_h);
      for (std::uint32_t l = 0; l < op.arity; ++l) {
        if ((curved >> l & 1U) == 0) continue;
        for (std::uint32_t i = 0; i < n; ++i) h[l][i] = passed(h[l][i], y_adjoint[i]);
        add_products<Width>(n, h[l], dx[l], tangents.data());
      }
    }
    add_products<Width>(n, d, y_tangents, tangents.data());
    for (std::uint32_t i = 0; i < n; ++i) sums[i] = passed(d[i], y_adjoint[i]);
    to.add(w.adjoints, begin, n, sums);
    to_tangents.add(w.adjoint_tangents, begin, n, tangents.data());
  }
};

}  // namespace detail

template <class Rule>
inline constexpr kernel elementwise_kernel{
    Rule::name,
    detail::elementwise_loops::forward,
    detail::elementwise_loops::reverse,
    {detail::elementwise_loops::tangent<1>, detail::elementwise_loops::tangent<lane_count>},
    {detail::elementwise_loops::second<1>, detail::elementwise_loops::second<lane_count>},
    detail::elementwise_loops::fits,
    agrad::dependence_of_rule<Rule, dual<double>>(),
    detail::steps_of_rule<Rule>(),
    &detail::entries_of<Rule>::functions};

namespace detail {

#ifdef AGRAD_LIST_KERNELS
template <class Rule>
struct rule_in_list {
  static inline const listed_kernel place{elementwise_kernel<Rule>};
};
#endif

/// Returns the kernel of a rule, compiled in this file. With AGRAD_LIST_KERNELS, the kernel enters the list of kernels
/// (program/machine/kernel_list.hpp).
template <class Rule>
const kernel& own_kernel() {
#ifdef AGRAD_LIST_KERNELS
  static_cast<void>(&rule_in_list<Rule>::place);
#endif
  return elementwise_kernel<Rule>;
}

}  // namespace detail

/// Returns the kernel of a rule. With AGRAD_COMPILED, the compiled library has the kernels of all rules in
/// `rules::elementwise`.
template <class Rule>
const kernel& kernel_of_rule() {
#ifdef AGRAD_COMPILED
  if constexpr (detail::is_in_list<Rule, rules::elementwise>)
    return detail::kernel_in_table<Rule>();
  else
#endif
    return detail::own_kernel<Rule>();
}

}  // namespace agrad
