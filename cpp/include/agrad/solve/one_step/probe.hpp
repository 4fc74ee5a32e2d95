// Step probe: a tangent in a generic direction, with an error that takes part in the choice of step sizes.
//
// A step chosen by the state's error alone may be far too long for the derivatives: where the state rests, its error is zero,
// steps grow beyond the stability of the linearised equation, and the method multiplies tangents and adjoints by its
// amplification of the fast modes. The probe v' = (df/dy) v + (df/dp) w sees these modes. The entries of v at the start and of
// w have the sizes of their states and parameters, with fixed factors that no symmetry of a problem cancels, so steps are the
// same in every run and every thread. The local errors of the probe add up to an estimate of the gradient's error.
// Read next: solve/one_step/solver.hpp, which controls steps by the probe.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <agrad/solve/algebra/constrained_state.hpp>
#include <agrad/solve/one_step/control.hpp>
#include <agrad/solve/one_step/options.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

/// Returns number i of a fixed sequence with either sign and sizes from 0.5 to 1.5. A factor near zero would hide its state,
/// and factors of equal size could cancel each other.
double generic_factor(std::size_t i);

class step_probe {
 public:
  /// Sets the tangent that the next integration starts with, instead of a new tangent. If empty, a new tangent is drawn. The
  /// states that have just been changed, if any, have derivatives of their own, whatever the size of the change: their tangents
  /// are at least as large as those of a start.
  void continue_from(std::vector<double> tangent, std::vector<bool> changed) {
    given_ = std::move(tangent), changed_ = std::move(changed);
  }

  /// Draws the direction at an initial state, or uses the given tangent, if derivatives control the steps of a solve with these
  /// options. The system gives the sizes of the parameters. constrained: of a system with a mass matrix, else null; the tangent
  /// is then one of consistent states.
  void start(ode_system& system, const step_options& options, const ode_required& required, const Eigen::VectorXd& y0,
             double t0, constrained_state* constrained);

  bool is_on() const { return is_on_; }
  /// Return the tangents of the states at the step's start and end, the tangents of the parameters, and the error of the
  /// present step.
  const double* now() const { return now_.data(); }
  double* next() { return next_.data(); }
  const double* parameters() const { return parameters_.data(); }
  double* error() { return error_.data(); }
  const std::vector<double>& tangent() const { return now_; }

  /// Examines the state y and its slope before a step is attempted.
  ///
  /// Where the state jumps, a tangent is mostly a shift of the jump in time: c times the slope, and about as large as the
  /// slope. An error within the tolerance of so large a tangent is an error of the shift; after the jump the error remains in
  /// full although the tangent is small again. Therefore the error is weighed as if the state moved at its mean speed: `share_`
  /// is the part of the tangent that then remains. All sizes are relative to the largest value that each state has had.
  void observe(const double* y, const double* slope, const step_options& options);

  /// Returns the size of the error relative to the tolerances.
  double weighed(const step_options& options);
  const Eigen::VectorXd& scale() const { return scale_; }

  /// Returns the larger error of a step: of the state, or of the probe, which attempt() propagates through the step if the
  /// state's error allows the step.
  template <class Attempt>
  double larger_error(double of_state, const Attempt& attempt) {
    holds_ = false;
    if (!is_on_ || !(of_state <= 1)) return of_state;
    const double own = attempt();
    if (!std::isfinite(own)) return tries_again() ? own : of_state;
    holds_ = own > of_state;
    return std::max(of_state, own);
  }
  /// Returns whether the probe's error was the larger error of the step attempted last.
  bool holds() const { return holds_; }

  /// Adds an accepted step of size h.
  void accept(double h);

  /// Returns the root mean square of the states' accumulated local errors, each relative to the largest tangent of its state;
  /// nan if there was no probe or the probe was lost.
  double relative_error() const;

 private:
  /// Returns whether a tangent that is not finite makes the step shorter. After `most_faults` of them, as at the square root of
  /// zero, the solve continues without the probe; the reverse pass then checks whether the gradient is finite.
  bool tries_again();

  /// Adds the tangent of the initial time: a later initial time moves the initial state backwards along the slope.
  void move_initial_time(const Eigen::VectorXd& slope, const Eigen::VectorXd& sizes);

  /// Uses the given tangent; draws a new entry where a state has been changed and its entry is small. sizes: of the states.
  void take_given(const Eigen::VectorXd& sizes);

  void draw_parameters(const ode_system& system, const Eigen::VectorXd& sizes);

  static constexpr int most_faults = 12;

  std::vector<double> now_, next_, parameters_, error_, given_;
  std::vector<bool> changed_;
  Eigen::VectorXd sum_, largest_, scale_;  // of each state: the sum of its local errors, its largest tangent, its tolerance
  Eigen::VectorXd largest_state_;
  double share_ = 1, speed_ = 0, path_ = 0,
         duration_ = 0;  // the state has moved by `path_`, in its units, in the time `duration_`
  bool is_on_ = false, is_blind_ = false, holds_ = false;
  int faults_ = 0;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/one_step/probe.ipp>
#endif
