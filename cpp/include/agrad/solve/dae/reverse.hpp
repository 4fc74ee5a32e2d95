// DAE reverse: the reverse pass, which computes a gradient segment by segment from the last to the first.
//
// Read first: solve/dae/solution.hpp.
#pragma once

#include <limits>
#include <memory>
#include <utility>

#include <agrad/solve/dae/ida_backward.hpp>
#include <agrad/solve/dae/solution.hpp>

namespace agrad::detail {

/// Reverse passes over solutions; the adjoint problem is created in the first pass over a solution and stored.
class dae_reverse_pass {
 public:
  /// The reverse passes add their costs to `statistics`.
  dae_reverse_pass(dae_solution& solution, ode_statistics& statistics) : solution_(solution), statistics_(statistics) {}

  /// Drops the adjoint problem before another integration.
  void forget() { backward_.reset(); }

  /// Implements `dae_solver::reverse`.
  dae_gradient compute(const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

 private:
  dae_gradient zero_gradient(Eigen::Index times) const;

  dae_gradient masked(dae_gradient& g) const;

  /// Turns the adjoints of output k into adjoints of p and time, added to g, and of the differential part, returned.
  Eigen::VectorXd jump_at(std::size_t k, const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g);

  /// Returns the adjoint of the differential part at t0.
  Eigen::VectorXd backwards(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g);

  /// Returns the adjoints of y, to which those of y' are added as what they are through the differential part.
  Eigen::MatrixXd of_states(const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  adjoint_tolerances tolerances_of(const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  /// Propagates the adjoint w of the differential part from the end of segment i to its start, and adds the outputs' adjoints.
  void reverse_segment(std::size_t i, const Eigen::Ref<const Eigen::MatrixXd>& adjoints, Eigen::VectorXd& w, dae_gradient& g);

  /// Does the same by products with the sensitivities at the outputs.
  Eigen::VectorXd by_sensitivities(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g);

  void reverse_initial_values(const Eigen::VectorXd& of_differential, dae_gradient& g);

  dae_solution& solution_;
  ode_statistics& statistics_;
  std::unique_ptr<ida_backward> backward_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/reverse.ipp>
#endif
