// Operation: one operation of a recorded program, and the kernel that runs the operation.
//
// A program's values are in one space of slots; adjoints, tangents and the adjoints' tangents are in further spaces with the
// same slot numbers. An operation reads spans of slots and writes one span. A kernel is a set of loops for one kind of
// operation: values in the forward pass, adjoints in the reverse pass, and both with tangents along one or eight directions.
// Operations point to their kernels, so the loops that run a program know no names and no rules. A kernel also tells whether an
// operation has the right form (`fits`), which is checked for programs read from storage.
// Read next: program/recording/elementwise.hpp (kernels made from rules), program/machine/structure.hpp (gather, sum),
// program/recording/record.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/program/machine/dependence.hpp>

namespace agrad {

using slot = std::uint32_t;

/// Number of tangents in a group. Tangents are propagated singly or in interleaved groups: direction k of slot i is entry
/// i * lane_count + k.
inline constexpr int lane_count = 8;

/// Consecutive slots (stride 1), one slot for all entries (stride 0), or a list of slots: `first` is then the index of the list
/// among the program's integers. Passive spans get no adjoint. Only some kernels take lists.
struct span {
  slot first = 0;
  std::uint32_t count = 0;  // slots, 1 when the stride is 0
  std::uint16_t stride = 1;
  bool active = true;
  bool listed = false;
};

struct kernel;
class portable_writer;
class recorder;

struct operation {
  static constexpr int most_operands = 6;
  const kernel* what = nullptr;
  slot result = 0;
  std::uint32_t count = 0;  // slots of the result
  std::uint32_t data = 0;   // index of the operation's integers among the program's integers
  std::uint32_t data_count = 0;
  std::uint32_t arity = 0;
  bool is_composed = false;  // recorded inside of a composed function (program/machine/composed.hpp)
  std::array<span, most_operands> operands{};
};

/// Adjoints of a careful pass, their tangents (`width` for each), and a mark for each of these numbers, which is zero where the
/// number is zero by structure (program/machine/careful.hpp).
struct marked_adjoints {
  double *adjoints, *tangents, *marks, *tangent_marks;
};

/// An operation that is not made of rules, such as the solution of a differential equation. Threads share the object; the
/// results of a run that the reverse pass needs are in a state, which belongs to one workspace.
class external_operation {
 public:
  class state {
   public:
    virtual ~state() = default;
  };
  virtual ~external_operation() = default;
  virtual std::string_view name() const = 0;
  virtual std::unique_ptr<state> make_state() const = 0;
  /// Computes y = f(x). With `with_adjoint`, stores the data for `reverse` in the state.
  virtual void forward(state& s, const double* x, double* y, bool with_adjoint) const = 0;
  /// Adds the transposed Jacobian times y_adjoint to x_adjoint. May be called again with other adjoints.
  virtual void reverse(state& s, const double* y_adjoint, double* x_adjoint) const = 0;
  /// Does the same as `reverse` for several adjoints of y, `stride` numbers apart; the adjoints of x have the same distance.
  virtual void reverse_rows(state& s, std::size_t count, const double* y_adjoints, double* x_adjoints,
                            std::size_t stride) const {
    for (std::size_t row = 0; row < count; ++row) reverse(s, y_adjoints + row * stride, x_adjoints + row * stride);
  }

  /// Is called when an operation with the derivatives of this operation is recorded beside it, so that both must compute the
  /// same value.
  virtual void expect_derivatives() const {}

  /// Returns whether the operation is linear and so has no second derivatives.
  virtual bool is_linear() const { return false; }
  /// Returns whether the operation has `tangent` and `second`, and so second derivatives.
  virtual bool has_tangents() const { return false; }
  /// Returns whether the operation has `tangent`, and so forward mode.
  virtual bool has_first_tangents() const { return has_tangents(); }
  /// Returns the first operation, this one or one inside, that lacks `tangent` or `second` (order 2), lacks `tangent` (order
  /// 1), or whose tangents may differ from its adjoints by more than rounding (order 0); null if there is none. Tangents and
  /// adjoints of operations with both functions are known to agree.
  virtual const external_operation* first_without_tangents(int order) const {
    return (order == 1 ? has_first_tangents() : has_tangents()) ? nullptr : this;
  }
  /// After `forward`: computes y_tangent = J x_tangent for `width` interleaved directions (1 or lane_count).
  inline virtual void tangent(state& s, int width, const double* x_tangent, double* y_tangent) const;
  /// After `tangent`: propagates y_adjoint and its tangents, adding to x_adjoint and to x_adjoint_tangent (`width` numbers a
  /// slot).
  inline virtual void second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
                             double* x_adjoint_tangent) const;
  [[noreturn]] inline virtual void fail_tangent() const;

