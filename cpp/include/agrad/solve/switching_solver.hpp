// Switching: starts with an explicit method and goes on with a stiff one where the system has turned stiff.
//
// The explicit method watches the step size against the largest eigenvalue (solve/explicit_runge_kutta.hpp) and gives up
// where that holds it back; the state it has reached is the other's initial state. Backwards the adjoint of that state passes
// from the one to the other, so the gradient is that of all the steps.
#pragma once

#include <string>
#include <vector>

#include <agrad/solve/explicit_runge_kutta.hpp>
#include <agrad/solve/rosenbrock.hpp>

namespace agrad {

class switching_solver final : public ode_solver {
 public:
  switching_solver(const std::string& function, ode_system& system, const step_options& options, ode_wanted wanted)
      : first_(function, system, options, wanted), second_(function, system, options, after(wanted, system)) {
    first_.watch_stiffness();
  }

  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0, const std::vector<double>& times) override {
    states_ = first_.integrate(y0, t0, times);
    has_switched_ = first_.gave_up() && (watch_ == nullptr || watch_->fired().empty());
    statistics_ = first_.statistics();
    if (!has_switched_) return states_;
    reached_ = states_.cols() - 1;
    const Eigen::VectorXd here = states_.col(reached_);
    const std::vector<double> later(times.begin() + reached_, times.end());
    const Eigen::MatrixXd& rest = second_.integrate(here, first_.time(), later);
    states_.conservativeResize(Eigen::NoChange, reached_ + rest.cols());
    states_.rightCols(rest.cols()) = rest;
    add_up();
    return states_;
  }

  ode_gradient sweep(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override {
    ode_gradient g = swept(adjoints);
    add_up();
    return g;
  }

  const ode_statistics& statistics() const override { return statistics_; }

  bool watch(detail::event_watch* events) override {
    watch_ = events;
    return first_.watch(events) && second_.watch(events);
  }

  bool log_steps(detail::step_log* log) override { return first_.log_steps(log) && second_.log_steps(log); }

 private:
  ode_gradient swept(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
    if (!has_switched_) return first_.sweep(adjoints);
    const ode_gradient late = second_.sweep(adjoints.rightCols(adjoints.cols() - reached_));
    Eigen::MatrixXd early(adjoints.rows(), reached_ + 1);
    early.leftCols(reached_) = adjoints.leftCols(reached_);
    early.col(reached_) = late.initial_state;
    ode_gradient g = first_.sweep(early);
    g.parameters += late.parameters;
    g.times.conservativeResize(adjoints.cols());
    g.times.tail(late.times.size()) = late.times;
    return g;
  }

  void add_up() {
    statistics_ = first_.statistics();
    if (!has_switched_) return;
    statistics_ += second_.statistics();
    statistics_.stiff_from = first_.time();
  }

  /// The second solver's initial state gets an adjoint whenever anything before it does.
  static ode_wanted after(ode_wanted wanted, const ode_system& system) {
    return {wanted.initial_state || wanted.initial_time || system.parameters() > 0, false, wanted.times};
  }

  explicit_runge_kutta<tsitouras_tableau> first_;
  rosenbrock second_;
  Eigen::MatrixXd states_;
  Eigen::Index reached_ = 0;  // output times before the switch
  bool has_switched_ = false;
  detail::event_watch* watch_ = nullptr;
  ode_statistics statistics_;
};

}  // namespace agrad
