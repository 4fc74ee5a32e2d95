// DAE consistency: states that satisfy F(t, y, y') = 0, and their derivatives as an implicit function.
//
// With the differential part a of y given, F = 0 is a system of n equations for (a', b) with the Jacobian
// B = [dF/dy' Q, dF/dy Z]. Damped Newton steps solve the equations at t0 and, from the integrator's state, at each output time.
// There, solves with transposed B propagate adjoints of b and a' to a, t and p, and solves with B propagate tangents to b; the
// Newton iterations are not differentiated. A singular B means a system of index 2 or more, unless B is singular at the guess
// alone.
// Source: Deuflhard (2011), Newton Methods for Nonlinear Problems, 3.3.
// Read next: solve/dae/solver.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <agrad/solve/algebra/scaled_factors.hpp>
#include <agrad/solve/dae/options.hpp>
#include <agrad/solve/dae/probe.hpp>
#include <agrad/solve/dae/splitting.hpp>
#include <agrad/solve/sundials/fault.hpp>

namespace agrad::detail {

/// A state in time.
struct dae_state {
  double t = 0;
  Eigen::VectorXd y, yp;
  dae_point at() const { return {t, y.data(), yp.data()}; }
};

/// Adjoints of an output, expressed as adjoints of a, of p, and of the time at fixed a.
struct dae_jump {
  Eigen::VectorXd differential, parameters;
  double time = 0;
};

class dae_consistency {
 public:
  dae_consistency(const std::string& function, dae_system& system, const dae_options& options)
      : function_(function), system_(system), options_(options), residual_(system.states()) {}

  void use(const dae_splitting* splitting) { splitting_ = splitting; }

  /// Changes y0 and y'0 to consistent values.
  void initialise(dae_state& s);

  /// Changes a state before a jump of the residual to a consistent state after the jump: a stays, b and a' are solved for.
  void restart(dae_state& s) { solve_from_guess(s, unknown::rest); }

  /// Makes a state of the integrator consistent: a stays, b and a' are solved for.
  void refine(dae_state& s) { solve(s, unknown::rest); }

  /// Adds the derivative of b to y'. Uses the factors of the last call of one of the functions above. Where the system has no
  /// derivatives with respect to t, differences give a guess, good enough for an integrator's start.
  void differentiate_algebraic(dae_state& s, double end);

  /// Factorises B at a consistent state, for the functions below.
  void prepare(const dae_state& s) { factorise(s, unknown::rest); }

  /// Propagates adjoints of y and y' at the state of `prepare`.
  dae_jump jump(const dae_state& s, const Eigen::VectorXd& of_y, const Eigen::VectorXd& of_yp);

  /// Returns lambda with Q^T (dF/dy')^T lambda = a's adjoint and Z^T (dF/dy)^T lambda = 0.
  Eigen::VectorXd multipliers(const Eigen::VectorXd& of_differential) const;

  /// Returns a bound for each multiplier, for adjoints of a of size `scale`: sum_j |B^-T|_ij scale_j.
  Eigen::VectorXd reach(const Eigen::VectorXd& scale) const;

  /// Computes the derivative of a consistent state along a direction of a and of the parameters.
  void tangent(const dae_state& s, const Eigen::VectorXd& differential, const Eigen::VectorXd& parameters, dae_state& to);

  /// Returns a consistent state beside the state of `prepare`: each entry of y moves by a different fraction of its tolerance,
  /// at most a hundredth. States at rest that are moved in this way return as fast as their sensitivities move.
  dae_state beside(const dae_state& s);

  /// Propagates the adjoint of a to y'0, p and t0, where y0 was solved for.
  void to_slope(const dae_state& s, const Eigen::VectorXd& of_differential, dae_gradient& gradient);

  /// Stores the current B for `is_nearly_singular`.
  void remember() { first_ = factors_; }

  /// Returns whether B at a state is close to singular, compared with the stored B; used in the message of an integration that
  /// stopped.
  AGRAD_COLD bool is_nearly_singular(const dae_state& s) { return first_.is_nearly_singular(matrix(s, unknown::rest)); }

 private:
  enum class unknown { rest, state };  // (a', b) or y
  static constexpr const char* singular = "SINGULAR";

  Eigen::MatrixXd matrix(const dae_state& s, unknown of);

  bool is_regular(const dae_state& s, unknown of);

  void factorise(const dae_state& s, unknown of);

  Eigen::VectorXd tolerances(const Eigen::VectorXd& of) const;

  void check_residual(const dae_state& s);

  void evaluate(const dae_state& s) { system_.residual(s.at(), residual_.data()); }

  dae_state moved(const dae_state& s, unknown of, double factor, const Eigen::VectorXd& step) const;

  /// Returns the size of a step in units of the tolerances of y and y'.
  double size_of(const dae_state& s, unknown of, const Eigen::VectorXd& step) const;

  /// Returns whether a step is as small as the rounding errors of y and y'.
  bool is_rounding(const dae_state& s, unknown of, const Eigen::VectorXd& step) const;

  /// Solves from the guess or, where the equations are singular there, as y1^2 = y0 is at y1 = 0, from points near the guess.
  void solve_from_guess(dae_state& s, unknown of);

  dae_state near(const dae_state& s, unknown of, double part) const;

  void solve(dae_state& s, unknown of);

  /// Moves by a part of the step that makes the next step with the same factors smaller; returns false when there is no such
  /// part.
  bool descend(dae_state& s, unknown of, const Eigen::VectorXd& step, double size);

  // ---- messages

  void refuse_algebraic(const Eigen::VectorXd& of_yp) const;

  [[noreturn]] AGRAD_COLD void throw_not_finite(const std::string& what, double t, const Eigen::MatrixXd& values) const;

  [[noreturn]] AGRAD_COLD void throw_singular(double t, unknown of, const Eigen::MatrixXd& m) const;

  [[noreturn]] AGRAD_COLD void throw_not_found(const dae_state& s, unknown of, const std::string& because);

  const std::string& function_;
  dae_system& system_;
  const dae_options& options_;
  const dae_splitting* splitting_ = nullptr;
  scaled_factors factors_, first_;
  Eigen::VectorXd residual_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/consistency.ipp>
#endif
