// Definitions of program/derive/entries_program.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/entries_program.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad::detail {

AGRAD_INLINE derivative_flow::derivative_flow(const program& f, std::size_t first, std::size_t count, std::size_t most)
    : f_(f), most_(most), number_(f.size()), rows_(f.size()), place_(count), marked_(count, 0) {
  for (std::size_t s = 0; s < f.fixed().size(); ++s) number_[s] = f.fixed()[s];
  for (std::size_t i = 0; i < f.input_size(); ++i) {
    const slot s = f.inputs()[i];
    number_[s] = traced(in_, {in_.input(&f.fixed()[s], 1), 1, 0, true});
    if (i >= first && i < first + count) rows_[s].push_back({static_cast<std::uint32_t>(i - first), 1.0});
  }
}

AGRAD_INLINE bool derivative_flow::run() {
  const unrolled operations(f_.code());
  for (const operation& op : operations.operations()) {
    if (!propagate(op) || in_.code().operations.size() > most_) return false;
  }
  return true;
}

AGRAD_INLINE slot derivative_flow::entry(std::size_t i, std::uint32_t j) {
  for (const term& each : rows_[f_.outputs()[i]])
    if (each.column == j) return each.derivative.slots_in(in_).first;
  return 0;
}

AGRAD_INLINE slot derivative_flow::slot_of(const span& x, std::size_t i) const {
  return detail::slot_of_entry(f_.code().integers.data(), x, i);
}

AGRAD_INLINE bool derivative_flow::propagate(const operation& op) {
  if (op.what->entries != nullptr)
    for (std::uint32_t i = 0; i < op.count; ++i) propagate_entry(op, i);
  else if (op.what == &kernels::gather)
    for (std::uint32_t i = 0; i < op.count; ++i) copy(integers(op)[i], op.result + i);
  else if (op.what == &kernels::sum && op.arity == 1)
    for (std::uint32_t i = 0; i < op.count; ++i) propagate_sum(op, i);
  else if (op.what->depends.how == dependence::product)
    propagate_product(op);
  else if (op.what->depends.how == dependence::looked_up || op.what == &kernels::search)
    return propagate_lookup(op);
  else
    return false;
  return true;
}

AGRAD_INLINE void derivative_flow::copy(slot from, slot to) {
  number_[to] = number_[from];
  rows_[to] = rows_[from];
}

AGRAD_INLINE void derivative_flow::propagate_entry(const operation& op, std::uint32_t i) {
  traced x[most_arguments];
  bool is_constant = true;
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    x[k] = number_[slot_of(op.operands[k], i)];
    is_constant = is_constant && x[k].is_constant();
  }
  traced& y = number_[op.result + i];
  y = is_constant ? value_of(op, x) : traced::record(*op.what, x, op.arity);
  if (is_constant) return;
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    const slot from = slot_of(op.operands[k], i);
    if (!rows_[from].empty()) add(op.what->entries->recorded_partial(k, x, y), from);
  }
  set_entry(op.result + i);
}

AGRAD_INLINE double derivative_flow::value_of(const operation& op, const traced* x) {
  double values[most_arguments];
  const double* columns[most_arguments];
  for (std::uint32_t k = 0; k < op.arity; ++k) values[k] = x[k].constant(), columns[k] = &values[k];
  double y = 0;
  op.what->entries->values(1, columns, &y);
  return y;
}

AGRAD_INLINE void derivative_flow::propagate_sum(const operation& op, std::uint32_t i) {
  const std::uint32_t length = integers(op)[0];
  traced sum(0.0);
  for (std::uint32_t j = 0; j < length; ++j) {
    const slot from = slot_of(op.operands[0], std::size_t{i} * length + j);
    sum = j == 0 ? number_[from] : sum + number_[from];
    add(1.0, from);
  }
  number_[op.result + i] = sum;
  set_entry(op.result + i);
}

AGRAD_INLINE void derivative_flow::propagate_product(const operation& op) {
  const std::uint32_t n = integers(op)[0], inner = integers(op)[1], m = integers(op)[2];
  for (std::uint32_t i = 0; i < n * m; ++i) {
    traced sum(0.0);
    for (std::uint32_t k = 0; k < inner; ++k) {
      const slot a = slot_of(op.operands[0], std::size_t{i} / m * inner + k), b = slot_of(op.operands[1], k * m + i % m);
      const traced both = product(number_[a], number_[b]);
      sum = k == 0 ? both : sum + both;
      add(number_[b], a);
      add(number_[a], b);
    }
    number_[op.result + i] = sum;
    set_entry(op.result + i);
  }
}

