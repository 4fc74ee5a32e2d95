// CVODES tangents: derivatives of a solution along directions, by sensitivities integrated together with the states.
//
// The states are integrated once more, with a sensitivity for each direction that is not zero. So tangents have error control
// of their own, with the states' tolerances, as the reverse pass of the adjoint method has.
// Read first: solve/cvodes/forward.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/progress.hpp>
#include <agrad/solve/cvodes/adjoint_options.hpp>
#include <agrad/solve/cvodes/forward.hpp>

namespace agrad::detail {

/// Returns the options of the forward pass.
ode_forward_options forward_part(const ode_adjoint_options& of);

class cvodes_tangents {
 public:
  cvodes_tangents(std::string function, ode_system& system, const ode_adjoint_options& options)
      : function_(std::move(function)), system_(system), options_(forward_part(options)) {}

  /// Does the same as `ode_solver::tangent`. Directions that are not finite have tangents of nan. Returns the cost without the
  /// states' cost.
  ode_sensitivity_statistics propagate(const ode_directions& along, const Eigen::VectorXd& y0, double t0,
                                       const std::vector<double>& times, double* states);

 private:
  /// Returns the times, strictly increasing: rounding may have moved the time of an event, the last, onto the time before.
  static std::vector<double> increasing(double t0, std::vector<double> times);

  std::string function_;
  ode_system& system_;
  ode_forward_options options_;
  std::unique_ptr<cvodes_forward> solver_;  // with as many directions as in the last call
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/tangents.ipp>
#endif
