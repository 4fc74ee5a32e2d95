// Definitions of program/derive/batch.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/batch.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

AGRAD_INLINE void batch_recorder::run() {
  slot next = 0;
  for (std::size_t i = 0; i < operations_; ++i) {
    const operation op = from_.code().operations[i];
    place_constants(next, op.result);
    next = op.result + op.count;
    pace_.step();
    record(op);
  }
  place_constants(next, static_cast<slot>(place_.size()));
}

AGRAD_INLINE void batch_recorder::place_constants(slot begin, slot end) {
  while (begin < end) {
    if (is_input(begin)) {
      ++begin;
      continue;
    }
    slot last = begin;
    while (last < end && !is_input(last)) ++last;
    const slot first = to_.constant(from_.values().data() + begin, last - begin);
    for (slot s = begin; s < last; ++s) place_[s] = {first + (s - begin), 0};
    begin = last;
  }
}

AGRAD_INLINE bool batch_recorder::is_input(slot s) const {
  const std::vector<slot>& inputs = from_.inputs();  // ascending
  return std::binary_search(inputs.begin(), inputs.end(), s);
}

AGRAD_INLINE void batch_recorder::record(const operation& op) {
  const kernel* what = op.what;
  if (what == &kernels::gather) return alias(op);
  if (what == &kernels::guard) return guards_.push_back({place_[op.operands[0].first], integers_of(op)[0] != 0});
  if (!is_batched(op)) return record_once(op);
  if (is_entrywise(what)) return record_entrywise(op);
  if (what == &kernels::sum) return record_along(op, kernels::sum_along, integers_of(op)[0], 1);
  if (is_along_lines(what)) return record_along(op, *what, integers_of(op)[0], integers_of(op)[1]);
  if (what == &kernels::product) return record_product(op);
  if (what == &kernels::scatter_add && !is_batched(op.operands[2])) return record_scatter(op);
  record_by_rows(op);
}

AGRAD_INLINE bool batch_recorder::is_entrywise(const kernel* what) {
  return what->entries != nullptr || what == &kernels::stop_gradient || what == &kernels::hold ||
         what == &kernels::perturbation || what == &kernels::with_derivative;
}

AGRAD_INLINE bool batch_recorder::is_along_lines(const kernel* what) {
  const dependence::kind how = what->depends.how;
  return how == dependence::along_lines || how == dependence::before_in_line || how == dependence::across_lines ||
         how == dependence::within_lines || what == &kernels::argmax_along || what == &kernels::argmin_along;
}

AGRAD_INLINE bool batch_recorder::is_batched(const span& x) const {
  for (Index i = 0; i < x.count; ++i)
    if (place_[x.first + i].step != 0) return true;
  return false;
}

AGRAD_INLINE bool batch_recorder::is_batched(const operation& op) const {
  for (Index k = 0; k < op.arity; ++k)
    if (is_batched(op.operands[k])) return true;
  return false;
}

AGRAD_INLINE bool batch_recorder::is_beside(const span& x, Index n, Index distance, Index step) const {
  const batch_place first = place_[x.first];
  bool is_beside = n > 0;
  for (Index i = 0; i < n && is_beside; ++i) {
    const batch_place& at = place_[slot_at(x, i)];
    is_beside = at.step == step && at.first == first.first + i * distance;
  }
  return is_beside;
}

AGRAD_INLINE span batch_recorder::interleaved(const span& x, Index n, bool is_dense) {
  if (is_beside(x, n, rows_, 1)) return to_.consecutive(place_[x.first].first, std::size_t{n} * rows_);
  const std::vector<slot> slots = side_by_side(x, n);
  return is_dense ? dense(slots) : to_.consecutive(slots.data(), slots.size());
}

AGRAD_INLINE span batch_recorder::by_rows(const span& x) {
  if (is_beside(x, x.count, 1, x.count)) return to_.consecutive(place_[x.first].first, std::size_t{x.count} * rows_);
  return dense(row_after_row(x));
}

AGRAD_INLINE std::vector<slot> batch_recorder::side_by_side(const span& x, Index n) {
  std::vector<slot> slots(std::size_t{n} * rows_);
  for (Index i = 0; i < n; ++i) {
    pace_.step();
    const batch_place& at = place_[slot_at(x, i)];
    for (Index r = 0; r < rows_; ++r) slots[std::size_t{i} * rows_ + r] = at.row(r);
  }
  return slots;
}

AGRAD_INLINE std::vector<slot> batch_recorder::row_after_row(const span& x) const {
  std::vector<slot> slots;
  slots.reserve(std::size_t{x.count} * rows_);
  for (Index r = 0; r < rows_; ++r)
    for (Index i = 0; i < x.count; ++i) slots.push_back(place_[x.first + i].row(r));
  return slots;
}

