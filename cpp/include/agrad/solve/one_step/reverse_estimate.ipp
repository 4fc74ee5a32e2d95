// Definitions of solve/one_step/reverse_estimate.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/reverse_estimate.hpp>

namespace agrad::detail {

AGRAD_INLINE double reverse_estimate::relative(const ode_system& system, const step_options& options,
                                               const ode_required& required, const Eigen::VectorXd& y0,
                                               const ode_gradient& g) const {
  using vector = Eigen::Map<const Eigen::VectorXd>;
  const Eigen::VectorXd of_states = y0.cwiseAbs().cwiseMax(options.states.absolute / options.states.relative);
  Eigen::VectorXd of_parameters(g.parameters.size());
  system.parameter_sizes(of_states.data(), of_parameters.data());
  const auto square = [&](const double* states, const double* parameters) {
    const double own = vector(parameters, of_parameters.size()).cwiseProduct(of_parameters).squaredNorm();
    const bool has_states = required.initial_state || required.initial_time;
    return own + (has_states ? vector(states, y0.size()).cwiseProduct(of_states).squaredNorm() : 0);
  };
  const double error = square(l_.data(), parameters_.data());
  return error == 0 ? 0 : std::sqrt(error / square(g.initial_state.data(), g.parameters.data()));
}

}  // namespace agrad::detail
