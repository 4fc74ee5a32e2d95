// DAE correction: how the differential part a depends on the parameters p after y was made consistent.
//
// At t0 and after a stop, y moves by a correction v = Z c, at which a = Q^T y is constant. Where derivatives occur in
// combinations that depend on p, as in p y0' + y1' = 0, the null space Z of dF/dy' moves with p, and v with Z: for the constant
// Q of the solve, da/dp gains Q^T (dZ/dp) c. F does not change along its null space, F(t, y, y' + Z c; p) = F(t, y, y'; p) for
// all p, and the derivative of this identity with respect to p,
//     dF/dy' (dZ/dp) c = dF/dp(t, y, y') - dF/dp(t, y, y' + Z c),
// gives the term exactly, without second derivatives of F.
// Read next: solve/dae/solver.hpp, for forward sensitivities; solve/dae/reverse.hpp, for adjoints.
#pragma once

#include <string>

#include <Eigen/Core>

#include <agrad/solve/dae/consistency.hpp>

namespace agrad::detail {

/// Returns the correction of y that led to a consistent state; empty where it is a rounding error, and where a and b are
/// states, because a selection of states depends on no parameter.
Eigen::VectorXd correction_of(const dae_splitting& split, const Eigen::VectorXd& before, const Eigen::VectorXd& after);

/// Returns lambda^T dF/dy' (dZ/dp) c, a row for each column of `lambda`, at the state s after the correction v = Z c. Throws
/// DomainError where the null space of dF/dy' is another one at other y'.
Eigen::MatrixXd correction_by_parameters(const std::string& function, dae_system& system, const dae_splitting& split,
                                         const dae_state& s, const Eigen::VectorXd& correction, const Eigen::MatrixXd& lambda);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/correction.ipp>
#endif
