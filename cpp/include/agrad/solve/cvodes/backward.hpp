// CVODES backward: the adjoint problem of the reverse pass along a forward integration, with its quadrature.
//
// `jump` adds to the adjoint and restarts, `advance` integrates to an earlier time; times are by CVODES' clock. The problem
// belongs to the CVODES memory of the forward problem; this class holds the vectors, the Newton matrix and the options. Several
// adjoints are integrated as one problem, with the same steps, Jacobians and factorisations. As CVODES takes the mean of the
// errors of all adjoints, the tolerances are divided by the root of the number of adjoints.
// Read next: solve/cvodes/adjoint.hpp, the solver that uses this class.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <agrad/solve/cvodes/adjoint_options.hpp>
#include <agrad/solve/cvodes/session.hpp>
#include <agrad/solve/solver/adjoint_tolerances.hpp>

namespace agrad::detail {

class cvodes_backward {
 public:
  cvodes_backward(const std::string& function, const ode_adjoint_options& options, cvodes_callbacks& callbacks,
                  const sundials::context_handle& context, const sundials::cvodes_handle& forward,
                  const chosen_algebra& algebra, Eigen::Index rows, ode_statistics& statistics);

  /// Returns the number of adjoints.
  Eigen::Index rows() const { return rows_; }

  /// Begins a reverse pass with tolerances for each row; rows without are of zero adjoints.
  void clear(const std::vector<adjoint_tolerances>& tolerances);

  /// Adds to the adjoints at time t, one in each column, and restarts the integration there.
  void jump(double t, const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  /// Integrates from one time to an earlier time. Does nothing between times that CVODES cannot tell apart.
  void advance(double from, double to);

  /// Adds the costs of the integration since the last restart to the statistics.
  void collect();

  Eigen::VectorXd adjoint(Eigen::Index row) const { return sundials::map(lambda_).segment(row * n_, n_); }
  Eigen::VectorXd parameters(Eigen::Index row) const;

 private:
  void set_up(double t);

  void set_tolerances();

  [[noreturn]] void stop(int code);

  void* memory() const { return CVodeGetAdjCVodeBmem(forward_, which_); }
  void expect(int code, const char* call) const { sundials::expect_success(code, function_, call); }

  const std::string& function_;
  const ode_adjoint_options& options_;
  cvodes_callbacks& callbacks_;
  ode_statistics& statistics_;
  void* forward_;
  Eigen::Index n_, m_, rows_;
  double strictness_;  // factor of all tolerances
  sundials::vector_handle lambda_;
  sundials::newton newton_;
  sundials::vector_handle quadrature_;
  sundials::vector_handle absolute_, absolute_of_quadrature_;  // tolerances
  int which_ = -1;
  bool running_ = false, has_tolerances_ = false;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/backward.ipp>
#endif
