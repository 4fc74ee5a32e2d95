// Posed DAE: a differential-algebraic problem as a function of the initial state, its derivative, the initial time, the output
// times, the stops and the parameters; the result is y and then y' at each output time.
//
// Tangents are products with the Jacobian, whose rows are reverse passes over forward sensitivities, which cost little; where
// the gradient takes an adjoint problem, a second integration computes the sensitivities. Where that integration fails, the
// rows are reverse passes of the adjoint problem: IDAS' error test of sensitivities can keep it at order 1, or end it, where
// algebraic states amplify errors by orders of magnitude (seen in SUNDIALS 7.9, with a transistor amplifier).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/solver.hpp>
#include <agrad/solve/posed/posed_solve.hpp>
#include <agrad/solve/posed/switched_stops.hpp>
#include <agrad/solve/system/moving_numbers.hpp>

namespace agrad {

class posed_dae final : public posed_solve {
 public:
  /// parameters: how many the system takes, active or not. switches: of a recorded residual.
  posed_dae(const std::string& function, std::unique_ptr<dae_system> system, const dae_options& options, dae_required required,
            std::size_t parameters, std::size_t times, std::size_t stops, std::optional<time_switches> switches = std::nullopt);

  AGRAD_INLINE void solve(const double* x) override;
  void read(double* y) const override { Eigen::Map<Eigen::MatrixXd>(y, solution_->rows(), solution_->cols()) = *solution_; }
  double begin() const override { return started_; }
  double end() const override { return ended_; }

  AGRAD_INLINE void reverse(const double* y_adjoint, double* x_adjoint) override;

  tangent_kind tangents() const override { return {1, false}; }
  /// Propagates tangents; the tangents of the derivative of an algebraic state are nan.
  AGRAD_INLINE void tangent(int width, const double* x_tangent, double* y_tangent) override;

  ode_statistics statistics() const override { return solver_.statistics(); }

 private:
  /// The numbers of the last `solve` beside the times.
  struct values {
    Eigen::VectorXd y0, yp0;
    std::vector<double> times, stops;
  };

  const Eigen::MatrixXd& integrate(dae_solver& by) const {
    return by.integrate(last_.y0, last_.yp0, started_, last_.times, last_.stops);
  }
  void add(dae_gradient g, double* x_adjoint);
  /// Returns a solver that has integrated the last argument, for a reverse pass for each number of the result: with forward
  /// sensitivities or, where these cannot be integrated to the end, the solver with the adjoint problem.
  dae_solver& for_rows();
  /// Returns the Jacobian of the result at the last argument.
  const tangent_rows& jacobian();

  std::string function_;
  std::unique_ptr<dae_system> system_;
  dae_options options_;
  switched_stops switches_;
  dae_required required_;
  dae_solver solver_;
  std::optional<dae_solver> sensitivities_;
  flat_part of_state_, of_slope_, of_time_, of_times_, of_stops_, of_parameters_;
  double started_ = 0, ended_ = 0;
  values last_;
  tangent_rows jacobian_;  // empty: of another argument
  const Eigen::MatrixXd* solution_ = nullptr;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/posed/dae.ipp>
#endif
