// Posed ODE: an initial value problem as a function of the initial state, the initial time, the output times and the
// parameters; the result is the state at each output time.
//
// Solvers hold times fixed in tangents and second derivatives; here the times move (solve/solver/moving_state.hpp).
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/posed/posed_solve.hpp>
#include <agrad/solve/solver/moving_state.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

class posed_ode final : public posed_solve {
 public:
  /// solver: of the system, for the required derivatives. parameters: how many the system takes, active or not.
  posed_ode(std::unique_ptr<ode_system> system, std::unique_ptr<ode_solver> solver, ode_required required,
            std::size_t parameters, std::size_t times);

  AGRAD_INLINE void solve(const double* x) override;
  AGRAD_INLINE void read(double* y) const override;
  double begin() const override { return started_; }
  double end() const override { return times_.empty() ? started_ : times_.back(); }

  AGRAD_INLINE void reverse(const double* y_adjoint, double* x_adjoint) override;
  AGRAD_INLINE void reverse_rows(std::size_t count, const double* y_adjoints, double* x_adjoints, std::size_t stride) override;

  AGRAD_INLINE tangent_kind tangents() const override;
  AGRAD_INLINE void tangent(int width, const double* x_tangent, double* y_tangent) override;
  AGRAD_INLINE void second(int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
                           double* x_adjoint_tangent) override;

  ode_statistics statistics() const override { return solver_->statistics(); }
  bool log_steps(detail::step_log* log) override { return solver_->log_steps(log); }

 private:
  Eigen::Index states() const { return static_cast<Eigen::Index>(of_state_.size); }
  Eigen::Index outputs() const { return static_cast<Eigen::Index>(of_times_.size); }

  /// Return whether a derivative with respect to a time is required, and whether a derivative through the steps is required.
  bool moves() const { return required_.initial_time || required_.times; }
  bool reverses() const { return required_.initial_state || required_.initial_time || of_parameters_.size > 0; }

  void add(const ode_gradient& g, double* x_adjoint) const;
  /// Turns the adjoint of the consistent initial state into that of the given one.
  ode_gradient from_start(ode_gradient g);
  /// Turns adjoints of states at moving times, in place, into those at fixed times; adds to the tangents of the parameters.
  moving_vector move_outputs(Eigen::MatrixXd& adjoints, tangent_rows& tangents, tangent_rows& of_parameters);

  std::unique_ptr<ode_system> system_;
  std::unique_ptr<ode_solver> solver_;
  ode_required required_;
  flat_part of_state_, of_time_, of_times_, of_parameters_;

  double started_ = 0;
  Eigen::VectorXd start_;
  std::vector<double> times_;
  const Eigen::MatrixXd* states_ = nullptr;  // at the output times
  constrained_state* constrained_;           // null without a mass matrix
  moving_state moving_;
  // From the last call of `tangent`: the tangents of the parameters, the initial state, the output times, the result, and t0.
  std::vector<double> along_;
  tangent_rows start_tangents_, time_tangents_, output_tangents_;
  Eigen::RowVectorXd initial_time_tangents_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/posed/ode.ipp>
#endif
