// Definitions of solve/cvodes/callbacks.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/callbacks.hpp>

namespace agrad::detail {

AGRAD_INLINE std::vector<double> cvodes_callbacks::start_clock(double t0, const std::vector<double>& times) {
  start_ = fault.start = t0, end_ = times.back();
  std::vector<double> since(times);
  for (double& t : since) t -= t0;
  return since;
}

AGRAD_INLINE void cvodes_callbacks::set_listener(bool backwards) {
  forward_listener_ = backwards ? nullptr : progress_listener::current();
  backward_listener_ = backwards ? progress_listener::current() : nullptr;
}

AGRAD_INLINE long cvodes_callbacks::steps() const {
  long steps = 0;
  CVodeGetNumSteps(forward_, &steps);
  return steps;
}

AGRAD_INLINE void cvodes_callbacks::check_repetition(double t) {
  const long now = steps();
  if (repeated_from_ < 0 || now < repeated_from_) repeated_from_ = now;
  if (AGRAD_UNLIKELY(now - repeated_from_ >= segment_)) throw_not_repeatable(time(t), now);
}

AGRAD_INLINE void cvodes_callbacks::throw_not_repeatable(double t, long steps) const {
  const std::string advice = "the right-hand side must return the same values for the same arguments";
  const std::string text = " (NOT_REPEATABLE); the forward solution took more steps when it was computed again; ";
  throw SolverError(*function_ + ": the reverse pass stopped at t = " + to_text(t) + text + advice, t, steps, "NOT_REPEATABLE",
                    advice);
}

AGRAD_INLINE int cvodes_callbacks::rhs(double t, N_Vector y, N_Vector dydt, void* data) {
  cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
  return self.fault.guard([&] {
    ++self.rhs_evaluations;
    if (self.is_repeating_) self.check_repetition(t);
    if (self.forward_listener_ != nullptr) self.forward_listener_->at(self.time(t));
    Eigen::Map<Eigen::VectorXd> out(N_VGetArrayPointer(dydt), self.n_);
    self.system().rhs(self.time(t), N_VGetArrayPointer(y), out.data());
    return self.fault.expect_finite("the derivative of y", t, out);
  });
}

AGRAD_INLINE void cvodes_callbacks::evaluate_jacobian_as(const std::string& function, const chosen_algebra& how) {
  jacobian_.emplace(function, system(), how);
}

AGRAD_INLINE int cvodes_callbacks::jacobian(double t, N_Vector y, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector,
                                            N_Vector) {
  cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
  return self.fault.guard([&] {
    if (self.segment_ > 0 && self.steps() % self.segment_ == 0) self.newton_->forget();
    return self.evaluate_jacobian(t, y, sundials::numbers::of(J).values);
  });
}

AGRAD_INLINE int cvodes_callbacks::product(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector, void* data, N_Vector) {
  cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
  return self.fault.guard([&] {
    Eigen::Map<Eigen::VectorXd> out(N_VGetArrayPointer(Jv), self.n_);
    self.system().jvp(self.time(t), N_VGetArrayPointer(y), N_VGetArrayPointer(v), out.data());
    return self.fault.expect_finite("the Jacobian's product", t, out);
  });
}

AGRAD_INLINE int cvodes_callbacks::backward_rhs(double t, N_Vector y, N_Vector lambda, N_Vector dlambda, void* data) {
  cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
  self.interpolation.interpolated(t);
  self.repeated_from_ = -1;
  return self.fault.guard([&] {
    if (self.backward_listener_ != nullptr) self.backward_listener_->at(self.time(t));
    return self.each_row(lambda, dlambda, self.n_, [&](const double* from, Eigen::Map<Eigen::VectorXd>& out) {
      self.system().vjp(self.time(t), N_VGetArrayPointer(y), from, out.data(), nullptr);
      out = -out;
      return self.fault.expect_finite("the derivative of the adjoint of y", t, out);
    });
  });
}

AGRAD_INLINE int cvodes_callbacks::backward_jacobian(double t, N_Vector y, N_Vector, N_Vector, SUNMatrix J, void* data,
                                                     N_Vector, N_Vector, N_Vector) {
  cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
  self.interpolation.interpolated(t);
  return self.fault.guard([&] {
    std::vector<double>& values = sundials::numbers::of(J).values;
    const int code = self.evaluate_jacobian(t, y, values);
    for (double& x : values) x = -x;
    return code;
  });
}

AGRAD_INLINE int cvodes_callbacks::backward_product(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector, N_Vector,
                                                    void* data, N_Vector) {
  return backward_rhs(t, y, v, Jv, data);  // the right-hand side is linear in the adjoint
}

AGRAD_INLINE int cvodes_callbacks::quadrature(double t, N_Vector y, N_Vector lambda, N_Vector dq, void* data) {
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

AGRAD_INLINE int cvodes_callbacks::evaluate_jacobian(double t, N_Vector y, std::vector<double>& values) {
  (*jacobian_)(time(t), N_VGetArrayPointer(y), values.data());
  const Eigen::Map<const Eigen::VectorXd> all(values.data(), static_cast<Eigen::Index>(values.size()));
  return fault.expect_finite_numbers("the Jacobian's entry ", t, all, [&](std::size_t k) { return jacobian_->place(k); });
}

AGRAD_INLINE void set_newton(void* memory, const sundials::newton& with, const std::string& function) {
  const auto expect = [&](int code, const char* call) { sundials::expect_success(code, function, call); };
  expect(CVodeSetLinearSolver(memory, with.solver.get(), with.matrix.get()), "CVodeSetLinearSolver");
  if (with.matrix)
    expect(CVodeSetJacFn(memory, cvodes_callbacks::jacobian), "CVodeSetJacFn");
  else
    expect(CVodeSetJacTimes(memory, nullptr, cvodes_callbacks::product), "CVodeSetJacTimes");
}

AGRAD_INLINE void set_backward_newton(void* memory, int which, const sundials::newton& with, const std::string& function) {
  const auto expect = [&](int code, const char* call) { sundials::expect_success(code, function, call); };
  expect(CVodeSetLinearSolverB(memory, which, with.solver.get(), with.matrix.get()), "CVodeSetLinearSolverB");
  if (with.matrix)
    expect(CVodeSetJacFnB(memory, which, cvodes_callbacks::backward_jacobian), "CVodeSetJacFnB");
  else
    expect(CVodeSetJacTimesB(memory, which, nullptr, cvodes_callbacks::backward_product), "CVodeSetJacTimesB");
}

}  // namespace agrad::detail
