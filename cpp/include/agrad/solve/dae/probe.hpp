// DAE probe: points near a given point, to tell whether a property of a system holds at that point only.
//
// A derivative that is zero, or a matrix that is singular, at a guess of zeros may be nonzero or regular elsewhere.
// Read next: solve/dae/splitting.hpp, solve/dae/consistency.hpp.
#pragma once

#include <Eigen/Core>
#include <cmath>

namespace agrad::detail {

/// Returns a step of about `part` of each entry, and of the largest entry where an entry is zero. The parts of no two entries
/// are equal, so that nothing cancels.
inline Eigen::VectorXd probe_step(const Eigen::VectorXd& x, double part) {
  const double largest = x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0;
  Eigen::VectorXd step(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double size = x[i] != 0 ? x[i] : largest > 0 ? largest : 1;
    step[i] = part * size * (0.75 + 0.25 * std::sin(1.0 + 2.0 * static_cast<double>(i)));
  }
  return step;
}

}  // namespace agrad::detail
