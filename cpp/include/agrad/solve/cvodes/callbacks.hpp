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
  std::vector<double> start_clock(double t0, const std::vector<double>& times) {
    start_ = fault.start = t0, end_ = times.back();
    std::vector<double> since(times);
    for (double& t : since) t -= t0;
    return since;
  }
  double start() const { return start_; }
  double time(double since_start) const { return std::min(start_ + since_start, end_); }

  ode_fault fault;
  cvodes_interpolation interpolation;
  long rhs_evaluations = 0;

  /// Reports one pass to this thread's listener; forward steps that the reverse pass repeats are not reported.
  void tell_of(bool backwards) {
    forward_listener_ = backwards ? nullptr : progress_listener::current();
    backward_listener_ = backwards ? progress_listener::current() : nullptr;
  }

  static int rhs(double t, N_Vector y, N_Vector dydt, void* data) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    return self.fault.guard([&] {
      ++self.rhs_evaluations;
      if (self.forward_listener_ != nullptr) self.forward_listener_->at(self.time(t));
      Eigen::Map<Eigen::VectorXd> out(N_VGetArrayPointer(dydt), self.n_);
      self.system().rhs(self.time(t), N_VGetArrayPointer(y), out.data());
      return self.fault.expect_finite("the derivative of y", t, out);
    });
  }

  /// Sets the form in which the Jacobian is evaluated.
  void evaluate_jacobian_as(const std::string& function, const chosen_algebra& how) {
    jacobian_.emplace(function, system(), how);
  }

  static int jacobian(double t, N_Vector y, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector, N_Vector) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    return self.fault.guard([&] { return self.evaluate_jacobian(t, y, sundials::numbers::of(J).values); });
  }

  static int product(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector, void* data, N_Vector) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    return self.fault.guard([&] {
      Eigen::Map<Eigen::VectorXd> out(N_VGetArrayPointer(Jv), self.n_);
      self.system().jvp(self.time(t), N_VGetArrayPointer(y), N_VGetArrayPointer(v), out.data());
      return self.fault.expect_finite("the Jacobian's product", t, out);
    });
  }

  static int backward_rhs(double t, N_Vector y, N_Vector lambda, N_Vector dlambda, void* data) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    self.interpolation.interpolated(t);
    return self.fault.guard([&] {
      if (self.backward_listener_ != nullptr) self.backward_listener_->at(self.time(t));
      return self.each_row(lambda, dlambda, self.n_, [&](const double* from, Eigen::Map<Eigen::VectorXd>& out) {
        self.system().vjp(self.time(t), N_VGetArrayPointer(y), from, out.data(), nullptr);
        out = -out;
        return self.fault.expect_finite("the derivative of the adjoint of y", t, out);
      });
    });
  }

  /// Computes the entries of -J. The matrix of the backward problem is the transposed; the linear solver transposes.
  static int backward_jacobian(double t, N_Vector y, N_Vector, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector,
                               N_Vector) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    self.interpolation.interpolated(t);
    return self.fault.guard([&] {
      std::vector<double>& values = sundials::numbers::of(J).values;
      const int code = self.evaluate_jacobian(t, y, values);
      for (double& x : values) x = -x;
      return code;
    });
  }

  static int backward_product(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector, N_Vector, void* data, N_Vector) {
    return backward_rhs(t, y, v, Jv, data);  // the right-hand side is linear in the adjoint
  }

  static int quadrature(double t, N_Vector y, N_Vector lambda, N_Vector dq, void* data) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    self.interpolation.interpolated(t);
    return self.fault.guard([&] {
      return self.each_row(lambda, dq, self.m_, [&](const double* from, Eigen::Map<Eigen::VectorXd>& out) {
        self.system().vjp(self.time(t), N_VGetArrayPointer(y), from, nullptr, out.data());
        out = -out;
        return self.fault.expect_finite("the gradient's integrand for parameter ", t, out);
      });
    });
  }

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

  int evaluate_jacobian(double t, N_Vector y, std::vector<double>& values) {
    (*jacobian_)(time(t), N_VGetArrayPointer(y), values.data());
    const Eigen::Map<const Eigen::VectorXd> all(values.data(), static_cast<Eigen::Index>(values.size()));
    return fault.expect_finite_numbers("the Jacobian's entry ", t, all, [&](std::size_t k) { return jacobian_->place(k); });
  }

  ode_system* system_;
  Eigen::Index n_, m_;
  double start_ = 0, end_ = 0;
  progress_listener *forward_listener_ = nullptr, *backward_listener_ = nullptr;
  std::optional<state_jacobian> jacobian_;
};

/// Gives a CVODES problem its linear solver, and the Jacobian or its products with vectors.
inline void set_newton(void* memory, const sundials::newton& with, const std::string& function) {
  const auto expect = [&](int code, const char* call) { sundials::expect_success(code, function, call); };
  expect(CVodeSetLinearSolver(memory, with.solver.get(), with.matrix.get()), "CVodeSetLinearSolver");
  if (with.matrix)
    expect(CVodeSetJacFn(memory, cvodes_callbacks::jacobian), "CVodeSetJacFn");
  else
    expect(CVodeSetJacTimes(memory, nullptr, cvodes_callbacks::product), "CVodeSetJacTimes");
}

/// Does the same for a backward problem.
inline void set_backward_newton(void* memory, int which, const sundials::newton& with, const std::string& function) {
  const auto expect = [&](int code, const char* call) { sundials::expect_success(code, function, call); };
  expect(CVodeSetLinearSolverB(memory, which, with.solver.get(), with.matrix.get()), "CVodeSetLinearSolverB");
  if (with.matrix)
    expect(CVodeSetJacFnB(memory, which, cvodes_callbacks::backward_jacobian), "CVodeSetJacFnB");
  else
    expect(CVodeSetJacTimesB(memory, which, nullptr, cvodes_callbacks::backward_product), "CVodeSetJacTimesB");
}

}  // namespace agrad::detail