AGRAD_INLINE bool derivative_flow::propagate_lookup(const operation& op) {
  for (std::uint32_t k = 1; k < op.arity; ++k)
    for (std::uint32_t i = 0; i < op.operands[k].count; ++i)
      if (!rows_[slot_of(op.operands[k], i)].empty()) return false;
  span operands[operation::most_operands];
  for (std::uint32_t k = 0; k < op.arity; ++k) operands[k] = operand_of(op.operands[k]);
  const slot first = op.what == &kernels::search ? in_.apply(*op.what, op.count, operands, op.arity, {integers(op)[0]})
                                                 : in_.apply(*op.what, op.count, operands, op.arity);
  const bool has_slope = op.what == &kernels::interpolation;
  const slot slopes = has_slope ? in_.apply(kernels::interpolation_slope, op.count, operands, op.arity) : 0;
  for (std::uint32_t i = 0; i < op.count; ++i) {
    number_[op.result + i] = number_of(in_, in_.consecutive(first + i, 1));
    if (has_slope) add(number_of(in_, in_.consecutive(slopes + i, 1)), slot_of(op.operands[0], i));
    set_entry(op.result + i);
  }
  return true;
}

AGRAD_INLINE span derivative_flow::operand_of(const span& x) {
  std::vector<slot> slots;
  std::vector<double> values;
  for (std::uint32_t i = 0; i < x.count; ++i) {
    const traced& number = number_[slot_of(x, i)];
    if (number.is_constant())
      values.push_back(number.constant());
    else
      slots.push_back(number.slots().first);
  }
  if (slots.empty()) return in_.consecutive(in_.constant(values.data(), values.size()), values.size());
  if (!values.empty()) {  // in order
    slots.clear();
    for (std::uint32_t i = 0; i < x.count; ++i) slots.push_back(number_[slot_of(x, i)].slots_in(in_).first);
  }
  return in_.dense(slots.data(), slots.size());
}

AGRAD_INLINE void derivative_flow::add(const traced& partial, slot from) {
  if (partial.is_constant() && partial.constant() == 0) return;
  for (const term& each : rows_[from]) {
    const traced part = product(partial, each.derivative);
    if (marked_[each.column] != mark_) {
      marked_[each.column] = mark_;
      place_[each.column] = static_cast<std::uint32_t>(row_.size());
      row_.push_back({each.column, part});
    } else {
      traced& sum = row_[place_[each.column]].derivative;
      sum = sum + part;
    }
  }
}

AGRAD_INLINE void derivative_flow::set_entry(slot result) {
  rows_[result].swap(row_);
  row_.clear();
  ++mark_;
}

AGRAD_INLINE traced derivative_flow::product(const traced& a, const traced& b) {
  if (!a.is_constant() && b.is_constant()) return times(b, a);
  return times(a, b);
}

AGRAD_INLINE std::size_t work_of(const program& f) {
  std::size_t entries = 0;
  for (const operation& op : f.code().operations)
    entries +=
        std::size_t{op.count} * (op.what->depends.how == dependence::product ? f.code().integers[op.data + 1] : std::size_t{1});
  return entries;
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE std::shared_ptr<const program> entries_program(const program& f, std::size_t first, std::size_t count,
                                                            const csr_pattern* pattern, std::size_t most_runs) {
  const std::size_t most = most_runs * detail::work_of(f) + 64;
  detail::derivative_flow flow(f, first, count, 4 * most);  // some operations will be pruned
  if (!flow.run()) return nullptr;
  std::vector<slot> entries;
  for (std::size_t i = 0; i < f.output_size(); ++i) {
    if (pattern != nullptr) {
      for (const auto j : pattern->row(i)) entries.push_back(flow.entry(i, j));
    } else {
      for (std::uint32_t j = 0; j < count; ++j) entries.push_back(flow.entry(i, j));
    }
  }
  std::shared_ptr<const program> scheduled = schedule(flow.recording(), entries);
  return detail::work_of(*scheduled) <= most ? scheduled : nullptr;
}

}  // namespace agrad