  /// Returns whether the operation has `record`.
  virtual bool has_formulas() const { return false; }
  /// Records the operation as others that have derivatives of all orders, for derivatives at the present values of the operand
  /// alone: comparisons go as they do there. Returns the slots of the result.
  inline virtual std::vector<slot> record(recorder& in, const span& x) const;

  /// Returns whether the last `tangent`, `reverse` or `second` met a zero at a slope that is not finite inside, so that a
  /// careful pass must follow.
  virtual bool met_zero(const state& /*s*/) const { return false; }
  /// Does the same as `reverse` (width 0) or `second` as a careful pass. varies: for each entry of x, whether it is not
  /// constant. Unless overridden, what remains zero in x is zero by structure.
  inline virtual void reverse_carefully(state& s, int width, const marked_adjoints& y, const marked_adjoints& x,
                                        const std::vector<bool>& varies) const;

  /// Returns the name of this kind of operation in stored programs (program/store/portable.hpp); empty where the operation
  /// cannot be stored.
  virtual std::string_view kind() const { return {}; }
  /// Writes the data from which an equal operation can be made.
  inline virtual void write(portable_writer& to) const;
  /// Returns whether the operand and the result have these sizes.
  virtual bool fits(std::size_t /*arguments*/, std::size_t /*results*/) const { return false; }
};

struct instruction;

/// Data of kernels beside the spaces: integers (shapes, lists), straight code, external operations and their states.
struct run_context {
  const std::uint32_t* integers = nullptr;
  const instruction* instructions = nullptr;
  const std::shared_ptr<const external_operation>* externals = nullptr;
  std::unique_ptr<external_operation::state>* states = nullptr;
  bool with_adjoint = false;
};

/// The spaces of a reverse pass with tangents.
struct second_spaces {
  const double* values;
  const double* tangents;
  double* adjoints;
  double* adjoint_tangents;
};

/// Two versions of a loop: for one direction, and for lane_count directions.
template <class Function>
struct by_width {
  Function one, lanes;
  template <int Width>
  Function at() const {
    static_assert(Width == 1 || Width == lane_count,
                  "a loop computes tangents along one direction or along lane_count directions");
    if constexpr (Width == 1)
      return one;
    else
      return lanes;
  }
};

/// An operation as `kernel::fits` sees it, before the first run. Its integers and operands lie within the program, and all
/// slots of its operands have values when the operation runs; only kernels with steps have lists.
struct operation_view {
  enum class slot_kind : std::uint8_t { constant, input, pending, computed };

  const operation& op;
  const std::uint32_t* integers;  // of the operation
  const std::vector<instruction>& instructions;
  const std::vector<std::shared_ptr<const external_operation>>& externals;
  const std::vector<double>& fixed;  // the values of constants
  const std::vector<slot_kind>& slots;

  bool has(std::uint32_t arity, std::uint32_t integer_count) const {
    return op.arity == arity && op.data_count == integer_count;
  }
  /// Returns whether an operand is n consecutive numbers.
  bool is_dense(std::size_t operand, std::uint64_t n) const {
    const span& x = op.operands[operand];
    return !x.listed && x.count == n && (x.stride == 1 || n == 1);
  }
  /// Returns whether an operand is n numbers, or one number for all entries.
  bool is_entrywise(std::size_t operand, std::uint64_t n) const {
    const span& x = op.operands[operand];
    return x.stride == 0 || x.count == n;
  }
  bool is_ready(slot s) const { return s < slots.size() && slots[s] != slot_kind::pending; }
  bool is_constant(slot s) const { return s < slots.size() && slots[s] == slot_kind::constant; }
  /// Returns whether a count is possible: at most the number of slots, and 2^16 more for things that may have no slots.
  bool is_count(std::uint64_t n) const { return n <= slots.size() + (std::uint64_t{1} << 16U); }
  /// Returns whether a count is the product of factors, all of which are counts.
  template <class... Factors>
  bool is_product(std::uint64_t n, Factors... factors) const {
    std::uint64_t product = 1;
    bool fits = true;
    const auto multiply = [&](std::uint64_t factor) {
      fits = fits && is_count(factor) && is_count(product);
      product *= factor;
    };
    (multiply(factors), ...);
    return fits && product == n;
  }
};

