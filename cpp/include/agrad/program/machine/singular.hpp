// Singular: the entries of a program whose slopes may be infinite, and whether a pass met a zero or an infinite number there.
//
// Ordinary passes take a zero times an infinite slope for zero. That is right where the zero follows from the structure of the
// program, and unknown where it was computed (rules/passing.hpp). So after a pass, a look at these entries tells whether a
// careful pass must follow (program/machine/careful.hpp), which few points need. The entries are those of elementwise
// operations that are not smooth everywhere: logarithms, roots, powers, quotients.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <agrad/program/machine/unrolled.hpp>

namespace agrad::detail {

/// The slots that have a property which operations pass on, such as the dependence on an input.
class slot_set {
 public:
  explicit slot_set(std::size_t slots) : has_(slots, 0) {}

  bool has(slot s) const { return has_[s] != 0; }
  void set(slot s, bool has) { has_[s] = has ? 1 : 0; }

 private:
  std::vector<std::uint8_t> has_;
};

class singular_entries {
 public:
  singular_entries() = default;
  /// is_included: tells by its number whether an operation is one of these.
  explicit singular_entries(const program_code& code, const std::function<bool(std::size_t)>& is_included = {});

  /// Returns whether a reverse pass may have met a zero adjoint at a slope that is not finite.
  bool meet_zero(const program_code& code, workspace& w, const double* adjoints) const;
  /// Returns whether a reverse pass with tangents may have met an adjoint or an adjoint's tangent of zero at a slope, or at a
  /// slope's slope, that is not finite.
  bool meet_zero_of_second(const program_code& code, workspace& w) const;
  /// Returns whether a tangent of a result, also of an external operation, is not finite.
  bool meet_infinite(const workspace& w, int width) const;
  /// Returns whether a derivative of an order up to `order` is not finite. The workspace stores the answer for the run.
  bool have_infinite_slope(const program_code& code, workspace& w, int order) const;

 private:
  struct place {
    slot result;
    std::uint32_t count;      // entries
    std::uint32_t operation;  // its number
    std::uint32_t step;       // of straight code
  };
  operation at(const program_code& code, const place& p) const;
  bool have_zero(const double* adjoints) const;
  bool externals_met_zero(const program_code& code, const workspace& w) const;
  /// Returns whether an operand's adjoint is not finite, as it is after an adjoint that is not zero met an infinite slope.
  bool have_infinite_adjoint(const program_code& code, const workspace& w) const;
  static bool has_infinite_slope(const operation& op, const run_context& context, const double* values, int order);

  std::vector<place> places_, externals_;
};

/// Computes partial derivatives of one entry of an elementwise operation.
class entry_slopes {
 public:
  /// varying: what is not constant; null: all that depends on an input.
  entry_slopes(const operation& op, const run_context& context, const double* values, const slot_set* varying = nullptr)
      : op_(op), integers_(context.integers), values_(values), varying_(varying) {}

  slot slot_of(std::uint32_t k, std::uint32_t i) const { return slot_of_entry(integers_, op_.operands[k], i); }
  /// Returns the partial derivative of entry i with respect to operand j.
  double slope(std::uint32_t j, std::uint32_t i);
  /// Computes the derivatives of that with respect to all operands; those of passive operands are zero.
  void slopes_of_slope(std::uint32_t j, std::uint32_t i, double* h);
  /// Returns whether entry i does not depend on operand j by structure: another factor is a constant zero, or the operation
  /// chose another operand.
  bool is_cut(std::uint32_t j, std::uint32_t i);

 private:
  void read(std::uint32_t i);
  bool varies(std::uint32_t k, std::uint32_t i) const {
    return op_.operands[k].active && (varying_ == nullptr || varying_->has(slot_of(k, i)));
  }

  const operation& op_;
  const std::uint32_t* integers_;
  const double* values_;
  const slot_set* varying_;
  const double* x_[operation::most_operands] = {};
};

/// Returns whether one of n numbers is zero.
inline bool has_zero(const double* x, std::size_t n) {
  std::int64_t found = 0;  // as wide as the numbers, so that the compiler vectorises the loop
  for (std::size_t i = 0; i < n; ++i) found |= static_cast<std::int64_t>(x[i] == 0);
  return found != 0;
}

/// Returns whether the operation is the logarithm of a sum with weights that are variables.
inline bool has_weights(const operation& op) { return op.what->depends.has_weights && op.arity == 2 && op.operands[1].active; }

/// Returns whether the operation's slopes may be infinite without an overflow.
bool may_be_singular(const operation& op);

/// Adds the results of an operation to the slots whose tangents may be infinite without an overflow: those behind an operation
/// that may be singular.
void add_singular(const operation& op, const std::uint32_t* integers, slot_set& singular);

/// Adds the results of an operation to the slots that vary: those that an operand passes something on to. A product with a
/// constant zero is constant, also among the products of a recorded derivative.
void add_varying(const operation& op, const run_context& context, const double* values, slot_set& varying);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/machine/singular.ipp>
#endif
