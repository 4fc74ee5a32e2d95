// Definitions of solve/posed/dae.hpp.
#pragma once

#include <limits>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/base/progress.hpp>
#include <agrad/solve/posed/dae.hpp>

namespace agrad {

namespace detail {

inline dae_required with_switches(dae_required required, const switched_stops& switches, std::size_t parameters) {
  required.stops = required.stops || (switches.move() && parameters > 0);
  return required;
}

}  // namespace detail

AGRAD_INLINE posed_dae::posed_dae(const std::string& function, std::unique_ptr<dae_system> system, const dae_options& options,
                                  dae_required required, std::size_t parameters, std::size_t times, std::size_t stops,
                                  std::optional<time_switches> switches)
    : function_(function),
      system_(std::move(system)),
      options_(options),
      switches_(std::move(switches)),
      required_(detail::with_switches(required, switches_, static_cast<std::size_t>(system_->parameters()))),
      solver_(function_, *system_, options_, required_) {
  const auto n = static_cast<std::size_t>(system_->states());
  of_state_ = argument_.add("initial_state", n);
  of_slope_ = argument_.add("initial_slope", n);
  of_time_ = argument_.add("initial_time", 1);
  of_times_ = argument_.add("times", times);
  of_stops_ = argument_.add("stops", stops);
  of_parameters_ = argument_.add("parameters", parameters);
  result_.add("states", 2 * n * times);
}

AGRAD_INLINE void posed_dae::solve(const double* x) {
  last_ = {of_state_.of(x), of_slope_.of(x), of_times_.list(x), of_stops_.list(x)};
  jacobian_.resize(0, 0);
  started_ = *of_time_.in(x), ended_ = last_.times.empty() ? started_ : last_.times.back();
  switches_.append(started_, ended_, of_parameters_.list(x), last_.stops);
  system_->set_parameters(of_parameters_.in(x));
  solution_ = &integrate(solver_);
}

AGRAD_INLINE void posed_dae::reverse(const double* y_adjoint, double* x_adjoint) {
  add(solver_.reverse(Eigen::Map<const Eigen::MatrixXd>(y_adjoint, solution_->rows(), solution_->cols())), x_adjoint);
}

AGRAD_INLINE void posed_dae::add(dae_gradient g, double* x_adjoint) {
  switches_.reverse(g.stops, g.parameters);
  of_state_.add(g.initial_state, x_adjoint);
  of_slope_.add(g.initial_slope, x_adjoint);
  of_time_.add(g.initial_time, x_adjoint);
  of_times_.add(g.times, x_adjoint);
  of_stops_.add(g.stops, x_adjoint);
  of_parameters_.add(g.parameters, x_adjoint);
}

AGRAD_INLINE dae_solver& posed_dae::for_rows() {
  if (options_.sensitivities != dae_sensitivities::adjoint) return solver_;
  if (!sensitivities_) {
    dae_options forward = options_;
    forward.sensitivities = dae_sensitivities::forward;
    sensitivities_.emplace(function_, *system_, forward, required_);
  }
  const progress_listener::scope unheard(nullptr);
  try {
    integrate(*sensitivities_);
  } catch (const SolverError&) {
    return solver_;  // its reverse passes compute the rows
  }
  return *sensitivities_;
}

AGRAD_INLINE const tangent_rows& posed_dae::jacobian() {
  if (jacobian_.size() > 0) return jacobian_;
  dae_solver& by = for_rows();
  tangent_rows rows = tangent_rows::Zero(solution_->size(), static_cast<Eigen::Index>(argument_.size()));
  Eigen::MatrixXd unit = Eigen::MatrixXd::Zero(solution_->rows(), solution_->cols());
  for (Eigen::Index i = 0; i < unit.size(); ++i) {
    unit.data()[i] = 1;
    try {
      add(by.reverse(unit), rows.row(i).data());
    } catch (const DerivativeError&) {  // of y' where y is algebraic
      rows.row(i).setConstant(std::numeric_limits<double>::quiet_NaN());
    }
    unit.data()[i] = 0;
  }
  return jacobian_ = std::move(rows);
}

AGRAD_INLINE void posed_dae::tangent(int width, const double* x_tangent, double* y_tangent) {
  const auto inputs = static_cast<Eigen::Index>(argument_.size());
  Eigen::Map<tangent_rows>(y_tangent, solution_->size(), width) =
      jacobian() * Eigen::Map<const tangent_rows>(x_tangent, inputs, width);
}

}  // namespace agrad
