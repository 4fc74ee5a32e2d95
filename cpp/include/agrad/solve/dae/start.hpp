// DAE start: the differential states of a system, and consistent initial values, without an integration.
//
// Read next: solve/dae/consistency.hpp.
#pragma once

#include <string>
#include <vector>

#include <agrad/solve/dae/consistency.hpp>

namespace agrad {

struct dae_start {
  std::vector<bool> differential;  // of each state; empty where combinations of states are differential
  Eigen::VectorXd y, yp;           // consistent; y' of differential states
};

/// Computes the start of a solve from (t0, y0, y'0), as `dae_solver` does. Throws what `dae_solver::integrate` throws there.
dae_start start_dae(const std::string& function, dae_system& system, const dae_options& options, const Eigen::VectorXd& y0,
                    const Eigen::VectorXd& yp0, double t0);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/start.ipp>
#endif
