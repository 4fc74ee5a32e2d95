// Sparsity: the patterns of a program's Jacobian and Hessian, from the operations alone.
//
// Sets of inputs are propagated through the operations in order, by each operation's kind of dependence; an output's set is its
// row of the Jacobian's pattern. For the Hessian, operations that are curved in their operands determine which inputs meet
// (program/sparse/interactions.hpp). A pattern holds for every argument on the program's path; of all values, only constant
// zeros are used. Read first: program/machine/dependence.hpp. Read next: program/sparse/sparse.hpp, which computes the entries.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/program.hpp>
#include <agrad/program/sparse/interactions.hpp>

namespace agrad {

namespace detail {

/// Propagates index sets through a program. required: the inputs of the derivatives; index j is input required[j].
class set_flow {
 public:
  using set = index_sets::set;

  set_flow(const program& f, const std::vector<std::uint32_t>& required);

  csr_pattern jacobian();

  csr_pattern hessian();

 private:
  // ---- operands ------------------------------------------------------------------------------------------------------

  const std::uint32_t* integers(const operation& op) const { return f_.code().integers.data() + op.data; }
  slot slot_of(const operation& op, std::size_t k, std::size_t i) const;
  static std::size_t size_of(const operation& op, std::size_t k) { return op.operands[k].count; }
  set at(const operation& op, std::size_t k, std::size_t i) const { return of_[slot_of(op, k, i)]; }

  set all_of(const operation& op, std::size_t first = 0);

  // ---- slots on which the outputs depend -----------------------------------------------------------------------------

  void mark_what_matters();

  void curve(const operation& op, std::size_t i, set a, set b);

  // ---- kinds ---------------------------------------------------------------------------------------------------------

  void propagate(const operation& op);

  void on_everything(const operation& op);

  void entrywise(const operation& op);

  void gathered(const operation& op);

  static std::size_t begin_of_line(std::size_t i, std::size_t length, std::size_t inner);

  set line(const operation& op, std::size_t begin, std::size_t length, std::size_t inner);

  void along_lines(const operation& op, std::size_t length, std::size_t inner, std::size_t lines);

  void whole_lines(const operation& op, std::size_t length, std::size_t inner);

  void products(const operation& op);

  /// Propagates sets through the product of a rows x inner and an inner x cols matrix, from entry a of operand 0 and entry b of
  /// operand 1 on. Constant zeros are omitted.
  void product(const operation& op, std::size_t rows, std::size_t inner, std::size_t cols, std::size_t result, std::size_t a,
               std::size_t b);

  void add_to_list(set s);

  void meet_each(std::vector<set>& left, std::vector<set>& right);

  void terms(const operation& op);

  void scattered(const operation& op);

  void looked_up(const operation& op);

  const program& f_;
  unrolled operations_;
  index_sets sets_;
  std::vector<set> of_;                // of each slot
  std::vector<std::uint8_t> is_zero_;  // whether the slot is zero for all inputs
  std::vector<std::uint8_t> matters_;  // whether an output depends on the slot
  interactions* meet_ = nullptr;       // for second derivatives only
  std::vector<set> list_;
  interrupt_pace pace_;
};

}  // namespace detail

/// Returns all inputs of a program, in order.
std::vector<std::uint32_t> all_inputs(const program& f);

/// Returns the pattern of the Jacobian of a program with respect to the inputs `required`: outputs x required.
csr_pattern jacobian_pattern(const program& f, const std::vector<std::uint32_t>& required);
inline csr_pattern jacobian_pattern(const program& f) { return jacobian_pattern(f, all_inputs(f)); }

/// Returns the pattern of the Hessian of any combination of the outputs with respect to the inputs `required`: symmetric,
/// required x required.
csr_pattern hessian_pattern(const program& f, const std::vector<std::uint32_t>& required);
inline csr_pattern hessian_pattern(const program& f) { return hessian_pattern(f, all_inputs(f)); }

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/sparsity.ipp>
#endif
