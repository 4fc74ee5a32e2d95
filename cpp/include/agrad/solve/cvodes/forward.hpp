// CVODES forward: integrates an `ode_system` together with the sensitivities of its states.
//
// For n states there are n sensitivities to each wanted initial value and each active parameter, under error control. The
// solver stores the sensitivities at each output time, so a reverse pass is one product with them and all rows of a Jacobian
// cost one integration. Without a wanted derivative, no sensitivities are integrated.
// Source: Hindmarsh and Serban, User Documentation for CVODES, section 2.6.
// Read next: solve/cvodes/sensitivities.hpp; solve/cvodes/adjoint.hpp, for few outputs of many parameters.
#pragma once

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/backward.hpp>
#include <agrad/solve/cvodes/forward_options.hpp>
#include <agrad/solve/cvodes/log.hpp>
#include <agrad/solve/cvodes/sensitivities.hpp>
#include <agrad/solve/solver/solver.hpp>

namespace agrad {

/// Initial value problems of one system with one set of options. The system has to outlive the solver.
class cvodes_forward final : public ode_solver {
 public:
  /// `function` is the name that messages begin with. Throws ShapeError or DomainError for options that do not fit.
  cvodes_forward(std::string function, ode_system& system, const ode_forward_options& options, ode_required required)
      : cvodes_forward(std::move(function), system, options, required, initial_values(system, required),
                       initial_values(system, required) + system.parameters()) {}

  /// Makes a solver for sensitivities along `directions` directions, set by `follow` before `integrate`; the solver has no
  /// reverse pass.
  static std::unique_ptr<cvodes_forward> along(std::string function, ode_system& system, const ode_forward_options& options,
                                               Eigen::Index directions);

  cvodes_forward(const cvodes_forward&) = delete;
  cvodes_forward& operator=(const cvodes_forward&) = delete;

  /// Sets the directions: sensitivity c is along column c of both, for the initial state and the parameters.
  void follow(Eigen::MatrixXd initial_state, Eigen::MatrixXd parameters);
  Eigen::Index directions() const { return static_cast<Eigen::Index>(columns_.size()); }
  /// After `integrate`: column c is sensitivity c of all states at all times.
  const Eigen::MatrixXd& sensitivities() const { return stored_; }

  /// Integrates from (t0, y0); column k of the result is the state at times[k]. The right-hand side is never evaluated
  /// outside of [t0, times.back()]. Throws SolverError, or what the system throws.
  AGRAD_INLINE const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0,
                                                const std::vector<double>& times) override;

  /// Returns the gradient of a scalar whose derivative with respect to the state at times[k] is column k of `adjoints`, a
  /// matrix of n by the number of times.
  AGRAD_INLINE ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override;

  bool has_first_tangents() const override { return true; }

  /// Computes tangents as products with the sensitivities.
  AGRAD_INLINE void tangent(const ode_directions& along, double* states) override;

  const ode_statistics& statistics() const override { return statistics_; }

  AGRAD_INLINE bool log_steps(detail::step_log* log) override;

 private:
  cvodes_forward(std::string function, ode_system& system, const ode_forward_options& options, ode_required required,
                 Eigen::Index initial, Eigen::Index count);

  static Eigen::Index initial_values(const ode_system& system, ode_required required);
  static std::string checked(const std::string& function, const ode_system& system, const ode_forward_options& options);

  void start();

  // Sensitivities to initial values start as the identity; a sensitivity to t0 alone starts as the derivative of the state at
  // the old t0.
  void start_sensitivities();

  void set_up();

  // A sensitivity to x is controlled as x dy/dx, in the units of y; where x is zero, as dy/dx. An x that is near zero by
  // accident would leave dy/dx without control, so the size of x counts as at least absolute / relative tolerance. A
  // sensitivity along a direction is controlled like the sensitivity to the argument with the largest relative move.
  void set_tolerances();

  // Returns the largest relative move of an argument along direction c, for each state's smallest size.
  Eigen::ArrayXd largest_part(Eigen::Index c, const Eigen::VectorXd& sizes, const Eigen::ArrayXd& smallest) const;

  Eigen::VectorXd sizes_of_arguments() const;

  void advance(double to);

  int advance_by_steps(double to);

  static const char* pass_of(int code);

  /// Values of f at the output times, n by the number of times.
  const Eigen::MatrixXd& slopes();

  void read_costs();

  int corrector() const { return static_cast<int>(options_.corrector); }
  void expect(int code, const char* call) const { sundials::expect_success(code, function_, call); }

  std::string function_;
  ode_forward_options options_;
  ode_required required_;
  Eigen::Index initial_;  // number of sensitivities to initial values, which precede the sensitivities to parameters
  detail::cvodes_sensitivities callbacks_;
  sundials::context_handle context_;
  sundials::vector_handle state_;
  chosen_algebra algebra_;
  sundials::newton newton_;
  detail::cvodes_log log_;
  std::vector<sundials::vector_handle> sensitivities_;
  std::vector<N_Vector> columns_;  // the same vectors, as CVODES takes them
  sundials::cvodes_handle memory_;

  bool integrated_ = false, follows_ = false;  // follows_: along directions
  Eigen::MatrixXd along_initial_, along_parameters_;
  Eigen::VectorXd y0_, first_slope_;
  double t0_ = 0;
  double reached_ = 0;  // time reached by single steps, by CVODES' clock
  std::vector<double> times_, since_start_;
  Eigen::MatrixXd states_, slopes_;
  Eigen::MatrixXd stored_;  // column c: derivatives of the states with respect to argument c, in the order of states_
  ode_statistics statistics_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/forward.ipp>
#endif
