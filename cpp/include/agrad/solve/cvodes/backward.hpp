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

#include <agrad/solve/cvodes/adjoint_options.hpp>
#include <agrad/solve/cvodes/callbacks.hpp>
#include <agrad/solve/solver/statistics.hpp>

namespace agrad::detail {

inline ode_pass_statistics read_statistics(void* memory) {
  ode_pass_statistics s;
  CVodeGetNumSteps(memory, &s.steps);
  CVodeGetNumRhsEvals(memory, &s.rhs_evaluations);
  CVodeGetNumJacEvals(memory, &s.jacobian_evaluations);
  CVodeGetNumLinSolvSetups(memory, &s.factorizations);
  CVodeGetNumErrTestFails(memory, &s.error_test_failures);
  CVodeGetNumStepSolveFails(memory, &s.convergence_failures);
  return s;
}

/// Returns whether an integration has arrived at time `to`. CVODES also reports success when the step size has underflowed to
/// zero (LLNL/sundials, issue 82), so this function reads the time that CVODES reached.
inline bool arrived(void* memory, bool forwards, double to) {
  double now = 0, step = 0;
  CVodeGetCurrentTime(memory, &now);
  CVodeGetLastStep(memory, &step);
  const double rounding = 200 * std::numeric_limits<double>::epsilon() * (std::abs(now) + std::abs(step));
  return forwards ? now >= to - rounding : now <= to + rounding;
}

/// Throws the SolverError for `stop`, after adding CVODES' time and number of steps. stop.t: the time at which CVODES' clock is
/// zero.
[[noreturn]] inline void throw_stopped_at(void* memory, ode_stop stop, const ode_fault& fault) {
  long steps = 0;
  double now = 0, h = 0;
  CVodeGetCurrentTime(memory, &now);
  CVodeGetNumSteps(memory, &steps);
  CVodeGetLastStep(memory, &h);
  stop.t += now, stop.steps += steps;
  const std::string step = stop.code == CV_TOO_MUCH_WORK ? last_step(h) : "";
  throw_stopped(stop, fault, sundials::code_name(stop.code), advice_for(stop.code) + step);
}

class cvodes_backward {
 public:
  cvodes_backward(const std::string& function, const ode_adjoint_options& options, cvodes_callbacks& callbacks,
                  const sundials::context_handle& context, const sundials::cvodes_handle& forward,
                  const chosen_algebra& algebra, Eigen::Index rows, ode_statistics& statistics)
      : function_(function),
        options_(options),
        callbacks_(callbacks),
        statistics_(statistics),
        forward_(forward.get()),
        n_(callbacks.system().states()),
        m_(callbacks.system().parameters()),
        rows_(rows),
        strictness_(1 / std::sqrt(static_cast<double>(rows))),
        lambda_(sundials::make_vector(context, n_ * rows, function)),
        newton_(context, lambda_, algebra, true, function) {
    if (m_ > 0) quadrature_ = sundials::make_vector(context, m_ * rows, function);
  }

  /// Number of adjoints.
  Eigen::Index rows() const { return rows_; }

  void clear() {
    callbacks_.fault.clear();
    sundials::map(lambda_).setZero();
    if (quadrature_) sundials::map(quadrature_).setZero();
    running_ = false;
  }

  /// Adds to the adjoints at time t, one in each column, and restarts the integration there.
  void jump(double t, const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
    collect();
    Eigen::Map<Eigen::MatrixXd>(N_VGetArrayPointer(lambda_.get()), n_, rows_) += adjoints;
    if (which_ < 0) {
      set_up(t);
    } else {
      expect(CVodeReInitB(forward_, which_, t, lambda_.get()), "CVodeReInitB");
      if (quadrature_) expect(CVodeQuadReInitB(forward_, which_, quadrature_.get()), "CVodeQuadReInitB");
    }
    running_ = true;
    ++statistics_.restarts;
  }

