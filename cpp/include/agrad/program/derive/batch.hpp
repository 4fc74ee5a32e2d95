// Batch: records operations that were recorded for one element for all elements of a batch, in another recording.
//
// Every operation of the element's recording becomes one operation on all elements (`rows`), with the elements interleaved, so
// that loops are over consecutive numbers; operations that are the same for all elements are recorded once. The place of a slot
// for all elements is the first slot and the distance to the next. Operations without a batched form (factorisations,
// densities, external operations) are repeated for each element. Read first: program/recording/record.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/kernels/batched_product.hpp>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad {

/// The place of a slot for all elements: element r is at first + r * step, with step 0 where the elements share one slot.
struct batch_place {
  slot first = 0;
  std::uint32_t step = 0;
  slot row(std::uint32_t r) const { return first + r * step; }
};

class batch_recorder {
 public:
  using Index = std::uint32_t;

  batch_recorder(recorder& to, const recorder& from, Index rows)
      : to_(to), from_(from), rows_(rows), operations_(from.code().operations.size()), place_(from.size()) {}

  /// Sets the place of an input of the element's recording.
  void set_place(slot input, batch_place at) { place_[input] = at; }
  const batch_place& at(slot s) const { return place_[s]; }

  /// Records all operations. The results are valid for the elements for which all `guards` went the same way as in the
  /// recording.
  void run();

  /// The condition of a guard in the element's recording: its place and its result.
  struct guarded {
    batch_place condition;
    bool holds;
  };
  const std::vector<guarded>& guards() const { return guards_; }

 private:
  /// Handles slots that are not results: inputs have their place already, all others become constants.
  void place_constants(slot begin, slot end);
  bool is_input(slot s) const;

  void record(const operation& op);

  static bool is_entrywise(const kernel* what);

  static bool is_along_lines(const kernel* what);

  // ---- operands

  const std::uint32_t* integers_of(const operation& op) const { return from_.code().integers.data() + op.data; }
  static slot slot_at(const span& x, Index i) { return x.first + (x.stride == 0 ? 0 : i); }

  bool is_batched(const span& x) const;
  bool is_batched(const operation& op) const;

  /// Returns n entries of an operand, interleaved: entry i of element r is number i * rows + r. Unless `is_dense`, one slot may
  /// stand for all entries.
  span interleaved(const span& x, Index n, bool is_dense = true);
  std::vector<slot> side_by_side(const span& x, Index n);
  /// Returns the entries element after element: entry i of element r is number r * n + i.
  span by_rows(const span& x);
  std::vector<slot> row_after_row(const span& x) const;
  /// Returns whether the first n entries of an operand are `distance` slots apart for each element, and elements `step` slots.
  bool is_beside(const span& x, Index n, Index distance, Index step) const;
  std::vector<slot> of_row(const span& x, Index r) const;
  span dense(const std::vector<slot>& slots) { return to_.dense(slots.data(), slots.size()); }

  // ---- results

  void place_side_by_side(const operation& op, slot first);
  void place_row_after_row(const operation& op, slot first);

  // ---- operations

  void alias(const operation& op);

  /// Records an operation that is the same for all elements.
  void record_once(const operation& op);

  /// Repeats the operation for one element.
  slot repeat(const operation& op, Index r);

  void record_entrywise(const operation& op);

  /// Records an operation along lines; distances along a line become `inner` times the number of elements.
  void record_along(const operation& op, const kernel& what, Index length, Index inner);

  /// Records y = a b. Where all elements share a, the elements of b become more columns; where all share b, the elements of a
  /// become more rows.
  void record_product(const operation& op);

  /// Records a scatter for all elements. The indices are constants of the element's recording; those of all elements are
  /// interleaved.
  void record_scatter(const operation& op);

  void record_by_rows(const operation& op);

  recorder& to_;
  const recorder& from_;
  Index rows_;
  // What the element's recording has at the start: user code of a new path, which a loop calls, may add to the recording.
  std::size_t operations_;
  std::vector<batch_place> place_;
  std::vector<guarded> guards_;
  detail::interrupt_pace pace_{4096};
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/batch.ipp>
#endif
