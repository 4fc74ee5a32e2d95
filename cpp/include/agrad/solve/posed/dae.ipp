// Definitions of solve/posed/dae.hpp.
#pragma once

#include <utility>

#include <agrad/base/inline.hpp>
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
    : system_(std::move(system)),
      switches_(std::move(switches)),
      solver_(function, *system_, options,
              detail::with_switches(required, switches_, static_cast<std::size_t>(system_->parameters()))) {
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
  const std::vector<double> times = of_times_.list(x);
  std::vector<double> stops = of_stops_.list(x);
  started_ = *of_time_.in(x), ended_ = times.empty() ? started_ : times.back();
  switches_.append(started_, ended_, of_parameters_.list(x), stops);
  system_->set_parameters(of_parameters_.in(x));
  solution_ = &solver_.integrate(of_state_.of(x), of_slope_.of(x), started_, times, stops);
}

AGRAD_INLINE void posed_dae::reverse(const double* y_adjoint, double* x_adjoint) {
  dae_gradient g = solver_.reverse(Eigen::Map<const Eigen::MatrixXd>(y_adjoint, solution_->rows(), solution_->cols()));
  switches_.reverse(g.stops, g.parameters);
  of_state_.add(g.initial_state, x_adjoint);
  of_slope_.add(g.initial_slope, x_adjoint);
  of_time_.add(g.initial_time, x_adjoint);
  of_times_.add(g.times, x_adjoint);
  of_stops_.add(g.stops, x_adjoint);
  of_parameters_.add(g.parameters, x_adjoint);
}

}  // namespace agrad
