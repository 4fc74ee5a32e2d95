// IDA backward: integrates the adjoint of a DAE and the gradient's integral back along a trajectory.
//
// With y = Q a + Z b (solve/dae/splitting.hpp), w the adjoint of a and lambda the multipliers of the equations,
//     w' = Q^T (dF/dy)^T lambda,   q' = (dF/dp)^T lambda,   w = Q^T (dF/dy')^T lambda,   0 = Z^T (dF/dy)^T lambda
// is a DAE of index 1 in (w, q, lambda) for any dF/dy', and q(t0) is the gradient with respect to p (Cao, Li, Petzold and
// Serban, Adjoint sensitivity analysis for differential-algebraic equations, SIAM J. Sci. Comput. 24, 2003). A Newton step
// eliminates w and q, which leaves the transposed matrix of the forward problem; that matrix may be an older one, but w and q
// follow from lambda at the current point. Errors are controlled in w and q, because w and q determine lambda. IDAS' clock is
// zero at each restart, as in the forward pass.
// IDAS could take q as a quadrature beside (w, lambda), but would then choose the order by the errors of w and lambda alone:
// where w is constant, the order stays 1 and the gradient's error falls as the root of the tolerance (seen in SUNDIALS 7.9).
// Read next: solve/dae/solver.hpp, the solver; solve/dae/reverse.hpp, which uses this class.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/dae/consistency.hpp>
#include <agrad/solve/dae/ida.hpp>
#include <agrad/solve/dae/iteration.hpp>
#include <agrad/solve/dae/trajectory.hpp>
#include <agrad/solve/solver/adjoint_tolerances.hpp>

namespace agrad::detail {

class ida_backward {
 public:
  ida_backward(const std::string& function, dae_system& system, const dae_options& options,
               const sundials::context_handle& context, const dae_splitting& split, ode_statistics& statistics);

  ida_backward(const ida_backward&) = delete;
  ida_backward& operator=(const ida_backward&) = delete;

  /// Sets the trajectory of another segment.
  void use(const dae_trajectory& trajectory) { trajectory_ = &trajectory; }

  void clear(const adjoint_tolerances& absolute);

  /// Returns the adjoint of a.
  Eigen::VectorXd differential() const { return sundials::map(z_).head(r_); }
  /// Returns the integral of the gradient with respect to p.
  Eigen::VectorXd parameters() const { return sundials::map(z_).segment(r_, m_); }

  /// Restarts with another adjoint of a, at a state for which `consistency` is prepared.
  void restart(const dae_state& s, const Eigen::VectorXd& of_differential, const dae_consistency& consistency);

  /// Integrates back to a time before the restart.
  void advance(double to);

  /// Adds the costs of the integration since the last restart to the statistics.
  void collect();

 private:
  static ida_backward& of(void* data) { return *static_cast<ida_backward*>(data); }

  // ---- set-up

  void set_up();

  // The units of the multipliers depend on the equations, so the tolerances of lambda follow from the tolerances of w.
  void set_tolerances(const dae_consistency& consistency);

  // ---- functions that IDAS calls

  const dae_point& point(double since_start);

  /// Computes error weights. IDAS' norm is a mean over all entries; with these weights, each of the three parts contributes a
  /// mean of its own.
  static int weigh(N_Vector z, N_Vector weights, void* data);

  static int residual(double t, N_Vector z, N_Vector zp, N_Vector out, void* data);

  static int jacobian(double t, double c, N_Vector, N_Vector, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector, N_Vector);

  // ---- linear solver: the matrix holds dF/dy - c dF/dy'

  void make_solver();

  int factorise(SUNMatrix m) noexcept;

  int solve(const double* b, double* x) noexcept;

  [[noreturn]] void stop(int code);

  void expect(int code, const char* call) const { sundials::expect_ida(code, function_, call); }

  const std::string& function_;
  dae_system& system_;
  const dae_options& options_;
  const sundials::context_handle& context_;
  const dae_splitting& split_;
  const dae_trajectory* trajectory_ = nullptr;
  ode_statistics& statistics_;
  Eigen::Index n_, r_, m_;
  sundials::vector_handle z_, zp_;  // w, q, lambda
  adjoint_tolerances given_;        // tolerances of the adjoints of y, and of q
  Eigen::VectorXd absolute_;        // tolerances of w, q, lambda
  newton_matrix newton_;
  std::vector<double> factors_;
  double from_ = 0;  // time of the last restart
  double c_ = 0, c_of_factors_ = 0;
  Eigen::MatrixXd by_slope_;  // dF/dy'
  Eigen::VectorXd y_, yp_, by_y_, by_yp_, by_p_;
  dae_point point_{};  // of the last residual
  sundials::matrix_handle matrix_;
  sundials::linear_solver_handle solver_;
  dae_iteration iteration_;
  ode_fault fault_;
  sundials::ida_handle memory_;
  bool is_running_ = false;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/ida_backward.ipp>
#endif
