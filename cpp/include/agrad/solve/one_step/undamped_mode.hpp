// Undamped mode: the frequency of a fast mode that is not damped, from two products with the Jacobian.
//
// An explicit method of order 5 lets an undamped mode grow a little in every step that is long beside the mode's period. The
// mode grows until its error limits the steps, while its amplitude is still tiny beside the states. The norm of a difference
// and of its slope does not show the frequency there: positions and velocities have different sizes and take turns. The plane
// of d and J d contains the mode, and J restricted to the plane has the mode's eigenvalues.
// Read next: solve/one_step/explicit_runge_kutta.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace agrad::detail {

/// Returns the frequency of a mode in which d moves, for d, J d and J J d relative to a scale: the imaginary part of the roots
/// of x x = a x + b, where J J d = a J d + b d in the sense of least squares. 0 if the roots are real, if their real part is
/// more than a fifth of the imaginary part, or if d and J d are parallel, as with a single state.
inline double undamped_frequency(const double* d, const double* jd, const double* jjd, const Eigen::VectorXd& scale) {
  double dd = 0, dj = 0, jj = 0, dr = 0, jr = 0;
  for (Eigen::Index i = 0; i < scale.size(); ++i) {
    const double x = d[i] / scale[i], y = jd[i] / scale[i], z = jjd[i] / scale[i];
    dd += x * x, dj += x * y, jj += y * y, dr += x * z, jr += y * z;
  }
  const double determinant = dd * jj - dj * dj;
  if (!(determinant > 1e-11 * dd * jj)) return 0;
  const double a = (dd * jr - dj * dr) / determinant, b = (jj * dr - dj * jr) / determinant;
  const double square = -b - a * a / 4;
  return square > 0 && std::abs(a) < 0.4 * std::sqrt(square) ? std::sqrt(square) : 0;
}

/// Returns the product of step size and frequency from which on Tsit5's steps are not limited by a mode of the solution itself.
/// The method's error in a mode is 4.3e-4 z^5 times the mode's amplitude, so a mode with a tenth of the states' size allows
/// shorter steps; at 1.8 a mode grows by 1 % in a step.
inline double oscillation_border(double relative_tolerance) {
  return std::max(1.8, 1.5 * std::pow(10 * relative_tolerance / 4.3e-4, 0.2));
}

}  // namespace agrad::detail
