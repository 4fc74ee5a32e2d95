// Part: the operations of a recording between two positions, and which of their slots depend on given slots.
//
// Derivatives by hand are recorded at arguments that are held constant (program/machine/custom.hpp). The derivative of such a
// derivative needs the operations at the arguments themselves (program/derive/released.hpp).
// Read next: program/derive/adjoints.hpp, program/derive/tangents.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <agrad/program/derive/released.hpp>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad {

class recorded_part {
 public:
  /// Contains operations `begin` to before `end`; `on`: the slots with respect to which derivatives are wanted.
  recorded_part(const recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& on);

  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }
  bool depends(slot s) const { return s < depends_.size() && depends_[s] != 0; }
  bool depends(slot first, std::uint32_t n) const;

  /// Returns an operand or the result of an operation, at the arguments themselves where these are held.
  span now(recorder& in, const span& x, const operation& op) { return released_(in, x, op); }

  /// Returns the slots of all operands, one after the other, at the arguments themselves.
  std::vector<slot> operands_now(recorder& in, const operation& op);

  /// Makes operands active that depend on the slots `on`, even where they are constants of the recording.
  void mark_active(operation& op) const;

  /// Returns an operand other than k whose entry i is a factor of entry i of the result and does not depend on the slots `on`,
  /// or the arity.
  std::uint32_t constant_factor(const operation& op, std::uint32_t k, std::uint32_t i) const;
  /// Returns whether the derivative of entry i of an elementwise operation with respect to operand k varies with the slots
  /// `on`. Where it does not and is zero, that is structural: a choice not taken, or a constant factor. Zeros among the
  /// products of a recorded derivative count as structural.
  bool varies(const operation& op, std::uint32_t k, std::uint32_t i) const;

  /// Returns whether the operation has no second derivatives.
  static bool is_linear(const recorder& in, const operation& op);

  static std::string name_of(const recorder& in, const operation& op);

 private:
  /// Marks the entries of a result that depend on the slots `on`.
  void enter(const recorder& in, const operation& op);
  /// Returns whether an entry of the result depends on the slots `on`; a product with a constant that is zero does not.
  bool entry_depends(const recorder& in, const operation& op, std::uint32_t i) const;
  /// Returns whether entry i of operand k is a factor of the result and does not depend on the slots `on`.
  bool is_constant_factor(const operation& op, std::uint32_t k, std::uint32_t i) const;
  bool reads_dependent(const operation& op) const;

  std::size_t begin_, end_;
  std::vector<std::uint8_t> depends_;
  released released_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/part.ipp>
#endif
