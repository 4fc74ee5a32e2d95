// CVODES callbacks: the five C functions through which CVODES sees an `ode_system`.
//
// With lambda the adjoint of y, CVODES integrates, from the last output time back to t0,
//     lambda' = -(df/dy)^T lambda,    q' = -(df/dp)^T lambda,
// so that q(t0) is the gradient with respect to p (stan-dev/design-docs, 0027-adjoint-ode). Newton's matrix of the backward problem is the transposed Jacobian with its sign changed.
// Read next: solve/cvodes_adjoint.hpp.
#pragma once

#include <agrad/solve/cvodes_interpolation.hpp>
#include <agrad/solve/ode_fault.hpp>
#include <agrad/solve/ode_system.hpp>

namespace agrad::detail {

/// User data of a CVODES problem and its backward problem.
class cvodes_callbacks {
 public:
  explicit cvodes_callbacks(ode_system& of) : system(of), n_(of.states()), m_(of.parameters()) {}

  ode_system& system;
  ode_fault fault;
  cvodes_interpolation interpolation;
  long rhs_evaluations = 0;

  static int rhs(double t, N_Vector y, N_Vector dydt, void* data) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    return self.fault.guard([&] {
      ++self.rhs_evaluations;
      Eigen::Map<Eigen::VectorXd> out(N_VGetArrayPointer(dydt), self.n_);
      self.system.rhs(t, N_VGetArrayPointer(y), out.data());
      return self.fault.expect_finite("the derivative of y", t, out);
    });
  }

  static int jacobian(double t, N_Vector y, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector, N_Vector) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    return self.fault.guard([&] {
      Eigen::Map<Eigen::MatrixXd> out(SUNDenseMatrix_Data(J), self.n_, self.n_);
      self.system.jacobian(t, N_VGetArrayPointer(y), out);
      return self.fault.expect_finite("the Jacobian's entry ", t, out);
    });
  }

  static int backward_rhs(double t, N_Vector y, N_Vector lambda, N_Vector dlambda, void* data) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    self.interpolation.interpolated(t);
    return self.fault.guard([&] {
      Eigen::Map<Eigen::VectorXd> out(N_VGetArrayPointer(dlambda), self.n_);
      self.system.vjp(t, N_VGetArrayPointer(y), N_VGetArrayPointer(lambda), out.data(), nullptr);
      out = -out;
      return self.fault.expect_finite("the derivative of the adjoint of y", t, out);
    });
  }

  static int backward_jacobian(double t, N_Vector y, N_Vector, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector,
                               N_Vector) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    self.interpolation.interpolated(t);
    return self.fault.guard([&] {
      self.scratch_.resize(self.n_, self.n_);
      self.system.jacobian(t, N_VGetArrayPointer(y), self.scratch_);
      Eigen::Map<Eigen::MatrixXd>(SUNDenseMatrix_Data(J), self.n_, self.n_) = -self.scratch_.transpose();
      return self.fault.expect_finite("the Jacobian's entry ", t, self.scratch_);
    });
  }

  static int quadrature(double t, N_Vector y, N_Vector lambda, N_Vector dq, void* data) {
    cvodes_callbacks& self = *static_cast<cvodes_callbacks*>(data);
    self.interpolation.interpolated(t);
    return self.fault.guard([&] {
      Eigen::Map<Eigen::VectorXd> out(N_VGetArrayPointer(dq), self.m_);
      self.system.vjp(t, N_VGetArrayPointer(y), N_VGetArrayPointer(lambda), nullptr, out.data());
      out = -out;
      return self.fault.expect_finite("the gradient's integrand for parameter ", t, out);
    });
  }

 private:
  Eigen::Index n_, m_;
  Eigen::MatrixXd scratch_;
};

}  // namespace agrad::detail
