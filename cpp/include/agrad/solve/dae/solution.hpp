// DAE solution: what an integration leaves behind for the way back, from one stop to the next.
//
// The solver (solve/dae/solver.hpp) writes it, segment by segment; the sweep reads it.
// Read next: solve/dae/sweep.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <agrad/solve/dae/consistency.hpp>
#include <agrad/solve/dae/trajectory.hpp>
#include <agrad/solve/dae/window.hpp>
#include <agrad/solve/sundials/handles.hpp>

namespace agrad::detail {

/// From one stop to the next: consistent states at both ends, as seen from inside.
struct dae_segment {
  dae_state begin, end;  // the latter only where there is another segment behind it
  double last = 0;
  std::size_t first_point = 0, points = 0;
  Eigen::MatrixXd sensitivities;  // of the differential part at the begin
};

/// A struct in all but name: the solver writes, the sweep reads and enters one segment after the other.
class dae_solution {
 public:
  dae_solution(std::string name, dae_system& inner, dae_options with, dae_wanted asked)
      : function(std::move(name)),
        system(inner),
        options(std::move(with)),
        wanted(asked),
        consistency(function, system, options) {}

  bool uses_sensitivities() const { return options.sensitivities != dae_sensitivities::adjoint; }
  bool is_differentiated() const {
    return wanted.initial_state || wanted.initial_slope || wanted.initial_time || wanted.stops || system.parameters() > 0;
  }
  /// Whether the adjoint of the differential part at t0 is asked for.
  bool needs_initial() const {
    const bool solved_for = options.initial == dae_initial::derivatives;
    return wanted.initial_time || (solved_for ? wanted.initial_slope || system.parameters() > 0 : wanted.initial_state);
  }
  Eigen::VectorXd slope_of_differential(const dae_state& s) const { return split.q().transpose() * s.yp; }

  void enter(std::size_t i) {
    if (given_stops == 0)
      system.open();
    else
      system.enter(segments[i].begin.t, segments[i].last);
  }

  /// How the differential part behind the stop that segment number i begins with moves with the stop.
  Eigen::VectorXd jump_of_slope(std::size_t i) const {
    return slope_of_differential(segments[i - 1].end) - slope_of_differential(segments[i].begin);
  }

  std::string function;
  dae_window system;
  dae_options options;
  dae_wanted wanted;
  dae_consistency consistency;
  dae_splitting split;
  sundials::context_handle context;
  std::vector<dae_trajectory> trajectories;  // of the segments

  std::vector<dae_stop> stops;  // those that count; segment i ends at number i
  Eigen::Index given_stops = 0;
  std::vector<dae_segment> segments;
  std::vector<dae_state> points;
  std::vector<Eigen::MatrixXd> kept;  // sensitivities of the differential part at the output times
  Eigen::MatrixXd solution;
};

}  // namespace agrad::detail
