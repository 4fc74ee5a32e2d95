// DAE start: the differential part of a system's states, and consistent initial values, without an integration.
//
// Read next: solve/dae/consistency.hpp.
#pragma once

#include <string>

#include <agrad/solve/dae/consistency.hpp>

namespace agrad {

struct dae_start {
  Eigen::MatrixXd q;  // the differential part of a state y is Q' y; Q has columns of the identity where states are its entries
  Eigen::VectorXd y, yp;  // consistent; y' of the differential part
};

/// Computes the start of a solve from (t0, y0, y'0), as `dae_solver` does. Throws what `dae_solver::integrate` throws there.
dae_start start_dae(const std::string& function, dae_system& system, const dae_options& options, const Eigen::VectorXd& y0,
                    const Eigen::VectorXd& yp0, double t0);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/start.ipp>
#endif
