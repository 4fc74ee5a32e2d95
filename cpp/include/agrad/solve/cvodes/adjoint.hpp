// CVODES adjoint: integrates an `ode_system` in a forward pass and propagates adjoints of its output in a reverse pass.
//
// The forward pass integrates only the n states; where a reverse pass is wanted, CVODES stores a checkpoint after every
// `num_steps_between_checkpoints` steps. The reverse pass integrates one problem of n adjoints and one quadrature of m
// parameters from the last output time to t0. At each output time, the adjoint of that output is added and the integration
// restarts. After one integration, a solver can do several reverse passes, and afterwards integrate from other initial states.
// For tangents the states are integrated once more, with a sensitivity for each direction that is not zero. So tangents have
// error control of their own, with the states' tolerances, as the reverse pass has.
// Sources: stan-dev/design-docs, 0027-adjoint-ode; Hindmarsh and Serban, User Documentation for CVODES, section 2.7.
// Read next: solve/cvodes/session.hpp, solve/cvodes/backward.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/adjoint_options.hpp>
#include <agrad/solve/cvodes/backward.hpp>
#include <agrad/solve/cvodes/forward.hpp>
#include <agrad/solve/cvodes/session.hpp>

namespace agrad {

namespace detail {

/// Returns the options of the forward pass.
ode_forward_options forward_part(const ode_adjoint_options& of);

}  // namespace detail

class cvodes_adjoint final : public cvodes_session {
 public:
  /// `function` is the name that messages begin with. Throws ShapeError or DomainError for options that do not fit.
  cvodes_adjoint(const std::string& function, ode_system& system, const ode_adjoint_options& options, ode_required required);
  ~cvodes_adjoint() override { forget_memory(); }  // before backward_, to which CVODES' memory refers

  /// Returns whether a new solver with these arguments would be the same as this solver.
  bool serves(const std::string& function, ode_system& system, const ode_adjoint_options& options, ode_required required) const;
  /// Replaces the system by one for which `serves` returned true.
  void use(ode_system& system);
  /// Drops the objects that refer to the system; the solver must not be used before the next call of `use`.
  void rest() { tangents_.reset(); }
  /// Return whether earlier solves left the solver like a new one, and roughly how many bytes the solver holds.
  bool is_as_new() const { return segment_ == first_segment() && (!backward_ || backward_->rows() == 1); }
  double bytes() const { return 2.0 * sizeof(double) * static_cast<double>(room_) * static_cast<double>(callbacks_.states()); }

  AGRAD_INLINE const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0,
                                                const std::vector<double>& times) override;

  /// An adjoint that is not finite makes the gradient nan, as in any other operation.
  AGRAD_INLINE ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override;

  /// Returns one gradient for each matrix of adjoints. Matrices that are nonzero at the same times share one reverse pass;
  /// others would only add restarts to each other.
  AGRAD_INLINE std::vector<ode_gradient> reverse_rows(const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) override;

  bool tangents_match() const override { return false; }
  /// Directions that are not finite have tangents of nan.
  AGRAD_INLINE void tangent(const ode_directions& along, double* states) override;

  AGRAD_INLINE bool watch(detail::event_watch* events) override;

 private:
  /// Checks the options and returns the forward pass's.
  static ode_forward_options checked(const std::string& function, const ode_system& system, const ode_adjoint_options& options);

  AGRAD_INLINE void attach(void* memory, bool is_new) override;
  AGRAD_INLINE int integrate_to(double to, double& reached, int task) override;

  void integrate_forwards();

  /// Returns the output times, strictly increasing: rounding may have moved the time of an event, the last, onto the time
  /// before.
  std::vector<double> increasing_times() const;

  long first_segment() const;

  // CVODES allocates memory for each step of a segment; an integration takes at most this number of steps.
  long most_steps() const;

  // Longer segments avoid a last segment that is too short for polynomial interpolation (solve/cvodes/interpolation.hpp).
  bool interpolates_polynomially() const;
  long highest_order() const { return options_.method == ode_method::adams ? 12 : 5; }
  bool last_segment_is_short(long steps) const;
  void lengthen_segments(long steps);

  void forget_memory();

  using adjoint_rows = std::vector<Eigen::Map<const Eigen::MatrixXd>>;

  /// Groups the matrices of adjoints that are nonzero at the same times; larger groups come first.
  static std::vector<std::vector<std::size_t>> groups_of(const adjoint_rows& adjoints);

  void integrate_backwards(const adjoint_rows& adjoints, const std::vector<std::size_t>& group,
                           std::vector<ode_gradient>& gradients);

  /// Makes a backward problem for at least `rows` adjoints. CVODES integrates all backward problems in its memory, so a larger
  /// problem needs new memory and another forward integration.
  std::vector<detail::adjoint_tolerances> tolerances_of(const adjoint_rows& adjoints,
                                                        const std::vector<std::size_t>& group) const;

  void make_backward(Eigen::Index rows);

  ode_adjoint_options adjoint_options_;
  bool reverses_;                                      // whether a wanted derivative needs a reverse pass
  long segment_;                                       // steps between checkpoints
  long room_ = 0;                                      // steps of a segment for which memory_ has room
  double end_ = 0;                                     // time reached at the end, by CVODES' clock
  std::unique_ptr<cvodes_forward> tangents_;           // with as many directions as in the last call
  std::unique_ptr<detail::cvodes_backward> backward_;  // uses memory_
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/adjoint.ipp>
#endif
