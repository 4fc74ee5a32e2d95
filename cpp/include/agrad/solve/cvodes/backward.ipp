// Definitions of solve/cvodes/backward.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/backward.hpp>

namespace agrad::detail {

AGRAD_INLINE cvodes_backward::cvodes_backward(const std::string& function, const ode_adjoint_options& options,
                                              cvodes_callbacks& callbacks, const sundials::context_handle& context,
                                              const sundials::cvodes_handle& forward, const chosen_algebra& algebra,
                                              Eigen::Index rows, ode_statistics& statistics)
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
      newton_(context, lambda_, algebra, true, function),
      absolute_(sundials::make_vector(context, n_ * rows, function)) {
  if (m_ == 0) return;
  quadrature_ = sundials::make_vector(context, m_ * rows, function);
  absolute_of_quadrature_ = sundials::make_vector(context, m_ * rows, function);
}

AGRAD_INLINE void cvodes_backward::clear(const std::vector<adjoint_tolerances>& tolerances) {
  callbacks_.fault.clear();
  for (Eigen::Index row = 0; row < rows_; ++row) {
    const adjoint_tolerances& each = tolerances[std::min(static_cast<std::size_t>(row), tolerances.size() - 1)];
    sundials::map(absolute_).segment(row * n_, n_) = strictness_ * each.adjoint;
    if (quadrature_) sundials::map(absolute_of_quadrature_).segment(row * m_, m_) = strictness_ * each.gradient;
  }
  has_tolerances_ = false;
  newton_.forget();
  sundials::map(lambda_).setZero();
  if (quadrature_) sundials::map(quadrature_).setZero();
  running_ = false;
}

AGRAD_INLINE void cvodes_backward::jump(double t, const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  collect();
  Eigen::Map<Eigen::MatrixXd>(N_VGetArrayPointer(lambda_.get()), n_, rows_) += adjoints;
  if (which_ < 0) {
    set_up(t);
  } else {
    expect(CVodeReInitB(forward_, which_, t, lambda_.get()), "CVodeReInitB");
    if (quadrature_) expect(CVodeQuadReInitB(forward_, which_, quadrature_.get()), "CVodeQuadReInitB");
    if (!has_tolerances_) set_tolerances();
  }
  running_ = true;
  ++statistics_.restarts;
}

AGRAD_INLINE void cvodes_backward::advance(double from, double to) {
  const double roundoff = std::numeric_limits<double>::epsilon() * std::max(std::abs(from), std::abs(to));
  if (!running_ || from - to < 2 * roundoff) return;
  const long evaluations = callbacks_.rhs_evaluations;
  callbacks_.set_repeating(true);
  const int code = CVodeB(forward_, to, CV_NORMAL);
  callbacks_.set_repeating(false);
  statistics_.recomputed_rhs_evaluations += callbacks_.rhs_evaluations - evaluations;
  callbacks_.fault.rethrow();
  if (code < 0 || !arrived(memory(), false, to)) stop(code);
  callbacks_.fault.clear();
  double reached = from;
  expect(CVodeGetB(forward_, which_, &reached, lambda_.get()), "CVodeGetB");
  if (quadrature_) expect(CVodeGetQuadB(forward_, which_, &reached, quadrature_.get()), "CVodeGetQuadB");
}

AGRAD_INLINE void cvodes_backward::collect() {
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

AGRAD_INLINE Eigen::VectorXd cvodes_backward::parameters(Eigen::Index row) const {
  return quadrature_ ? Eigen::VectorXd(sundials::map(quadrature_).segment(row * m_, m_)) : Eigen::VectorXd();
}

AGRAD_INLINE void cvodes_backward::set_up(double t) {
  int which = -1;
  expect(CVodeCreateB(forward_, static_cast<int>(options_.solver_backward), &which), "CVodeCreateB");
  which_ = which;
  expect(CVodeInitB(forward_, which, cvodes_callbacks::backward_rhs, t, lambda_.get()), "CVodeInitB");
  expect(CVodeSetUserDataB(forward_, which, &callbacks_), "CVodeSetUserDataB");
  expect(CVodeSetMaxNumStepsB(forward_, which, options_.max_num_steps), "CVodeSetMaxNumStepsB");
  expect(CVodeSetMaxStepB(forward_, which, options_.max_step), "CVodeSetMaxStepB");
  set_backward_newton(forward_, which, newton_, function_);
  if (quadrature_) {
    expect(CVodeQuadInitB(forward_, which_, cvodes_callbacks::quadrature, quadrature_.get()), "CVodeQuadInitB");
    expect(CVodeSetQuadErrConB(forward_, which_, SUNTRUE), "CVodeSetQuadErrConB");
  }
  set_tolerances();
}

AGRAD_INLINE void cvodes_backward::set_tolerances() {
  has_tolerances_ = true;
  const double relative = strictness_ * options_.backward.relative;
  expect(CVodeSVtolerancesB(forward_, which_, relative, absolute_.get()), "CVodeSVtolerancesB");
  if (!quadrature_) return;
  const double relative_of_quadrature = strictness_ * options_.quadrature.relative;
  expect(CVodeQuadSVtolerancesB(forward_, which_, relative_of_quadrature, absolute_of_quadrature_.get()),
         "CVodeQuadSVtolerancesB");
}

AGRAD_INLINE void cvodes_backward::stop(int code) {
  const long before = statistics_.backward.steps;
  const Eigen::Index worst = dominating_state(memory(), lambda_), state = worst < 0 ? worst : worst % n_;
  throw_stopped_at(memory(), {function_, "the reverse pass ", "the adjoint of y", code, callbacks_.start(), before, state},
                   callbacks_.fault);
}

}  // namespace agrad::detail
