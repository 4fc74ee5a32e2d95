// IDA forward: integrates a DAE from consistent initial values by single steps, with sensitivities where wanted.
//
// Each step is appended to a trajectory, from which the reverse pass takes the solution. Sensitivities s of y solve
// dF/dy s + dF/dy' s' + dF/dp = 0 with the states' Newton matrix, under error control, after the states of each step: solved
// together with the states, sensitivities keep IDAS at order 1 where the larger errors are theirs (seen in SUNDIALS 7.9).
// IDAS' clock is zero at the start, because IDAS cannot take a step below the clock's rounding, as a fast transient at a late
// time needs.
// Source: Hindmarsh and Serban, User Documentation for IDAS, sections 2.1 and 2.5.
// Read next: solve/dae/solver.hpp, which uses this class.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/dae/consistency.hpp>
#include <agrad/solve/dae/ida.hpp>
#include <agrad/solve/dae/iteration.hpp>
#include <agrad/solve/dae/trajectory.hpp>

namespace agrad::detail {

class ida_forward {
 public:
  ida_forward(const std::string& function, dae_system& system, const dae_options& options,
              const sundials::context_handle& context);

  /// Starts at a consistent state with a sensitivity for each direction; all but the first of_initial are for parameters.
  /// IDAS chooses the order by the errors of the states: where the states are at rest, all orders are equal, and sensitivities
  /// that move are integrated by order 1 (seen in SUNDIALS 7.9), so s is to be a state beside the state at rest.
  void start(const dae_state& s, double end, const std::vector<dae_state>& sensitivities, Eigen::Index of_initial,
             const Eigen::VectorXd& scales, dae_trajectory* trajectory);

  /// Integrates to an output time and returns y and y' there in s.
  void advance(double to, dae_state& s);

  /// Returns sensitivity c at the time that `advance` reached.
  void sensitivity(double t, std::size_t c, Eigen::VectorXd& s);

  /// Adds the costs of the integration since the start to the statistics.
  void add_costs(ode_statistics& to);

  /// Sets the object that tells whether the system is singular at a state; used when the integration has stopped.
  void diagnose_by(dae_consistency* consistency) { consistency_ = consistency; }

 private:
  static ida_forward& of(void* data) { return *static_cast<ida_forward*>(data); }
  dae_point point(double since_start, N_Vector y, N_Vector yp) const;
  Eigen::Map<Eigen::VectorXd> map(N_Vector v) const { return {N_VGetArrayPointer(v), system_.states()}; }

  static int residual(double t, N_Vector y, N_Vector yp, N_Vector r, void* data);

  static int jacobian(double t, double c, N_Vector y, N_Vector yp, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector,
                      N_Vector);

  // ---- sensitivities

  void start_sensitivities(void* memory, const std::vector<dae_state>& initial, const Eigen::VectorXd& scales);

  static int residuals(int count, double t, N_Vector y, N_Vector yp, N_Vector, N_Vector* s, N_Vector* sp, N_Vector* r,
                       void* data, N_Vector, N_Vector, N_Vector);

  static constexpr int lanes = 8;
  using across = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

  void some_residuals(int first, int count, const dae_point& at, N_Vector* s, N_Vector* sp, N_Vector* r);

  /// Starts again with a shorter first step; returns false when there is none left. Initial slopes of algebraic sensitivities
  /// are unknown, so any first step may be too long, and IDAS gives up after ten reductions.
  bool start_shorter();

  // ---- steps

  void step();

  void read(double t, int derivative, const sundials::vector_handle& by, Eigen::VectorXd& to);

  [[noreturn]] void stop(int code);

  void expect(int code, const char* call) const { sundials::expect_ida(code, function_, call); }

  const std::string& function_;
  dae_system& system_;
  const dae_options& options_;
  const sundials::context_handle& context_;
  sundials::vector_handle y_, yp_;
  sundials::newton newton_;
  dae_iteration iteration_;
  std::optional<dae_iteration> iteration_of_sensitivities_;
  dae_consistency* consistency_ = nullptr;
  dae_trajectory* trajectory_ = nullptr;
  std::vector<sundials::vector_handle> sensitivities_;
  std::vector<N_Vector> columns_, slopes_;  // the same vectors, as IDAS takes them
  Eigen::Index of_initial_ = 0;
  long evaluations_ = 0;  // of the residuals of all sensitivities together
  std::vector<double> by_y_, by_yp_, by_p_, out_;
  double start_ = 0, end_ = 0, reached_ = 0;  // end_ and reached_ are since the start
  dae_state begin_;
  double first_step_ = 0;
  ode_fault fault_;
  sundials::ida_handle memory_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/ida_forward.ipp>
#endif
