// Entries program: the entries of a program's Jacobian as a program of their own, for those who want them often or want their
// derivatives.
//
// The program is replayed on traced numbers, and beside each number go its derivatives with respect to the inputs it depends on,
// which the rules record. Zeros are never there, and ones and other constants are not multiplied with, so that of a sparse
// Jacobian little is left to compute. Read first: program/machine/traced.hpp. Read next: solve/system/program/ode.hpp, its
// user.
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
  /// Of the inputs [first, first + count). most: operations to record before giving up.
  derivative_flow(const program& f, std::size_t first, std::size_t count, std::size_t most)
      : f_(f), most_(most), number_(f.size()), rows_(f.size()), place_(count), marked_(count, 0) {
    for (std::size_t s = 0; s < f.fixed().size(); ++s) number_[s] = f.fixed()[s];
    for (std::size_t i = 0; i < f.input_size(); ++i) {
      const slot s = f.inputs()[i];
      number_[s] = traced(in_, {in_.input(&f.fixed()[s], 1), 1, 0, true});
      if (i >= first && i < first + count) rows_[s].push_back({static_cast<std::uint32_t>(i - first), 1.0});
    }
  }

  /// False where an operation's derivatives are not made of rules, or where there are too many operations.
  bool run() {
    const unrolled operations(f_.code());
    for (const operation& op : operations.operations()) {
      if (!carry(op) || in_.code().operations.size() > most_) return false;
    }
    return true;
  }

  /// The slot of the derivative of output i with respect to column j.
  slot entry(std::size_t i, std::uint32_t j) {
    for (const term& each : rows_[f_.outputs()[i]])
      if (each.column == j) return each.derivative.slots_in(in_).first;
    return 0;
  }

  /// What was recorded, with f's inputs as its own.
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

  // ---- the row of a result: what was added since the last one was put away

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

  /// Zeros of a derivative stay zeros beside what is infinite.
  static traced product(const traced& a, const traced& b) {
    if (!a.is_constant() && b.is_constant()) return times(b, a);
    return times(a, b);
  }

  const program& f_;
  std::size_t most_;
  recorder in_;
  std::vector<traced> number_;           // what each slot of f is in the recording
  std::vector<std::vector<term>> rows_;  // and its derivatives
  std::vector<term> row_;
  std::vector<std::uint32_t> place_, marked_;  // of a column in the row, if it is marked
  std::uint32_t mark_ = 1;
};

/// Entries that a program computes, a measure of what a run of it costs.
inline std::size_t work_of(const program& f) {
  std::size_t entries = 0;
  for (const operation& op : f.code().operations)
    entries +=
        std::size_t{op.count} * (op.what->depends.how == dependence::product ? f.code().integers[op.data + 1] : std::size_t{1});
  return entries;
}

}  // namespace detail

/// The program of the entries of df/dx with respect to the inputs [first, first + count), in the pattern's order, or row after
/// row without one. Null where an operation's derivatives are not made of rules, or where the entries would take more than
/// `most_runs` runs of f.
inline std::shared_ptr<const program> entries_program(const program& f, std::size_t first, std::size_t count,
                                                      const csr_pattern* pattern, std::size_t most_runs) {
  const std::size_t most = most_runs * detail::work_of(f) + 64;
  detail::derivative_flow flow(f, first, count, 4 * most);  // of which some will turn out not to be needed
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
