// Steady stability: computes how fast a small deviation from a steady state grows or decays.
//
// The growth rate is the largest real part of the Jacobian's eigenvalues. Rates of one system differ by orders of magnitude,
// and rounding errors are relative to the largest rate, so the states are scaled first, which does not change the eigenvalues
// (Parlett and Reinsch 1969, Numerische Mathematik 13:293). A rate that is zero within the tolerances of the state, as at
// y' = -y^2, counts as zero.
// Read next: solve/steady/solver.hpp.
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

namespace agrad::detail {

/// Returns factors of the states, powers of two, that bring rows and columns of J to one size.
Eigen::VectorXd balancing(const Eigen::MatrixXd& J);

/// The largest real part of the eigenvalues, and the size up to which the real part counts as zero.
struct growth {
  double rate = std::numeric_limits<double>::quiet_NaN(), noise = 0;
  bool is_positive() const { return rate > noise; }
  bool is_negative() const { return rate < -noise; }
};

/// Computes the growth rate of J; `elsewhere` is the Jacobian at another state within the tolerances. A template, so that only
/// its users compile the eigenvalue solver.
template <class Real = double>
growth growth_of(const Eigen::MatrixXd& J, const Eigen::MatrixXd& elsewhere) {
  if (J.size() == 0) return {0, 0};
  if (!J.allFinite()) return {};
  const Eigen::VectorXd factors = balancing(J);
  using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  const matrix scaled = factors.cwiseInverse().asDiagonal() * J * factors.asDiagonal();
  const Eigen::EigenSolver<matrix> eigen(scaled, false);
  if (eigen.info() != Eigen::Success) return {};
  double noise = 1e3 * std::numeric_limits<double>::epsilon() * scaled.norm();
  const matrix change = factors.cwiseInverse().asDiagonal() * (elsewhere - J) * factors.asDiagonal();
  if (change.allFinite()) noise += 2 * change.norm();
  return {eigen.eigenvalues().real().maxCoeff(), noise};
}

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/steady/stability.ipp>
#endif
