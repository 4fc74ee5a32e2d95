// Switched stops: the times at which a recorded right-hand side compares t with a number, as further stops of an integration.
//
// These times depend on the parameters alone, so their derivatives are those of the parameters.
// Read next: solve/system/jumps/time_switches.hpp, which finds the times.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <agrad/solve/system/jumps/time_switches.hpp>
#include <agrad/solve/system/moving_numbers.hpp>

namespace agrad {

class switched_stops {
 public:
  /// Without switches, as for a C++ callable, no stop is added.
  explicit switched_stops(std::optional<time_switches> switches) : switches_(std::move(switches)) {}

  /// Returns whether a time depends on a parameter.
  bool move() const { return switches_ && switches_->move(); }
  bool has_second() const { return !switches_ || switches_->has_second(); }

  /// Appends the switches between two times to the given stops.
  void append(double from, double to, std::vector<double> parameters, std::vector<double>& stops);

  /// Appends the tangents of the switches to those of the given stops; side by side for `width` directions.
  void append_tangents(int width, const std::vector<double>& of_parameters, std::vector<double>& of_stops);

  /// Propagates the adjoints of the switches, which follow those of the given stops and are removed, to the parameters.
  void reverse(Eigen::VectorXd& of_stops, Eigen::VectorXd& of_parameters);

  /// Does the same with tangents; along: the directions of the parameters.
  void second(int width, const std::vector<double>& along, const Eigen::VectorXd& of_stops, std::vector<double>& stop_tangents,
              std::vector<double>& parameter_tangents);

 private:
  std::optional<time_switches> switches_;
  std::size_t given_ = 0;                   // stops before the switches
  std::vector<time_switches::time> found_;  // by the last `append`
  std::vector<double> parameters_;
  time_switches::room room_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/posed/switched_stops.ipp>
#endif
