// Definitions of solve/dae/start.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/start.hpp>

namespace agrad {

AGRAD_INLINE dae_start start_dae(const std::string& function, dae_system& system, const dae_options& options,
                                 const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0) {
  check_solver_options(function, options, system.states());
  detail::dae_state s{t0, y0, yp0};
  const detail::dae_splitting split(function, system, s.at(), options.differential);
  detail::dae_consistency consistency(function, system, options);
  consistency.use(&split);
  consistency.initialise(s);
  return {split.q(), s.y, s.yp};
}

}  // namespace agrad
