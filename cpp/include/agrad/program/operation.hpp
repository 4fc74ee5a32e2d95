// Operation: one step of a recorded program, and the kernel that carries it out.
//
// A program's values live in one space of slots; the adjoint of slot i is entry i of another. An operation reads spans of
// slots and writes one span. A kernel is the pair of loops (values forwards, adjoints backwards) for one kind of operation,
// once for doubles and once for lanes, which carry directional derivatives; operations name their kernel by a pointer, so
// the runner knows no names and no rules.
// Read next: program/kernels.hpp (kernels made from rules), program/structure.hpp (gather, sum, product), program/record.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/program/dependence.hpp>

namespace agrad {

using slot = std::uint32_t;
/// The scalar of tangent runs: a value and derivatives in four directions at once.
using lanes = dual<double, 4>;
inline constexpr int lane_count = 4;

/// Consecutive slots (stride 1), or one slot that stands for all entries (stride 0). Passive spans get no adjoint.
struct span {
  slot first = 0;
  std::uint32_t count = 0;  // slots, 1 when the stride is 0
  std::uint16_t stride = 1;
  bool active = true;
};

struct kernel;

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
};

/// What kernels need beside values: integers (shapes, gather lists), external operations and their states.
struct run_context {
  const std::uint32_t* integers = nullptr;
  const std::shared_ptr<const external_operation>* externals = nullptr;
  std::unique_ptr<external_operation::state>* states = nullptr;
  bool with_adjoint = false;
};

template <class S>
struct kernel_loops {
  void (*forward)(const operation&, const run_context&, S* values);
  void (*reverse)(const operation&, const run_context&, const S* values, S* adjoints);
};

struct kernel {
  std::string_view name;
  kernel_loops<double> real;
  kernel_loops<lanes> dual;
  dependence depends = {};  // for patterns (program/sparsity.hpp)
  template <class S>
  const kernel_loops<S>& loops() const {
    if constexpr (std::is_same_v<S, double>)
      return real;
    else
      return dual;
  }
};

}  // namespace agrad
