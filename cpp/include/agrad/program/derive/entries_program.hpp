// Entries program: makes a program that computes the entries of a program's Jacobian, for frequent use or further derivatives.
//
// The program runs on traced numbers; each number has its derivatives with respect to the inputs on which it depends, recorded
// by the rules. Zero derivatives are never recorded, and multiplications by constants such as one are omitted, so a sparse
// Jacobian takes few operations. Read first: program/machine/traced.hpp. Read next: solve/system/program/ode.hpp, which uses
// this file.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/program/machine/tracing.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <agrad/program/schedule/unrolled.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad {

namespace detail {

class derivative_flow {
 public:
  /// Derivatives are with respect to inputs [first, first + count). most: the most operations to record.
  derivative_flow(const program& f, std::size_t first, std::size_t count, std::size_t most)
      : f_(f), most_(most), number_(f.size()), rows_(f.size()), place_(count), marked_(count, 0) {
    for (std::size_t s = 0; s < f.fixed().size(); ++s) number_[s] = f.fixed()[s];
    for (std::size_t i = 0; i < f.input_size(); ++i) {
      const slot s = f.inputs()[i];
      number_[s] = traced(in_, {in_.input(&f.fixed()[s], 1), 1, 0, true});
      if (i >= first && i < first + count) rows_[s].push_back({static_cast<std::uint32_t>(i - first), 1.0});
    }
  }

  /// Returns false where the derivatives of an operation are not made of rules, or where there are too many operations.
  bool run() {
    const unrolled operations(f_.code());
    for (const operation& op : operations.operations()) {
      if (!carry(op) || in_.code().operations.size() > most_) return false;
    }
    return true;
  }

  /// Returns the slot of the derivative of output i with respect to column j.
  slot entry(std::size_t i, std::uint32_t j) {
    for (const term& each : rows_[f_.outputs()[i]])
      if (each.column == j) return each.derivative.slots_in(in_).first;
    return 0;
  }

  /// The recording, with f's inputs as its inputs.
  const recorder& recording() const { return in_; }

 private:
  struct term {
    std::uint32_t column;
    traced derivative;
  };

  const std::uint32_t* integers(const operation& op) const { return f_.code().integers.data() + op.data; }
  slot slot_of(const span& x, std::size_t i) const {
    return x.listed ? f_.code().integers[x.first + i] : static_cast<slot>(x.first + i * x.stride);
  }

  bool carry(const operation& op) {
    if (op.what->entries != nullptr)
      for (std::uint32_t i = 0; i < op.count; ++i) carry_entry(op, i);
    else if (op.what == &kernels::gather)
      for (std::uint32_t i = 0; i < op.count; ++i) copy(integers(op)[i], op.result + i);
    else if (op.what == &kernels::sum && op.arity == 1)
      for (std::uint32_t i = 0; i < op.count; ++i) carry_sum(op, i);
    else if (op.what->depends.how == dependence::product)
      carry_product(op);
    else
      return false;
    return true;
  }

  void copy(slot from, slot to) {
    number_[to] = number_[from];
    rows_[to] = rows_[from];
  }

  void carry_entry(const operation& op, std::uint32_t i) {
    constexpr std::size_t most_arguments = 3;
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
    put(op.result + i);
  }
  static double value_of(const operation& op, const traced* x) {
    const double values[] = {x[0].constant(), x[1].constant(), x[2].constant()}, *columns[] = {values, values + 1, values + 2};
    double y = 0;
    op.what->entries->values(1, columns, &y);
    return y;
  }

  void carry_sum(const operation& op, std::uint32_t i) {
    const std::uint32_t length = integers(op)[0];
    traced sum(0.0);
    for (std::uint32_t j = 0; j < length; ++j) {
      const slot from = slot_of(op.operands[0], std::size_t{i} * length + j);
      sum = j == 0 ? number_[from] : sum + number_[from];
      add(1.0, from);
    }
    number_[op.result + i] = sum;
    put(op.result + i);
  }

  void carry_product(const operation& op) {
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
      put(op.result + i);
    }
  }

  // ---- the matrix row of a result: the terms added since the last call of `put`

  void add(const traced& partial, slot from) {
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
  void put(slot result) {
    rows_[result].swap(row_);
    row_.clear();
    ++mark_;
  }

  /// Returns the product, which is zero where either is zero, even beside infinity.
  static traced product(const traced& a, const traced& b) {
    if (!a.is_constant() && b.is_constant()) return times(b, a);
    return times(a, b);
  }

  const program& f_;
  std::size_t most_;
  recorder in_;
  std::vector<traced> number_;           // traced number of each slot of f
  std::vector<std::vector<term>> rows_;  // derivatives of each slot
  std::vector<term> row_;
  std::vector<std::uint32_t> place_, marked_;  // index of a column in row_, if marked
  std::uint32_t mark_ = 1;
};

/// Returns the number of entries that a program computes, a measure of the cost of a run.
inline std::size_t work_of(const program& f) {
  std::size_t entries = 0;
  for (const operation& op : f.code().operations)
    entries +=
        std::size_t{op.count} * (op.what->depends.how == dependence::product ? f.code().integers[op.data + 1] : std::size_t{1});
  return entries;
}

}  // namespace detail

/// Returns the program of the entries of df/dx with respect to inputs [first, first + count), in the order of the pattern or,
/// without a pattern, row after row. Returns null where the derivatives of an operation are not made of rules, or where the
/// entries would cost more than `most_runs` runs of f.
inline std::shared_ptr<const program> entries_program(const program& f, std::size_t first, std::size_t count,
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
  std::shared_ptr<const program> made = schedule(flow.recording(), entries);
  return detail::work_of(*made) <= most ? made : nullptr;
}

}  // namespace agrad