AGRAD_INLINE std::vector<slot> batch_recorder::of_row(const span& x, Index r) const {
  std::vector<slot> slots(x.count);
  for (Index i = 0; i < x.count; ++i) slots[i] = place_[x.first + i].row(r);
  return slots;
}

AGRAD_INLINE void batch_recorder::place_side_by_side(const operation& op, slot first) {
  for (Index i = 0; i < op.count; ++i) place_[op.result + i] = {first + i * rows_, 1};
}

AGRAD_INLINE void batch_recorder::place_row_after_row(const operation& op, slot first) {
  for (Index i = 0; i < op.count; ++i) place_[op.result + i] = {first + i, op.count};
}

AGRAD_INLINE void batch_recorder::alias(const operation& op) {
  for (Index i = 0; i < op.count; ++i) place_[op.result + i] = place_[integers_of(op)[i]];
}

AGRAD_INLINE void batch_recorder::record_once(const operation& op) {
  const slot first = repeat(op, 0);
  for (Index i = 0; i < op.count; ++i) place_[op.result + i] = {first + i, 0};
}

AGRAD_INLINE slot batch_recorder::repeat(const operation& op, Index r) {
  span operands[operation::most_operands];
  for (Index k = 0; k < op.arity; ++k) {
    const std::vector<slot> slots = of_row(op.operands[k], r);
    operands[k] = dense(slots);
    operands[k].stride = op.operands[k].stride;
  }
  return to_.repeat(from_, op, operands);
}

AGRAD_INLINE void batch_recorder::record_entrywise(const operation& op) {
  span operands[operation::most_operands];
  for (Index k = 0; k < op.arity; ++k) operands[k] = interleaved(op.operands[k], op.count, false);
  place_side_by_side(op, to_.apply(*op.what, std::size_t{op.count} * rows_, operands, op.arity));
}

AGRAD_INLINE void batch_recorder::record_along(const operation& op, const kernel& what, Index length, Index inner) {
  span operands[operation::most_operands];
  for (Index k = 0; k < op.arity; ++k) operands[k] = interleaved(op.operands[k], op.operands[k].count);
  place_side_by_side(op, to_.apply(what, std::size_t{op.count} * rows_, operands, op.arity, {length, inner * rows_}));
}

AGRAD_INLINE void batch_recorder::record_product(const operation& op) {
  const Index n = integers_of(op)[0], k = integers_of(op)[1], m = integers_of(op)[2];
  const span &a = op.operands[0], &b = op.operands[1];
  if (!is_batched(a)) {
    const span operands[] = {dense(of_row(a, 0)), interleaved(b, b.count)};
    return place_side_by_side(op, to_.apply(kernels::product, std::size_t{op.count} * rows_, operands, 2, {n, k, m * rows_}));
  }
  const std::size_t count = std::size_t{op.count} * rows_;
  if (!is_batched(b)) {
    const span operands[] = {by_rows(a), dense(of_row(b, 0))};
    return place_row_after_row(op, to_.apply(kernels::product, count, operands, 2, {n * rows_, k, m}));
  }
  const span operands[] = {by_rows(a), by_rows(b)};
  place_row_after_row(op, to_.apply(kernels::batched_product, count, operands, 2, {n, k, m, rows_, 1U, 1U}));
}

AGRAD_INLINE void batch_recorder::record_scatter(const operation& op) {
  const span &v = op.operands[1], &places = op.operands[2];
  std::vector<double> all(std::size_t{v.count} * rows_);
  for (Index i = 0; i < v.count; ++i)
    for (Index r = 0; r < rows_; ++r) all[std::size_t{i} * rows_ + r] = from_.value(places.first + i) * rows_ + r;
  const slot at = to_.constant(all.data(), all.size());
  const span operands[] = {interleaved(op.operands[0], op.count), interleaved(v, v.count), to_.consecutive(at, all.size())};
  place_side_by_side(op, to_.apply(kernels::scatter_add, std::size_t{op.count} * rows_, operands, 3));
}

AGRAD_INLINE void batch_recorder::record_by_rows(const operation& op) {
  std::vector<slot> results(std::size_t{op.count} * rows_);
  for (Index r = 0; r < rows_; ++r) {
    pace_.step();
    const slot first = repeat(op, r);
    std::iota(results.data() + std::size_t{r} * op.count, results.data() + std::size_t{r + 1} * op.count, first);
  }
  place_row_after_row(op, dense(results).first);
}

}  // namespace agrad
