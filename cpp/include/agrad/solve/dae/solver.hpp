// DAE solver: integrates F(t, y, y') = 0 of index 1 from consistent initial values to output times, and computes gradients.
//
// IDAS integrates forwards. At t0 and at each output time, the solver computes the rest of y and y' from the differential part
// of y, and there turns adjoints of all components into adjoints of the differential part, exactly. So the reverse pass
// integrates an adjoint problem for the differential part alone (solve/dae/ida_backward.hpp), or multiplies by the part's
// forward sensitivities.
// Stops divide the time into segments. The differential part is continuous at a stop; the rest is solved for again after the
// stop, and IDAS restarts. An output at a stop is the state after the stop.
// Read next: solve/dae/consistency.hpp; solve/dae/solution.hpp, the stored results; solve/dae/reverse.hpp, the reverse pass;
// solve/dae_adjoint.hpp, the functions for users.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/dae/ida_forward.hpp>
#include <agrad/solve/dae/reverse.hpp>
#include <agrad/solve/dae/solution.hpp>

namespace agrad {

/// Initial value problems of one system with one set of options. The system has to outlive the solver.
class dae_solver {
 public:
  /// `function` is the name that messages begin with. Throws ShapeError or DomainError for options that do not fit.
  dae_solver(std::string function, dae_system& system, dae_options options, dae_required required);

  dae_solver(const dae_solver&) = delete;
  dae_solver& operator=(const dae_solver&) = delete;

  /// Integrates from t0; column k of the result is y and then y' at times[k], of which the first may be t0. The residual may
  /// jump at the stops; stops outside of t0 and the last time are ignored. Throws ShapeError, DomainError, SolverError, or what
  /// the system throws.
  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                   const std::vector<double>& times, const std::vector<double>& stops);
  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                   const std::vector<double>& times);

  /// Returns the gradient of a scalar whose derivative with respect to y and y' at times[k] is column k of `adjoints`.
  dae_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  const ode_statistics& statistics() const { return statistics_; }

 private:
  using dae_state = detail::dae_state;

  // ---- forwards

  /// Replaces s, the end of the segment before or the initial values, by the consistent state at the start of segment i.
  void begin_segment(std::size_t i, double end, dae_state& s);

  /// Integrates segment i to its end and stores its outputs. Outputs at the start belong to the segment; an output at the end
  /// belongs to the last segment only.
  void solve_segment(std::size_t i, const std::vector<double>& times, dae_state& s);

  void start(std::size_t i);

  /// Sets the sensitivities at the start of a segment: to the initial values, to each stop so far, to the parameters.
  void start_sensitivities(std::size_t i);

  /// Sets the sensitivities at the start of a segment, before the correction of y, from those at the end of the one before.
  void continue_sensitivities(std::size_t i, Eigen::MatrixXd& to) const;

  // As in solve/cvodes/forward.hpp, a sensitivity to x is controlled as x dy/dx, where x has a size; the size of a stop is the
  // length of the whole integration.
  Eigen::VectorXd scales(Eigen::Index of_parameters) const;

  dae_state advanced(double t);
  dae_state output_at_begin(std::size_t i);

  /// Stores the sensitivities of the differential part at an output time or at the end of a segment.
  void store_sensitivities(double t);

  const Eigen::MatrixXd& assemble();

  detail::dae_solution solution_;
  std::optional<detail::ida_forward> forward_;
  bool is_integrated_ = false;
  Eigen::MatrixXd at_end_;  // sensitivities of the differential part at the last output time or segment's end
  ode_statistics statistics_;
  detail::dae_reverse_pass reverse_pass_{solution_, statistics_};
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/solver.ipp>
#endif
