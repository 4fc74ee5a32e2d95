// CVODES adjoint: integrates an `ode_system` in a forward pass and propagates adjoints of its output in a reverse pass.
//
// The forward pass integrates only the n states; where a reverse pass is wanted, CVODES stores a checkpoint after every
// `num_steps_between_checkpoints` steps. The reverse pass integrates one problem of n adjoints and one quadrature of m
// parameters from the last output time to t0. At each output time, the adjoint of that output is added and the integration
// restarts. After one integration, a solver can do several reverse passes, and afterwards integrate from other initial states.
// Tangents are sensitivities, integrated forwards.
// Sources: stan-dev/design-docs, 0027-adjoint-ode; Hindmarsh and Serban, User Documentation for CVODES, section 2.7.
// Read next: solve/cvodes/callbacks.hpp, solve/cvodes/backward.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/adjoint_options.hpp>
#include <agrad/solve/cvodes/backward.hpp>
#include <agrad/solve/cvodes/log.hpp>
#include <agrad/solve/cvodes/tangents.hpp>
#include <agrad/solve/cvodes/watch.hpp>
#include <agrad/solve/solver/solver.hpp>

namespace agrad {

/// Initial value problems of one system with one set of options. The system has to outlive the solver.
class cvodes_adjoint final : public ode_solver {
 public:
  /// `function` is the name that messages begin with. Throws ShapeError or DomainError for options that do not fit.
  cvodes_adjoint(std::string function, ode_system& system, const ode_adjoint_options& options, ode_required required);

  cvodes_adjoint(const cvodes_adjoint&) = delete;
  cvodes_adjoint& operator=(const cvodes_adjoint&) = delete;

  /// Returns whether a new solver with these arguments would be the same as this solver.
  bool serves(const std::string& function, ode_system& system, const ode_adjoint_options& options, ode_required required) const;
  /// Replaces the system by one for which `serves` returned true.
  void use(ode_system& system);
  /// Drops the objects that refer to the system; the solver must not be used before the next call of `use`.
  void rest() { tangents_.reset(); }
  /// Return whether earlier solves left the solver like a new one, and roughly how many bytes the solver holds.
  bool is_as_new() const { return segment_ == first_segment() && (!backward_ || backward_->rows() == 1); }
  double bytes() const { return 2.0 * sizeof(double) * static_cast<double>(room_) * static_cast<double>(callbacks_.states()); }

  /// Integrates from (t0, y0); column k of the result is the state at times[k]. The right-hand side is never evaluated
  /// outside of [t0, times.back()]. Throws SolverError, or what the system throws.
  AGRAD_INLINE const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0,
                                                const std::vector<double>& times) override;

  /// Returns the gradient of a scalar whose derivative with respect to the state at times[k] is column k of `adjoints`, a
  /// matrix of n by the number of times. An adjoint that is not finite makes the gradient nan, as in any other operation.
  AGRAD_INLINE ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override;

  /// Returns one gradient for each matrix of adjoints. Matrices that are nonzero at the same times share one reverse pass;
  /// others would only add restarts to each other.
  AGRAD_INLINE std::vector<ode_gradient> reverse_rows(const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) override;

  const ode_statistics& statistics() const override { return statistics_; }

  bool has_first_tangents() const override { return true; }
  bool tangents_match() const override { return false; }
  AGRAD_INLINE void tangent(const ode_directions& along, double* states) override;

  AGRAD_INLINE bool watch(detail::event_watch* events) override;
  AGRAD_INLINE bool log_steps(detail::step_log* log) override;

 private:
  static std::string checked(const std::string& function, const ode_system& system, const ode_adjoint_options& options);

  void integrate_forwards();

  /// Integrates to output time k step by step, or to an earlier event, whose time then replaces output time k.
  void advance_by_steps(std::size_t k);

  double event() const { return watch_ ? watch_.event() : std::numeric_limits<double>::infinity(); }

  void start_forward();

  void set_up_forward();

  long first_segment() const;

  // CVODES allocates memory for each step of a segment; an integration takes at most this number of steps.
  long most_steps() const;

  // Longer segments avoid a last segment that is too short for polynomial interpolation (solve/cvodes/interpolation.hpp).
  bool interpolates_polynomially() const;
  long highest_order() const { return options_.solver_forward == ode_method::adams ? 12 : 5; }
  long forward_steps() const;
  bool last_segment_is_short(long steps) const;
  void lengthen_segments(long steps);

  void forget_memory();

  double advance_forward(double to, int task);
  [[noreturn]] void stop_forward(int code);

  Eigen::VectorXd times_gradient(const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  using adjoint_rows = std::vector<Eigen::Map<const Eigen::MatrixXd>>;

  /// Groups the matrices of adjoints that are nonzero at the same times; larger groups come first.
  static std::vector<std::vector<std::size_t>> groups_of(const adjoint_rows& adjoints);

  void integrate_backwards(const adjoint_rows& adjoints, const std::vector<std::size_t>& group,
                           std::vector<ode_gradient>& gradients);

  /// Makes a backward problem for at least `rows` adjoints. CVODES integrates all backward problems in its memory, so a larger
  /// problem needs new memory and another forward integration.
  void make_backward(Eigen::Index rows);

  void expect(int code, const char* call) const { sundials::expect_success(code, function_, call); }

  std::string function_;
  ode_adjoint_options options_;
  ode_required required_;
  bool reverses_;  // whether a wanted derivative needs a reverse pass
  detail::cvodes_callbacks callbacks_;
  sundials::context_handle context_;
  sundials::vector_handle state_;
  chosen_algebra algebra_;
  sundials::newton newton_;
  detail::cvodes_watch watch_;
  detail::cvodes_log log_;
  long segment_;   // steps between checkpoints
  long room_ = 0;  // steps of a segment for which memory_ has room
  std::unique_ptr<detail::cvodes_tangents> tangents_;
  std::unique_ptr<detail::cvodes_backward> backward_;  // before memory_: this member uses memory_
  sundials::cvodes_handle memory_;

  bool integrated_ = false;
  Eigen::VectorXd y0_;
  double t0_ = 0;
  double reached_ = 0, end_ = 0;  // times reached by single steps and at the end, by CVODES' clock
  std::vector<double> times_, since_start_;
  Eigen::MatrixXd states_;
  ode_statistics statistics_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/adjoint.ipp>
#endif
