// Adjoints: records the reverse pass over a part of a recording, so that it can be differentiated again.
//
// The formulas of the derivatives are recorded: rules record their own (program/machine/traced.hpp), operations that move, add
// and multiply entries are transposed here, and each other operation becomes one operation with one more derivative
// (program/derive/derivative_operations.hpp). The part contains the operations since a position; adjoints are wanted for the
// slots `required`, so the pass covers only operations that depend on these slots.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <agrad/program/derive/contributions.hpp>
#include <agrad/program/derive/derivative_operations.hpp>
#include <agrad/program/derive/part.hpp>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/kernels/shares.hpp>
#include <agrad/program/machine/custom.hpp>

namespace agrad {

class adjoint_recorder {
 public:
  /// part: the operations of the pass, and which of their slots depend on the wanted slots.
  /// by_formulas: other operations are differentiated by their formulas where they have these, for derivatives of all orders.
  adjoint_recorder(recorder& in, recorded_part& part, bool by_formulas = false)
      : in_(in), part_(part), adjoints_(in), by_formulas_(by_formulas) {}

  void seed(slot output, slot adjoint) { adjoints_.seed(output, adjoint); }

  void reverse();

  /// Returns the adjoints of slots after `reverse`.
  std::vector<slot> of(const std::vector<slot>& required);

 private:
  using Index = std::uint32_t;

  void propagate(const operation& op, const traced& adjoint);

  /// Adds entry i of a contribution, of n, to the adjoint of entry i of the first operand; the entry passes on the adjoints of
  /// its line.
  void propagate_lines(const operation& op, const traced& what, Index n);
  /// Does the same for any operand where entry i passes on the adjoint of result i, unless the number that `cuts` names for it
  /// is zero.
  void propagate_each_entry(const operation& op, const span& to, const traced& what, const std::vector<slot>& cuts = {});
  /// Returns for each entry the slot of a number whose zero cuts the way to operand k, or 0 where the way is open: the
  /// derivative where it does not vary, or a constant factor.
  std::vector<slot> cuts_of(const operation& op, Index k, const traced* x, const traced& partial) const;

  /// Returns the sum of n entries.
  slot total(const span& x, Index n);

  void propagate_elementwise(const operation& op, const traced& adjoint);

  /// Returns partial times adjoint, where a computed zero of the adjoint meets a slope that may be infinite.
  traced linked(const operation& op, const traced& partial, const traced& adjoint);

  const std::uint32_t* integers_of(const operation& op) const { return in_.code().integers.data() + op.data; }

  void propagate_gather(const operation& op, const traced& adjoint);

  void propagate_sum(const operation& op, const traced& adjoint);

  // ---- matrices

  /// Returns the slots of a row-major matrix, transposed.
  std::vector<slot> transposed(const span& x, Index rows, Index width) const;
  span dense(const std::vector<slot>& slots) { return in_.dense(slots.data(), slots.size()); }
  span dense(const span& x, Index n);

  /// Propagates through y = a b: with z the adjoint of y, the adjoint of a is z b^T and the adjoint of b is a^T z.
  void propagate_product(const operation& op, const traced& adjoint);
  void propagate_matrix(const operation& op, Index k, const span& left, const span& right, Index rows, Index inner,
                        Index width);

  // ---- along lines

  /// Propagates through y_j = x_1 + ... + x_j: the adjoint of x_j is the sum of the adjoints from j on, a cumulative sum of the
  /// reversed lines.
  void propagate_cumulative_sum(const operation& op, const traced& adjoint);
  static std::vector<slot> turned_round(const span& x, Index n, Index length, Index inner);

  /// Propagates through y = log(sum_j exp(x_j)): the adjoint of x_j is the adjoint of y times the share of x_j.
  void propagate_log_sum_exp(const operation& op, const traced& adjoint);
  void propagate_log_shares(const operation& op, const traced& adjoint);
  void propagate_shares(const operation& op, const traced& adjoint);

  void propagate_scatter_add(const operation& op, const traced& adjoint);

  /// Propagates through polygons. Where the table depends on nothing, the adjoint of the argument is all there is.
  void propagate_polygon(const operation& op, const traced& adjoint);

  // ---- all other operations

  void add_ways_of_groups(const operation& op);
  /// Makes the adjoints of weights unknown, as a careful pass does (program/machine/careful.hpp).
  void add_unknown_weights(const operation& op, const traced& adjoint);
  void propagate_by_loops(operation op, const traced& adjoint);

  void propagate_by_formulas(const operation& op, const traced& adjoint);
  /// Propagates to the operands `variables` by the transpose of the formula of the tangent, which is linear in them.
  void propagate_transposed(const operation& op, const span* operands, const std::vector<Index>& variables,
                            const traced& adjoint);

  recorder& in_;
  recorded_part& part_;
  contributions adjoints_;
  bool by_formulas_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/adjoints.ipp>
#endif
