// Elementwise: the loops over spans of every elementwise rule.
//
// Entries are processed in blocks that fit the first cache. Operands that are lists of slots, or one slot for all entries, are
// copied block by block, so one loop over consecutive numbers serves every mixture of operands. The value of an entry does not
// depend on the number of entries (rules/values.hpp, octets). Only the file that builds the table of rules includes this
// header.
#pragma once

#include <algorithm>
#include <array>

#include <agrad/base/finite.hpp>
#include <agrad/program/machine/blocks.hpp>
#include <agrad/program/machine/kernel_list.hpp>
#ifdef AGRAD_COMPILED
#include <agrad/program/machine/kernel_table.hpp>
#endif
#include <agrad/program/machine/straight.hpp>
#include <agrad/program/recording/tracing.hpp>

namespace agrad {

namespace detail {

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
      bool is_first = true;
      for (std::uint32_t j = 0; j < op.arity; ++j) {
        if (!op.operands[j].active) continue;
        double d[block_length];
        op.what->entries->partial(j, n, from, values + op.result + begin, d);
        const std::size_t step = dx.readers[j].step();
        is_first ? compute_products<Width>(n, d, along[j], step, to) : add_products<Width>(n, d, along[j], step, to);
        is_first = false;
      }
      if (is_first) std::fill_n(to, n * std::size_t{Width}, 0.0);
    });
  }

  /// Computes d times the tangents of each entry, which are `step` numbers apart.
  template <int Width>
  static void compute_products(std::uint32_t n, const double* d, const double* from, std::size_t step, double* __restrict to) {
    if constexpr (Width == 1) {
      pass_entries(n, d, from, to);
    } else if (are_finite(d, n)) {
      multiply_eight_tangents(n, d, from, step, to);
    } else {
      std::fill_n(to, n * std::size_t{Width}, 0.0);
      for (std::size_t i = 0; i < n; ++i) add_passed_tangents<Width>(d[i], from + i * step, to + i * Width);
    }
  }
  /// Adds d times the tangents of each entry to `to`.
  template <int Width>
  static void add_products(std::uint32_t n, const double* d, const double* from, std::size_t step, double* __restrict to) {
    if constexpr (Width == 1)
      add_passed_entries(n, d, from, to);
    else if (are_finite(d, n))
      add_multiplied_eight_tangents(n, d, from, step, to);
    else
      for (std::size_t i = 0; i < n; ++i) add_passed_tangents<Width>(d[i], from + i * step, to + i * Width);
  }

  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    block_operands<1> x(op, context);
    block_operands<Width> dx(op, context);
    each_block(op, [&](std::uint32_t begin, std::uint32_t n) {
      const columns from = x.read(op, w.values, begin, n), along = dx.read(op, w.tangents, begin, n);
      for (std::uint32_t j = 0; j < op.arity; ++j)
        if (op.operands[j].active) second_of<Width>(op, w, begin, n, j, from, along, x.readers[j], dx);
    });
  }

  /// Propagates the adjoints of a block, with tangents, to operand j.
  template <int Width>
  static void second_of(const operation& op, const second_spaces& w, std::uint32_t begin, std::uint32_t n, std::uint32_t j,
                        columns x, columns dx, const block_reader<1>& to, const block_operands<Width>& tangents_of) {
    const std::size_t at = op.result + begin;
    const double *y = w.values + at, *y_adjoint = w.adjoints + at, *y_tangents = w.adjoint_tangents + at * Width;
    double d[block_length], sums[block_length];
    std::array<double, block_length * Width> tangents;
    unsigned curved = op.what->depends.curved[j];  // active operands on which d depends
    for (std::uint32_t l = 0; l < op.arity; ++l) curved &= ~(op.operands[l].active ? 0U : 1U << l);
    if (curved == 0) {
      op.what->entries->partial(j, n, x, y, d);
      compute_products<Width>(n, d, y_tangents, Width, tangents.data());
    } else {
      double h[most_arguments][block_length], *columns_of_h[most_arguments] = {};
      for (std::uint32_t l = 0; l < op.arity; ++l)
        if ((curved >> l & 1U) != 0) columns_of_h[l] = h[l];
      op.what->entries->second(j, n, x, y, d, columns_of_h);
      compute_products<Width>(n, d, y_tangents, Width, tangents.data());
      for (std::uint32_t l = 0; l < op.arity; ++l) {
        if ((curved >> l & 1U) == 0) continue;
        pass_entries(n, h[l], y_adjoint, h[l]);
        add_products<Width>(n, h[l], dx[l], tangents_of.readers[l].step(), tangents.data());
      }
    }
    pass_entries(n, d, y_adjoint, sums);
    to.add(w.adjoints, begin, n, sums);
    tangents_of.readers[j].add(w.adjoint_tangents, begin, n, tangents.data());
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
