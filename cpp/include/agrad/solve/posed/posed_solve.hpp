// Posed solve: a solve as a differentiable function of one flat vector, whose parts have names.
//
// Every kind of problem is such a function: initial value problems, problems with doses and events, differential-algebraic
// systems, steady states. The hosts, which put solves on the tape, into duals and into recorded programs, know this interface
// and nothing of the kinds.
// Read next: solve/posed/ode.hpp, a kind; solve/record/solve_operation.hpp and solve/record/tape_node.hpp, hosts.
#pragma once

#include <cstddef>

#include <agrad/base/error.hpp>
#include <agrad/solve/posed/parts.hpp>
#include <agrad/solve/solver/statistics.hpp>
#include <agrad/solve/solver/step_log.hpp>

namespace agrad {

/// The highest order of derivatives with tangents, and whether tangents and adjoints agree to rounding.
struct tangent_kind {
  int order = 0;
  bool match = true;
};

class posed_solve {
 public:
  posed_solve() = default;
  posed_solve(const posed_solve&) = delete;
  posed_solve& operator=(const posed_solve&) = delete;
  virtual ~posed_solve() = default;

  const flat_parts& argument() const { return argument_; }
  /// Returns the parts of the result; known after `solve` if the sizes depend on values.
  const flat_parts& result() const { return result_; }

  /// Solves for an argument.
  virtual void solve(const double* x) = 0;
  /// After `solve`: writes the result.
  virtual void read(double* y) const = 0;
  /// Return, after `solve`, the times at which the integration began and ended; equal if nothing was integrated.
  virtual double begin() const { return 0; }
  virtual double end() const { return 0; }

  /// After `solve`: adds the transposed Jacobian times y_adjoint to x_adjoint.
  virtual void reverse(const double* y_adjoint, double* x_adjoint) = 0;
  /// Does the same as `reverse` for several adjoints, `stride` numbers apart.
  virtual void reverse_rows(std::size_t count, const double* y_adjoints, double* x_adjoints, std::size_t stride) {
    for (std::size_t row = 0; row < count; ++row) reverse(y_adjoints + row * stride, x_adjoints + row * stride);
  }

  virtual tangent_kind tangents() const { return {}; }
  /// After `solve`: computes the tangents of the result along directions of the argument, 1 or 8 side by side.
  inline virtual void tangent(int width, const double* x_tangent, double* y_tangent);
  /// After `tangent`: adds to x_adjoint as `reverse` does, and adds the tangents of x_adjoint along the same directions.
  inline virtual void second(int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
                             double* x_adjoint_tangent);

  /// Returns the costs of the last `solve` and all later reverse passes.
  virtual ode_statistics statistics() const { return {}; }

  /// Makes `solve` log what limits its steps. Returns whether the method supports logs.
  virtual bool log_steps(detail::step_log*) { return false; }

 protected:
  flat_parts argument_, result_;
};

inline void posed_solve::tangent(int, const double*, double*) {
  throw DerivativeError("posed_solve: the solve has first derivatives only, by reverse mode");
}
inline void posed_solve::second(int, const double*, const double*, double*, double*) {
  throw DerivativeError("posed_solve: the solve has first derivatives only");
}

}  // namespace agrad