  /// Integrates from one time to an earlier time. Does nothing between times that CVODES cannot tell apart.
  void advance(double from, double to) {
    const double roundoff = std::numeric_limits<double>::epsilon() * std::max(std::abs(from), std::abs(to));
    if (!running_ || from - to < 2 * roundoff) return;
    const long evaluations = callbacks_.rhs_evaluations;
    const int code = CVodeB(forward_, to, CV_NORMAL);
    statistics_.recomputed_rhs_evaluations += callbacks_.rhs_evaluations - evaluations;
    callbacks_.fault.rethrow();
    if (code < 0 || !arrived(memory(), false, to)) stop(code);
    callbacks_.fault.clear();
    double reached = from;
    expect(CVodeGetB(forward_, which_, &reached, lambda_.get()), "CVodeGetB");
    if (quadrature_) expect(CVodeGetQuadB(forward_, which_, &reached, quadrature_.get()), "CVodeGetQuadB");
  }

  /// Adds the costs of the integration since the last restart to the statistics.
  void collect() {
    if (!running_) return;
    statistics_.backward += read_statistics(memory());
    if (quadrature_) {
      long evaluations = 0, failures = 0;
      CVodeGetQuadStats(memory(), &evaluations, &failures);
      statistics_.quadrature.rhs_evaluations += evaluations;
      statistics_.quadrature.error_test_failures += failures;
    }
    running_ = false;
  }

  Eigen::VectorXd adjoint(Eigen::Index row) const { return sundials::map(lambda_).segment(row * n_, n_); }
  Eigen::VectorXd parameters(Eigen::Index row) const {
    return quadrature_ ? Eigen::VectorXd(sundials::map(quadrature_).segment(row * m_, m_)) : Eigen::VectorXd();
  }

 private:
  void set_up(double t) {
    int which = -1;
    expect(CVodeCreateB(forward_, static_cast<int>(options_.solver_backward), &which), "CVodeCreateB");
    which_ = which;
    expect(CVodeInitB(forward_, which, cvodes_callbacks::backward_rhs, t, lambda_.get()), "CVodeInitB");
    const sundials::vector_handle tolerances(N_VClone(lambda_.get()));
    sundials::map(tolerances) = strictness_ * options_.absolute_tolerance_backward.replicate(rows_, 1);
    expect(CVodeSVtolerancesB(forward_, which, strictness_ * options_.relative_tolerance_backward, tolerances.get()),
           "CVodeSVtolerancesB");
    expect(CVodeSetUserDataB(forward_, which, &callbacks_), "CVodeSetUserDataB");
    expect(CVodeSetMaxNumStepsB(forward_, which, options_.max_num_steps), "CVodeSetMaxNumStepsB");
    expect(CVodeSetMaxStepB(forward_, which, options_.max_step), "CVodeSetMaxStepB");
    set_backward_newton(forward_, which, newton_, function_);
    if (quadrature_) set_up_quadrature();
  }

  void set_up_quadrature() {
    expect(CVodeQuadInitB(forward_, which_, cvodes_callbacks::quadrature, quadrature_.get()), "CVodeQuadInitB");
    const double relative = strictness_ * options_.relative_tolerance_quadrature;
    if (const double* scalar = std::get_if<double>(&options_.absolute_tolerance_quadrature)) {
      expect(CVodeQuadSStolerancesB(forward_, which_, relative, strictness_ * *scalar), "CVodeQuadSStolerancesB");
    } else {
      const sundials::vector_handle tolerances(N_VClone(quadrature_.get()));
      sundials::map(tolerances) =
          strictness_ * std::get<Eigen::VectorXd>(options_.absolute_tolerance_quadrature).replicate(rows_, 1);
      expect(CVodeQuadSVtolerancesB(forward_, which_, relative, tolerances.get()), "CVodeQuadSVtolerancesB");
    }
    expect(CVodeSetQuadErrConB(forward_, which_, SUNTRUE), "CVodeSetQuadErrConB");
  }

  [[noreturn]] void stop(int code) {
    const long before = statistics_.backward.steps;
    const Eigen::Index worst = dominating_state(memory(), lambda_), state = worst < 0 ? worst : worst % n_;
    throw_stopped_at(memory(), {function_, "the backward pass ", "the adjoint of y", code, callbacks_.start(), before, state},
                     callbacks_.fault);
  }

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
  int which_ = -1;
  bool running_ = false;
};

}  // namespace agrad::detail
