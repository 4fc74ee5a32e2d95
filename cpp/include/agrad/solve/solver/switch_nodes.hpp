// Switch nodes: the roots of held switches at points within a step that are close enough for cubic polynomials between them.
//
// While sides are held, nothing in a step's error tells how the roots move: the state may rest while sin(t) > 0.5 changes ten
// times. So the roots are evaluated on the cubic polynomial of the state at a few uneven places, and parts of the step where a
// root is off its own cubic polynomial are halved. Roots that are linear in time and state need no such places.
// Read next: solve/solver/event_watch.hpp, the user.
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include <agrad/solve/system/held_switches.hpp>

namespace agrad::detail {

class switch_nodes {
 public:
  /// The roots at a time since the step's start.
  struct node {
    double at = 0;
    std::vector<double> values, rates;
  };

  /// switches: null for none. n states.
  switch_nodes(held_switches* switches, Eigen::Index n) : switches_(switches), y_(n), slope_(n), end_y_(n), end_slope_(n) {}

  /// Starts at a point (t on the problem's clock).
  void begin(double t, const double* y, const double* slope);
  /// Examines a step of size h to a point.
  void examine(double h, const double* y, const double* slope);
  /// Goes on from the end of the step.
  void go_on(double t);

  /// Returns the nodes of the step in order; the first is its start, the last its end.
  const std::vector<node>& all() const { return nodes_; }

 private:
  static constexpr int deepest = 12;
  static constexpr double exact = 0.02;  // the largest error of a cubic polynomial, relative to the root

  void evaluate(double at, const double* y, const double* slope, node& to);
  /// Computes the state on its cubic polynomial over the step, at a share of the step.
  void interpolate(double x);
  /// Returns the roots on that polynomial.
  node inside(double at);
  /// Adds the nodes of a part of the step after its start.
  void refine(const node& from, const node& to, int depth);
  /// Returns whether the roots at a share of a part of the step are near their cubic polynomials. Their rates are not computed:
  /// only the ends of parts need them.
  bool is_resolved(const node& from, const node& to, double share);

  held_switches* switches_;
  Eigen::VectorXd y_, slope_, end_y_, end_slope_, inner_y_, inner_slope_;
  double t_ = 0, h_ = 0;
  std::vector<node> nodes_;
  node first_, last_;  // of the step
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/switch_nodes.ipp>
#endif
