// DAE trajectory: stores the steps of an integration by BDF and evaluates y and y' at any time in between.
//
// In the step that ended at point i with order k, IDAS' own solution is the polynomial through the points i, i - 1, ..., i - k
// (Hindmarsh and Serban, User Documentation for IDAS, section 2.1), so points and orders are enough. Times count from the
// start: at late times, a step may be smaller than the rounding of the time.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace agrad::detail {

class dae_trajectory {
 public:
  void start(double t, const Eigen::VectorXd& y);

  double start() const { return start_; }

  void append(double since_start, const double* y, int order);

  /// Evaluates y and y' at a time since the start.
  void evaluate(double since_start, Eigen::VectorXd& y, Eigen::VectorXd& yp) const;

 private:
  static constexpr int highest = 5;

  /// Returns the Lagrange polynomial of point j and its derivative, at time t.
  static std::array<double, 2> weights(double t, const double* times, std::size_t points, std::size_t j);

  Eigen::Index n_ = 0;
  double start_ = 0;
  std::vector<double> times_, states_;
  std::vector<int> orders_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/trajectory.ipp>
#endif
