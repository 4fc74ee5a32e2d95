// Careful: passes that tell a zero of structure from a computed zero where a slope is infinite (docs/functions.md, "Zero times
// infinity").
//
// By links of the chain rule: a zero of structure (an entry that nobody used, a choice not taken, a constant factor of zero)
// passes nothing on. An infinite outer slope and an inner derivative of zero pass on zero, as in ordinary passes. A computed
// zero that meets an infinite slope further in is unknown, and so is an infinite tangent that meets a computed zero further
// out: nan, unless a zero derivative further in ends it. A careful pass runs the loops of the ordinary pass, marks what is not
// zero by structure, and writes nan between the operations. It costs a few ordinary passes and runs only where these met both
// (program/machine/singular.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <agrad/program/machine/singular.hpp>
#include <agrad/program/machine/watch.hpp>

namespace agrad::detail {

/// After an ordinary pass of tangents: propagates them again, `width` to a slot. inputs: the slots with respect to which
/// derivatives are computed.
void run_tangent_carefully(const program_code& code, workspace& w, int width, const std::vector<slot>& inputs);

/// What is not zero by structure, for the numbers of a reverse pass: a mark is any number but zero.
class careful_reverse {
 public:
  /// width: the number of tangents in w.tangents, 0 for a pass without tangents. inputs: the slots with respect to which
  /// derivatives are computed.
  careful_reverse(const program_code& code, workspace& w, int width, const std::vector<slot>& inputs);

  /// Runs the pass; w.adjoints, and w.adjoint_tangents for a pass with tangents, hold the seeds. What has a seed other than
  /// zero is not zero by structure. A watch is called after each operation; the code must then have no straight code.
  void run(operation_watch* watch = nullptr);

  /// Return the marks of a slot's adjoint and of its `width` tangents, to write before the pass and to read after it.
  double& mark(slot s) { return adjoints_[s]; }
  double* tangent_marks(slot s) { return adjoint_tangents_.data() + s * width_; }

 private:
  using Index = std::size_t;

  static double weight(slot s);
  /// Gives the marks of an operation's results weights, so that their sums with constant factors do not cancel.
  void weigh(const operation& op, space& marks, Index width) const;
  bool is_reached(const operation& op) const;
  bool is_curved(const operation& op, std::uint32_t j, std::uint32_t i, const entry_slopes& entry, Index k) const;

  void mark_tangents(const operation& op);
  void run(const operation& op);

  void propagate(const operation& op);
  void mark_by_loops(const operation& op);
  void mark_entries(const operation& op);
  void mark_groups(const operation& op);
  /// Run an operation without known groups and mark the operands' adjoints that it changes: its zeros count as structural.
  void propagate_and_mark_changes(const operation& op);
  void propagate_external(const operation& op);
  void mark_unknown(const operation& op);
  /// Makes the adjoints of weights unknown where a computed zero meets the logarithm of a sum whose weights are all zero.
  void mark_unknown_weights(const operation& op);
  void mark_unknown(const operation& op, std::uint32_t j, std::uint32_t i, entry_slopes& entry);

  workspace& w_;
  const Index width_;
  const run_context context_;
  const std::vector<operation> operations_;
  slot_set varying_;
  space adjoints_, tangents_, adjoint_tangents_;  // marks, where tangents have `width` for each slot
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/machine/careful.ipp>
#endif
