// Event second: the reverse pass of solve/events/reverse.hpp with tangents, for second derivatives of a solution with doses,
// stops and events.
//
// All adjoints have tangents along the directions of the last `tangent`: the adjoint of the state and the adjoint of the time
// at which a segment begins. States that move with their times follow solve/solver/moving_state.hpp. An event's time is an
// implicit function of the state at its fixed time: with G(t, y, p) = g(t, z(t, y), p) = 0 and s the adjoint of the time, the
// adjoints of y and p are -m G_y and -m G_p with m = s / G_t, and their tangents follow by the product rule from the tangents
// of G's derivatives.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <agrad/solve/events/tangent.hpp>

namespace agrad::detail {

/// A single reverse pass over a trajectory and its last tangents. These and the adjoints must outlive it.
class event_second_pass {
 public:
  using moving_segment = event_tangent::moving_segment;

  event_second_pass(event_trajectory& of, const event_tangent& moved, const event_adjoints& adjoints,
                    const event_tangents& tangents, event_directions& gradient_tangents);

  event_gradient compute();

 private:
  moving_number still() const { return {0, Eigen::RowVectorXd::Zero(width_)}; }
  Eigen::RowVectorXd directions(const std::vector<double>& all, std::size_t i) const;

  /// Adds to entry i of a gradient.
  void add(Eigen::VectorXd& values, std::vector<double>& tangents, std::size_t i, const moving_number& by, double factor = 1);
  void add_all(Eigen::VectorXd& values, std::vector<double>& tangents, const moving_vector& by);

  void enter(const event_segment& s);
  /// Propagates the adjoints of a consistent state at a segment's start to those of the state before.
  void reverse_start(const event_segment& s, const moving_segment& m);
  void move(const moving_place& at, moving_vector& state, moving_number& time);
  /// Converts tangents of a state at a moving time to tangents at the fixed time.
  tangent_rows fixed(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by, tangent_rows tangents);

  // ---- outputs

  tangent_rows rows_of(const tangent_rows& all, std::size_t k) const;
  moving_vector output_adjoint(std::size_t k) const;
  /// Turns the adjoint of an output at its moving time into the adjoint of the state at the fixed time.
  /// moved: the tangents of the output.
  void move_output(std::size_t k, double t, const Eigen::VectorXd& y, const tangent_rows& moved, moving_vector& output);
  void move_output(std::size_t k, double t, const Eigen::VectorXd& y, moving_vector& output) {
    move_output(k, t, y, rows_of(moved_.numbers().states, k), output);
  }

  /// Does the same as the function of this name in solve/events/reverse.hpp.
  void add_end_outputs(const event_segment& s);

  /// Does the same as the function of this name in solve/events/reverse.hpp.
  void add_before_outputs(const event_segment& s);

  // ---- doses, stops and events at a segment's end

  void reverse_ending(const event_segment& s, const moving_segment& m);
  /// Propagates the adjoint of the state after a dose at once to the adjoint before it, and to its amount.
  void reverse_dose(const event_segment& s, const moving_segment& m, std::size_t dose);
  /// Throws if the duration of a short infusion has tangents: a dose at the middle of the infusion is exact only to first order
  /// in the duration.
  void check_stays_short(std::size_t dose) const;

  void reverse_event(const event_segment& s, const moving_segment& m);

  ode_point point(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& time, const tangent_rows& state,
                  std::size_t e) const;

  Eigen::RowVectorXd hit_time_tangent(std::size_t hit) const {
    return moved_.numbers().hit_times.row(static_cast<Eigen::Index>(hit));
  }
  tangent_rows hit_state_tangents(std::size_t hit) const { return rows_of(moved_.numbers().hit_states, hit); }

  /// Propagates the adjoint of the state after a reset to the adjoint before it, or adds to that of an earlier hit's state, all
  /// at the time of the instant's first event.
  void reverse_reset(const event_segment& s, const moving_segment& m, std::size_t j);

  /// Propagates the adjoint of a hit's state at the hit's time to the adjoint at the time of the instant's first event.
  void reverse_late_hit(const event_segment& s, const moving_segment& m, std::size_t j, moving_vector& of_state,
                        moving_number& by_hit);

  /// Propagates the adjoint of a delayed event's time to its trigger.
  void reverse_delay(const event_hit& of, const moving_number& by);

  /// Propagates the adjoint of a hit's time to the adjoints of the state and parameters of the event function.
  void reverse_root(const event_segment& s, const moving_segment& m, std::size_t hit, const moving_number& by);

  // ---- through a segment

  void reverse_segment(const event_segment& s);

  /// Propagates the adjoints of a segment's parameters to the adjoints of the system's parameters, and the adjoints of the
  /// rates to the adjoints of the amounts and durations of running infusions.
  void reverse_parameters(const event_segment& s);

  event_trajectory& of_;
  const event_tangent& moved_;
  const event_directions& along_;
  int width_;
  const event_adjoints& adjoints_;
  const event_tangents& tangents_;
  event_directions& gradient_tangents_;
  bool moves_;
  event_gradient g_;
  moving_vector state_, parameters_;      // parameters_: the system's parameters, then the rates
  moving_number time_, carried_;          // carried_: the part of time_ that belongs to the time of an earlier segment's end
  std::vector<moving_number> hit_times_;  // adjoints of hits, from results and from later hits
  std::vector<moving_vector> hit_states_;
  std::vector<moving_vector> seen_;  // adjoints of the states before hits, of the resets of later ones of the instant
  std::vector<double> parameter_tangents_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/events/second.ipp>
#endif
