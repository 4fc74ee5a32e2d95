// Operation: one step of a recorded program, and the kernel that carries it out.
//
// A program's values live in one space of slots; its adjoints, tangents and adjoints' tangents in spaces beside it, under the
// same numbers. An operation reads spans of slots and writes one span. A kernel is what can be done with one kind of
// operation: values forwards, adjoints backwards, and both for directional derivatives that travel along, one or eight at
// once. Operations name their kernel by a pointer, so the runner knows no names and no rules.
// A kernel also says of which form its operations are (`fits`), which is asked of programs that come from outside of memory.
// Read next: program/machine/elementwise.hpp (kernels made from rules), program/machine/structure.hpp (gather, sum),
// program/machine/record.hpp.
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

/// Tangents travel alone or in lanes of this many, which lie side by side: direction k of slot i is entry i * lane_count + k.
inline constexpr int lane_count = 8;

/// Consecutive slots (stride 1), one slot that stands for all entries (stride 0), or a list of slots: `first` is then the
/// list's place among the program's integers. Passive spans get no adjoint. Lists are for kernels that take them.
struct span {
  slot first = 0;
  std::uint32_t count = 0;  // slots, 1 when the stride is 0
  std::uint16_t stride = 1;
  bool active = true;
  bool listed = false;
};

struct kernel;
class portable_writer;

struct operation {
  static constexpr int most_operands = 6;
  const kernel* what = nullptr;
  slot result = 0;
  std::uint32_t count = 0;  // slots of the result
  std::uint32_t data = 0;   // place of the operation's integers in the program's list
  std::uint32_t data_count = 0;
  std::uint32_t arity = 0;
  std::array<span, most_operands> operands{};
};

/// An operation that lives outside of the rules, such as the solution of a differential equation. The object describes it
/// and is shared between threads; what a run leaves for the sweep back is in a state that belongs to one workspace.
class external_operation {
 public:
  class state {
   public:
    virtual ~state() = default;
  };
  virtual ~external_operation() = default;
  virtual std::string_view name() const = 0;
  virtual std::unique_ptr<state> make_state() const = 0;
  /// y = f(x). When `with_adjoint`, keeps in the state what `reverse` needs.
  virtual void forward(state& s, const double* x, double* y, bool with_adjoint) const = 0;
  /// Adds the transposed Jacobian times y_adjoint to x_adjoint; may be called again with other adjoints.
  virtual void reverse(state& s, const double* y_adjoint, double* x_adjoint) const = 0;
  /// `reverse` for several adjoints of y, the first numbers of which are `stride` apart, as are those of x.
  virtual void reverse_rows(state& s, std::size_t count, const double* y_adjoints, double* x_adjoints,
                            std::size_t stride) const {
    for (std::size_t row = 0; row < count; ++row) reverse(s, y_adjoints + row * stride, x_adjoints + row * stride);
  }

  /// Called where an operation that holds this one's derivatives is recorded beside it, so that both are to compute the same value.
  virtual void expect_derivatives() const {}

  /// Whether it has no second derivatives, because it is linear.
  virtual bool is_linear() const { return false; }
  /// Whether the operation has the two functions below, and so second derivatives.
  virtual bool has_tangents() const { return false; }
  /// Whether it has the first of them, and so forward mode.
  virtual bool has_first_tangents() const { return has_tangents(); }
  /// The operation, in this one or itself, that has not both (order 2) or not the first (order 1), or whose tangents are not known
  /// to agree with its adjoints to rounding (order 0), as those of operations with both do; null without any.
  virtual const external_operation* first_without_tangents(int order) const {
    return (order == 1 ? has_first_tangents() : has_tangents()) ? nullptr : this;
  }
  /// After `forward`: y_tangent = J x_tangent, for `width` directions side by side (1 or lane_count).
  virtual void tangent(state& s, int width, const double* x_tangent, double* y_tangent) const;
  /// After `tangent`: adds to x_adjoint and x_adjoint_tangent (width a slot) the sweep back of both.
  virtual void second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
                      double* x_adjoint_tangent) const;
  [[noreturn]] void fail_tangent() const;

  /// What such operations are called where programs are kept (program/keep/portable.hpp); empty of those that cannot be.
  virtual std::string_view kind() const { return {}; }
  /// Writes what an equal operation can be made of.
  virtual void write(portable_writer& to) const;
  /// Whether its argument has so many numbers and its value so many.
  virtual bool fits(std::size_t /*arguments*/, std::size_t /*results*/) const { return false; }
};

struct instruction;

/// What kernels need beside the spaces: integers (shapes, lists), straight code, external operations and their states.
struct run_context {
  const std::uint32_t* integers = nullptr;
  const instruction* instructions = nullptr;
  const std::shared_ptr<const external_operation>* externals = nullptr;
  std::unique_ptr<external_operation::state>* states = nullptr;
  bool with_adjoint = false;
};

/// The spaces of a sweep back that carries tangents.
struct second_spaces {
  const double* values;
  const double* tangents;
  double* adjoints;
  double* adjoint_tangents;
};

/// One kind of operation done once a direction or for eight directions at once.
template <class Function>
struct by_width {
  Function one, lanes;
  template <int Width>
  Function at() const {
    static_assert(Width == 1 || Width == lane_count, "tangents travel alone or in lanes");
    if constexpr (Width == 1)
      return one;
    else
      return lanes;
  }
};

/// An operation as `kernel::fits` sees it, before it is run for the first time. Its integers and operands lie within the program,
/// and all slots that its operands name hold numbers when its turn comes; only kernels with steps have lists.
struct operation_view {
  enum class slot_kind : std::uint8_t { constant, input, pending, computed };

  const operation& op;
  const std::uint32_t* integers;  // its own
  const std::vector<instruction>& instructions;
  const std::vector<std::shared_ptr<const external_operation>>& externals;
  const std::vector<double>& fixed;  // the values of constants
  const std::vector<slot_kind>& slots;

  bool has(std::uint32_t arity, std::uint32_t integer_count) const {
    return op.arity == arity && op.data_count == integer_count;
  }
  /// Whether an operand is n numbers side by side.
  bool is_dense(std::size_t operand, std::uint64_t n) const {
    const span& x = op.operands[operand];
    return !x.listed && x.count == n && (x.stride == 1 || n == 1);
  }
  /// Whether an operand is n numbers, or one for all of them.
  bool is_entrywise(std::size_t operand, std::uint64_t n) const {
    const span& x = op.operands[operand];
    return x.stride == 0 || x.count == n;
  }
  bool is_ready(slot s) const { return s < slots.size() && slots[s] != slot_kind::pending; }
  bool is_constant(slot s) const { return s < slots.size() && slots[s] == slot_kind::constant; }
  /// Whether so many of something can be, be they of nothing: what counts slots cannot be more than there are.
  bool is_count(std::uint64_t n) const { return n <= slots.size() + (std::uint64_t{1} << 16U); }
  /// Whether a count is the product of factors, which are counts.
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

struct straight_steps;
struct entry_functions;

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
  form fits;                // whether the loops can be run on such an operation
  dependence depends = {};  // for patterns (program/sparse/sparsity.hpp)
  /// Of kernels that work entry by entry: their steps as straight code (program/machine/straight.hpp), by which operands are
  /// active. Only such kernels take lists.
  const straight_steps* steps = nullptr;
  const entry_functions* entries = nullptr;  // of the same kernels
};

}  // namespace agrad
