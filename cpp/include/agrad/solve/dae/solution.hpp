// DAE solution: the results of an integration that the reverse pass needs, segment by segment.
//
// The solver (solve/dae/solver.hpp) writes the solution; the reverse pass reads it.
// Read next: solve/dae/reverse.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <agrad/solve/dae/correction.hpp>
#include <agrad/solve/dae/trajectory.hpp>
#include <agrad/solve/dae/window.hpp>
#include <agrad/solve/sundials/handles.hpp>

namespace agrad::detail {

/// A segment, with consistent states at both ends, as seen from inside the segment.
struct dae_segment {
  dae_state begin, end;  // end: only where another segment follows
  double last = 0;
  std::size_t first_point = 0, points = 0;
  Eigen::VectorXd correction;     // of y, at the start; solve/dae/correction.hpp
  Eigen::MatrixXd sensitivities;  // of the differential part, at the start
};

/// Members are public: the solver writes the members, the reverse pass reads them and enters the segments.
class dae_solution {
 public:
  dae_solution(std::string name, dae_system& inner, dae_options with, dae_required derivatives)
      : function(std::move(name)),
        system(inner),
        options(std::move(with)),
        required(derivatives),
        consistency(function, system, options) {}

  bool uses_sensitivities() const { return options.sensitivities != dae_sensitivities::adjoint; }
  bool is_differentiated() const {
    return required.initial_state || required.initial_slope || required.initial_time || required.stops ||
           system.parameters() > 0;
  }
  /// Returns whether the adjoint of the differential part at t0 is needed.
  bool needs_initial() const {
    const bool solved_for = options.initial == dae_initial::derivatives;
    return required.initial_time || (solved_for ? required.initial_slope || system.parameters() > 0 : required.initial_state);
  }
  Eigen::VectorXd slope_of_differential(const dae_state& s) const { return split.q().transpose() * s.yp; }

  void enter(std::size_t i) {
    if (given_stops == 0)
      system.open();
    else
      system.enter(segments[i].begin.t, segments[i].last);
  }

  /// Returns the derivative of the differential part after the stop before segment i with respect to the time of the stop.
  Eigen::VectorXd jump_of_slope(std::size_t i) const {
    return slope_of_differential(segments[i - 1].end) - slope_of_differential(segments[i].begin);
  }

  bool is_corrected(std::size_t i) const { return segments[i].correction.size() > 0; }

  /// Returns the derivatives with respect to p of the products of `differential` with the differential part at the start of
  /// segment i, one row for each column, at constant y before the correction.
  Eigen::MatrixXd correction_by_parameters(std::size_t i, const Eigen::MatrixXd& differential) {
    const dae_segment& here = segments[i];
    consistency.prepare(here.begin);
    Eigen::MatrixXd lambda(split.n(), differential.cols());
    for (Eigen::Index k = 0; k < lambda.cols(); ++k) lambda.col(k) = consistency.multipliers(differential.col(k));
    return detail::correction_by_parameters(function, system, split, here.begin, here.correction, lambda);
  }

  std::string function;
  dae_window system;
  dae_options options;
  dae_required required;
  dae_consistency consistency;
  dae_splitting split;
  sundials::context_handle context;
  std::vector<dae_trajectory> trajectories;  // one for each segment

  std::vector<dae_stop> stops;  // stops inside the integration; segment i ends at stop i
  Eigen::Index given_stops = 0;
  std::vector<dae_segment> segments;
  Eigen::VectorXd given_slope;  // y'0 as given
  std::vector<dae_state> points;
  std::vector<Eigen::MatrixXd> output_sensitivities;  // sensitivities of the differential part at the output times
  Eigen::MatrixXd solution;
};

}  // namespace agrad::detail
