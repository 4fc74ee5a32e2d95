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

#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/program.hpp>
#include <agrad/program/recording/tracing.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad {

namespace detail {

class derivative_flow {
 public:
  /// Derivatives are with respect to inputs [first, first + count). most: the most operations to record.
  derivative_flow(const program& f, std::size_t first, std::size_t count, std::size_t most);

  /// Returns false where the derivatives of an operation are not made of rules, or where there are too many operations.
  bool run();

  /// Returns the slot of the derivative of output i with respect to column j.
  slot entry(std::size_t i, std::uint32_t j);

  /// Returns the recording, with f's inputs as its inputs.
  const recorder& recording() const { return in_; }

 private:
  struct term {
    std::uint32_t column;
    traced derivative;
  };

  const std::uint32_t* integers(const operation& op) const { return f_.code().integers.data() + op.data; }
  slot slot_of(const span& x, std::size_t i) const;

  bool propagate(const operation& op);

  void copy(slot from, slot to);

  void propagate_entry(const operation& op, std::uint32_t i);
  static double value_of(const operation& op, const traced* x);

  void propagate_sum(const operation& op, std::uint32_t i);

  void propagate_product(const operation& op);

  /// Propagates a lookup. Returns whether the table depends on none of the wanted inputs.
  bool propagate_lookup(const operation& op);
  /// Returns an operand of an operation that takes no single slots for all entries.
  span operand_of(const span& x);

  // ---- the matrix row of a result: the terms added since the last call of `set_entry`

  void add(const traced& partial, slot from);
  void set_entry(slot result);

  /// Returns the product, which is zero where either is zero, even beside infinity.
  static traced product(const traced& a, const traced& b);

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
std::size_t work_of(const program& f);

}  // namespace detail

/// Returns the program of the entries of df/dx with respect to inputs [first, first + count), in the order of the pattern or,
/// without a pattern, row after row. Returns null where the derivatives of an operation are not made of rules, or where the
/// entries would cost more than `most_runs` runs of f.
std::shared_ptr<const program> entries_program(const program& f, std::size_t first, std::size_t count,
                                               const csr_pattern* pattern, std::size_t most_runs);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/entries_program.ipp>
#endif
