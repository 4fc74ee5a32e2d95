// Posed DAE: a differential-algebraic problem as a function of the initial state, its derivative, the initial time, the output
// times, the stops and the parameters; the result is y and then y' at each output time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <agrad/solve/dae/solver.hpp>
#include <agrad/solve/posed/posed_solve.hpp>
#include <agrad/solve/posed/switched_stops.hpp>

namespace agrad {

class posed_dae final : public posed_solve {
 public:
  /// parameters: how many the system takes, active or not. switches: of a recorded residual.
  posed_dae(const std::string& function, std::unique_ptr<dae_system> system, const dae_options& options, dae_required required,
            std::size_t parameters, std::size_t times, std::size_t stops, std::optional<time_switches> switches = std::nullopt);

  void solve(const double* x) override;
  void read(double* y) const override { Eigen::Map<Eigen::MatrixXd>(y, solution_->rows(), solution_->cols()) = *solution_; }
  double begin() const override { return started_; }
  double end() const override { return ended_; }

  void reverse(const double* y_adjoint, double* x_adjoint) override;

  ode_statistics statistics() const override { return solver_.statistics(); }

 private:
  std::unique_ptr<dae_system> system_;
  switched_stops switches_;
  dae_solver solver_;
  flat_part of_state_, of_slope_, of_time_, of_times_, of_stops_, of_parameters_;
  double started_ = 0, ended_ = 0;
  const Eigen::MatrixXd* solution_ = nullptr;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/posed/dae.ipp>
#endif