/// Records an operation whose loops have second derivatives and no further ones, for derivatives of any order at the present
/// values. Each function may be null. `integers`: those of the operation, outside of the recording.
struct recorded_formulas {
  /// Records the same function by operations that have all derivatives. Returns the slots of the result, without those behind
  /// it that only the loops use; nothing where the recorded reverse pass has a formula of its own.
  using value_formula = std::vector<slot> (*)(recorder& in, const operation& op, const std::uint32_t* integers,
                                              const span* operands);
  /// Records the tangent of the result, which is recorded at `y`; tangents[k] is empty where operand k has none.
  using tangent_formula = std::vector<slot> (*)(recorder& in, const std::uint32_t* integers, const span* operands,
                                                const span& y, const span* tangents);
  /// Records the transposed Jacobian with respect to operand k times an adjoint; empty unless the operation is linear in it.
  using transposed_formula = std::vector<slot> (*)(recorder& in, const std::uint32_t* integers, const span* operands,
                                                   std::uint32_t k, const span& adjoint);
  value_formula value = nullptr;
  tangent_formula tangent = nullptr;
  transposed_formula transposed = nullptr;
};

struct straight_steps;
struct entry_functions;

/// For kernels whose results are rows that depend on one row of operand 0 each, and on all of operand 1.
struct row_functions {
  /// Returns the number of rows, of one entry each; 0 where an operation has another form.
  std::uint32_t (*count)(const operation&, const std::uint32_t* integers);
  /// Computes n rows from `begin` on.
  void (*values)(const operation&, const run_context&, std::uint32_t begin, std::uint32_t n, const double* values, double* y);
  /// Propagates their adjoints to the operands.
  void (*reverse)(const operation&, const run_context&, std::uint32_t begin, std::uint32_t n, const double* values,
                  const double* y_adjoint, double* adjoints);
};

/// For kernels that sum terms which are recorded as elementwise operations, and that have formulas for eight terms at once
/// besides. Operand 0 has the terms; operands 1, 2, ... are the arguments, each n numbers or one number for all.
struct term_functions {
  /// Checks the arguments, and computes the sum of the terms and, where slopes[k] is not null, the derivatives with respect to
  /// argument k: one for each term, or their sum where the argument is one number. Returns false where the formulas do not suit
  /// a term. `integers`: those of the operation.
  bool (*sum)(const operation&, const std::uint32_t* integers, const double* values, double& total, double* const* slopes);
  /// Returns the number of terms; 0 where there are no formulas for the operation.
  std::uint32_t (*count)(const operation&, const std::uint32_t* integers);
  /// Returns whether argument k has derivatives.
  bool (*is_active)(const std::uint32_t* integers, std::uint32_t k);
};

struct kernel {
  using forward_loop = void (*)(const operation&, const run_context&, double* values);
  using reverse_loop = void (*)(const operation&, const run_context&, const double* values, double* adjoints);
  using tangent_loop = void (*)(const operation&, const run_context&, const double* values, double* tangents);
  using second_loop = void (*)(const operation&, const run_context&, const second_spaces&);
  using form = bool (*)(const operation_view&);

  std::string_view name;
  forward_loop forward;
  reverse_loop reverse;
  by_width<tangent_loop> tangent;
  by_width<second_loop> second;
  form fits;                // whether the loops can run such an operation
  dependence depends = {};  // for patterns (program/sparse/sparsity.hpp)
  /// For kernels that work entry by entry and have at most three operands: the steps of straight code
  /// (program/machine/straight.hpp), one for each set of active operands. Only these kernels take lists.
  const straight_steps* steps = nullptr;
  const entry_functions* entries = nullptr;  // for all kernels that work entry by entry
  const recorded_formulas* formulas = nullptr;
  const row_functions* rows = nullptr;    // for kernels that work row by row
  const term_functions* terms = nullptr;  // for sums of terms that have formulas

  /// Return the same kernel with these functions.
  constexpr kernel with_rows(const row_functions& functions) const {
    kernel same = *this;
    same.rows = &functions;
    return same;
  }
  constexpr kernel with_terms(const term_functions* functions) const {
    kernel same = *this;
    same.terms = functions;
    return same;
  }
};

}  // namespace agrad
