// CVODES callbacks: the C functions through which CVODES sees an `ode_system`.
//
// With lambda the adjoint of y, CVODES integrates, from the last output time to t0,
//     lambda' = -(df/dy)^T lambda,    q' = -(df/dp)^T lambda,
// so that q(t0) is the gradient with respect to p (stan-dev/design-docs, 0027-adjoint-ode). The Jacobian of the backward
// problem is the negative transposed Jacobian of the right-hand side.
// CVODES' clock is zero at t0, because at late times a step may be smaller than the rounding of the problem's time. The system,
// listeners and messages get the problem's time.
// Read next: solve/cvodes/adjoint.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <agrad/base/progress.hpp>
#include <agrad/solve/cvodes/interpolation.hpp>
#include <agrad/solve/sundials/fault.hpp>
#include <agrad/solve/sundials/linear.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

class cvodes_forward;

}  // namespace agrad

namespace agrad::detail {

/// User data of a CVODES problem and its backward problem.
class cvodes_callbacks {
 public:
  explicit cvodes_callbacks(ode_system& of) : system_(&of), n_(of.states()), m_(of.parameters()) {}

  ode_system& system() const { return *system_; }
  Eigen::Index states() const { return n_; }
  Eigen::Index parameters() const { return m_; }
  /// Replaces the system by another with as many states and parameters; the old system may be destroyed already.
  void use(ode_system& other) { system_ = &other; }

  /// Sets CVODES' clock to zero at t0 and returns the times by that clock. The system is not evaluated after the last time.
  std::vector<double> start_clock(double t0, const std::vector<double>& times);
  double start() const { return start_; }
  double time(double since_start) const { return std::min(start_ + since_start, end_); }

  ode_fault fault;
  cvodes_interpolation interpolation;
  cvodes_forward* sensitivities = nullptr;  // the solver of a problem with sensitivities
  long rhs_evaluations = 0;

  /// Reports one pass to this thread's listener; forward steps that the reverse pass repeats are not reported.
  void set_listener(bool backwards);

  /// Makes the steps from each checkpoint on, which the reverse pass repeats, the same each time: a factorisation there does
  /// not depend on the matrices before. CVODES stores the repeated points in a place for `segment` steps and does not check
  /// that the steps are not more (seen in SUNDIALS 7.9), so that more steps raise here.
  void repeat(const std::string& function, void* forward, long segment, const sundials::newton& newton) {
    function_ = &function, forward_ = forward, segment_ = segment, newton_ = &newton;
  }
  /// Sets whether the next evaluations of the right-hand side belong to repeated steps.
  void set_repeating(bool now) { is_repeating_ = now, repeated_from_ = -1; }

  static int rhs(double t, N_Vector y, N_Vector dydt, void* data);

  /// Sets the form in which the Jacobian is evaluated.
  void evaluate_jacobian_as(const std::string& function, const chosen_algebra& how);

  static int jacobian(double t, N_Vector y, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector, N_Vector);

  static int product(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector, void* data, N_Vector);

  static int backward_rhs(double t, N_Vector y, N_Vector lambda, N_Vector dlambda, void* data);

  /// Computes the entries of -J. The matrix of the backward problem is the transposed; the linear solver transposes.
  static int backward_jacobian(double t, N_Vector y, N_Vector, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector, N_Vector);

  static int backward_product(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector, N_Vector, void* data, N_Vector);

  static int quadrature(double t, N_Vector y, N_Vector lambda, N_Vector dq, void* data);

 private:
  /// Calls use(adjoint, result of `size` numbers) for each adjoint of the problem; returns the first nonzero code.
  template <class Use>
  int each_row(N_Vector lambda, N_Vector results, Eigen::Index size, const Use& use) const {
    const double* from = N_VGetArrayPointer(lambda);
    double* to = N_VGetArrayPointer(results);
    for (Eigen::Index first = 0; first < N_VGetLength(lambda); first += n_, to += size) {
      Eigen::Map<Eigen::VectorXd> out(to, size);
      if (const int code = use(from + first, out); code != 0) return code;
    }
    return 0;
  }

  int evaluate_jacobian(double t, N_Vector y, std::vector<double>& values);

  long steps() const;
  /// Throws where the reverse pass repeats more steps than the segment has.
  void check_repetition(double t);
  [[noreturn]] AGRAD_COLD void throw_not_repeatable(double t, long steps) const;

  ode_system* system_;
  Eigen::Index n_, m_;
  double start_ = 0, end_ = 0;
  progress_listener *forward_listener_ = nullptr, *backward_listener_ = nullptr;
  std::optional<state_jacobian> jacobian_;
  const std::string* function_ = nullptr;  // name for messages
  void* forward_ = nullptr;
  const sundials::newton* newton_ = nullptr;
  long segment_ = 0, repeated_from_ = -1;  // steps between checkpoints; the step from which the reverse pass repeats
  bool is_repeating_ = false;
};

/// Gives a CVODES problem its linear solver, and the Jacobian or its products with vectors.
void set_newton(void* memory, const sundials::newton& with, const std::string& function);

/// Does the same for a backward problem.
void set_backward_newton(void* memory, int which, const sundials::newton& with, const std::string& function);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/callbacks.ipp>
#endif
