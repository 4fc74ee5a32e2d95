// Definitions of solve/cvodes/tangents.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/tangents.hpp>

namespace agrad::detail {

AGRAD_INLINE ode_forward_options forward_part(const ode_adjoint_options& of) {
  ode_forward_options o;
  o.relative_tolerance = of.relative_tolerance_forward;
  o.absolute_tolerance = of.absolute_tolerance_forward;
  o.max_num_steps = of.max_num_steps;
  o.method = of.solver_forward;
  o.algebra = of.algebra;
  o.first_step = of.first_step, o.max_step = of.max_step;
  return o;
}

AGRAD_INLINE ode_sensitivity_statistics cvodes_tangents::propagate(const ode_directions& along, const Eigen::VectorXd& y0,
                                                                   double t0, const std::vector<double>& times,
                                                                   double* states) {
  using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const rows> initial(along.initial_state.data(), y0.size(), along.width);
  const Eigen::Map<const rows> parameters(along.parameters.data(), system_.parameters(), along.width);
  Eigen::Map<rows> to(states, y0.size() * static_cast<Eigen::Index>(times.size()), along.width);
  to.setZero();
  std::vector<Eigen::Index> moving;
  for (Eigen::Index k = 0; k < along.width; ++k) {
    if (!initial.col(k).allFinite() || !parameters.col(k).allFinite())
      to.col(k).setConstant(std::numeric_limits<double>::quiet_NaN());
    else if (!initial.col(k).isZero(0) || !parameters.col(k).isZero(0))
      moving.push_back(k);
  }
  if (moving.empty()) return {};
  const auto count = static_cast<Eigen::Index>(moving.size());
  if (!solver_ || solver_->directions() != count) solver_ = cvodes_forward::along(function_, system_, options_, count);
  Eigen::MatrixXd of_initial(initial.rows(), count), of_parameters(parameters.rows(), count);
  for (Eigen::Index c = 0; c < count; ++c) {
    of_initial.col(c) = initial.col(moving[static_cast<std::size_t>(c)]);
    of_parameters.col(c) = parameters.col(moving[static_cast<std::size_t>(c)]);
  }
  solver_->follow(std::move(of_initial), std::move(of_parameters));
  const progress_listener::scope nobody(nullptr);
  solver_->integrate(y0, t0, increasing(t0, times));
  for (Eigen::Index c = 0; c < count; ++c) to.col(moving[static_cast<std::size_t>(c)]) = solver_->sensitivities().col(c);
  return solver_->statistics().sensitivities;
}

AGRAD_INLINE std::vector<double> cvodes_tangents::increasing(double t0, std::vector<double> times) {
  double& last = times.back();
  last = std::max(last, std::nextafter(times.size() > 1 ? times[times.size() - 2] : t0, HUGE_VAL));
  return times;
}

}  // namespace agrad::detail
