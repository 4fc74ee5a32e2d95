// Linear path: checks that a right-hand side is linear along the way to a steady state.
//
// Jacobians that agree at a few states do not make f linear: f may have another piece elsewhere. Where f is linear with the
// Jacobian J, the solution is y(t) = rest + exp(J t) (y0 - rest), and as long as f agrees with J along it, this is the solution
// of the true system, too. The exponential of a short step is a Taylor polynomial; after every fourth step it is squared, so
// that steps keep pace with time.
// Read next: solve/steady/solver.hpp.
#pragma once

#include <Eigen/Core>

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

/// Returns whether f agrees with J at states along the way from y0 to `rest`. rate: at which the slowest deviation decays,
/// positive.
bool is_linear_along(ode_system& system, double time, const Eigen::MatrixXd& J, const Eigen::VectorXd& y0,
                     const Eigen::VectorXd& rest, double rate);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/steady/linear_path.ipp>
#endif
