// Switching: a solver that starts with an explicit method and continues with a stiff method once the system turns stiff.
//
// The explicit method compares the step size with the largest eigenvalue (solve/one_step/explicit_runge_kutta.hpp) and gives up
// when stability limits the step; the state reached is the initial state of the stiff method. The reverse pass passes that
// state's adjoint from the stiff method to the explicit method, so the gradient is exact for all steps; tangents and second
// derivatives cross the switch as well. Where undamped modes limited the steps, explicit steps have excited these modes, and
// no method damps them later at the same accuracy: the stiff method then starts again from the initial state.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/explicit_runge_kutta_second.hpp>
#include <agrad/solve/one_step/rosenbrock_second.hpp>

namespace agrad {

class switching_solver final : public ode_solver {
 public:
  switching_solver(const std::string& function, ode_system& system, const step_options& options, ode_required required);

  AGRAD_INLINE const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0,
                                                const std::vector<double>& times) override;

  void continue_probe(const std::vector<double>& tangent, const std::vector<bool>& changed) override {
    first_.continue_probe(tangent, changed);
    tangent_ = tangent, changed_ = changed;
  }
  const std::vector<double>& probe() const override { return has_switched_ ? second_.probe() : first_.probe(); }

  AGRAD_INLINE ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override;

  bool has_tangents() const override { return first_.has_tangents() && second_.has_tangents(); }
  bool has_first_tangents() const override { return first_.has_first_tangents() && second_.has_first_tangents(); }

  AGRAD_INLINE void tangent(const ode_directions& along, double* states) override;

  AGRAD_INLINE ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                                   ode_directions& gradient_tangents) override;

  const ode_statistics& statistics() const override { return statistics_; }

  AGRAD_INLINE bool watch(detail::event_watch* events) override;

  AGRAD_INLINE bool log_steps(detail::step_log* log) override;

 private:
  /// Starts again by the second method, which then solves the whole problem.
  const Eigen::MatrixXd& start_again(const Eigen::VectorXd& y0, double t0, const std::vector<double>& times);

  ode_gradient reverse_of_both(const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  ode_gradient second_of_both(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                              ode_directions& gradient_tangents);

  Eigen::Ref<const Eigen::MatrixXd> late_part(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) const;
  /// Returns the adjoints before the switch, then the adjoint of the state in which the second solver began.
  Eigen::MatrixXd early_part(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const ode_gradient& late) const;

  void add_up();

  /// Uses order 5 for tight tolerances.
  static const rosenbrock_tableau& stiff_tableau(const step_options& options);
  /// Returns the derivatives that the second solver must compute: the adjoint of its initial state for derivatives of any
  /// state, initial time or parameter; that of the initial time is right where the second solver starts again.
  static ode_required after(ode_required required, const ode_system& system);

  explicit_runge_kutta_second<tsitouras_tableau> first_;
  rosenbrock_second second_;
  Eigen::MatrixXd states_;
  Eigen::Index reached_ = 0;  // output times before the switch
  int width_ = 1;             // of the last tangents
  bool has_switched_ = false, has_started_again_ = false;
  bool wants_state_;
  double started_ = 0;           // t0 of the last start by the second method
  std::vector<double> tangent_;  // of the probe at the start, if given
  std::vector<bool> changed_;
  detail::event_watch* watch_ = nullptr;
  detail::step_log* log_ = nullptr;
  ode_statistics statistics_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/one_step/switching.ipp>
#endif
