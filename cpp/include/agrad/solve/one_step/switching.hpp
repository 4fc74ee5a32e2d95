// Switching: a solver that starts with an explicit method and continues with a stiff method once the system turns stiff.
//
// The explicit method compares the step size with the largest eigenvalue (solve/one_step/explicit_runge_kutta.hpp) and gives up
// when stability limits the step; the state reached is the initial state of the stiff method. The reverse pass hands that
// state's adjoint from the stiff method to the explicit method, so the gradient is exact for all steps; tangents and second
// derivatives cross the switch as well.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/one_step/explicit_runge_kutta_second.hpp>
#include <agrad/solve/one_step/rosenbrock_second.hpp>

namespace agrad {

class switching_solver final : public ode_solver {
 public:
  switching_solver(const std::string& function, ode_system& system, const step_options& options, ode_wanted wanted)
      : first_(function, system, options, wanted),
        second_(stiff_tableau(options), function, system, options, after(wanted, system)) {
    first_.watch_stiffness();
  }

  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0, const std::vector<double>& times) override {
    if (log_ != nullptr) log_->is_stiff = false;
    states_ = first_.integrate(y0, t0, times);
    has_switched_ = first_.gave_up() && (watch_ == nullptr || watch_->fired().empty());
    statistics_ = first_.statistics();
    if (!has_switched_) return states_;
    reached_ = states_.cols() - 1;
    const Eigen::VectorXd here = states_.col(reached_);
    const std::vector<double> later(times.begin() + reached_, times.end());
    if (log_ != nullptr) log_->is_stiff = true;
    second_.continue_probe(first_.probe());
    const Eigen::MatrixXd& rest = second_.integrate(here, first_.time(), later);
    states_.conservativeResize(Eigen::NoChange, reached_ + rest.cols());
    states_.rightCols(rest.cols()) = rest;
    add_up();
    return states_;
  }

  void continue_probe(const std::vector<double>& tangent) override { first_.continue_probe(tangent); }
  const std::vector<double>& probe() const override { return has_switched_ ? second_.probe() : first_.probe(); }

  ode_gradient sweep(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override {
    ode_gradient g = swept(adjoints);
    add_up();
    return g;
  }

  bool has_tangents() const override { return first_.has_tangents() && second_.has_tangents(); }
  bool has_first_tangents() const override { return first_.has_first_tangents() && second_.has_first_tangents(); }

  void tangent(const ode_directions& along, double* states) override {
    width_ = along.width;
    if (!has_switched_) return first_.tangent(along, states);
    const std::size_t n = along.initial_state.size(), before = static_cast<std::size_t>(reached_) * n;
    std::vector<double> early(before + n);
    first_.tangent(along, early.data());
    std::copy_n(early.begin(), before, states);
    early.erase(early.begin(), early.end() - static_cast<std::ptrdiff_t>(n));
    second_.tangent({along.width, std::move(early), along.parameters}, states + before);
  }

  ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                      ode_directions& back) override {
    ode_gradient g = has_switched_ ? second_of_both(adjoints, tangents, back) : first_.second(adjoints, tangents, back);
    add_up();
    return g;
  }

  const ode_statistics& statistics() const override { return statistics_; }

  bool watch(detail::event_watch* events) override {
    watch_ = events;
    return first_.watch(events) && second_.watch(events);
  }

  bool log_steps(detail::step_log* log) override {
    log_ = log;
    return first_.log_steps(log) && second_.log_steps(log);
  }

 private:
  ode_gradient swept(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
    if (!has_switched_) return first_.sweep(adjoints);
    const ode_gradient late = second_.sweep(late_part(adjoints));
    ode_gradient g = first_.sweep(early_part(adjoints, late));
    g.parameters += late.parameters;
    g.times.conservativeResize(adjoints.cols());
    g.times.tail(late.times.size()) = late.times;
    return g;
  }

  ode_gradient second_of_both(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents, ode_directions& back) {
    ode_directions of_late;
    const auto count = static_cast<std::size_t>(reached_ * adjoints.rows() * width_);
    const ode_gradient late = second_.second(late_part(adjoints), tangents + count, of_late);
    std::vector<double> of_early(tangents, tangents + count);
    of_early.insert(of_early.end(), of_late.initial_state.begin(), of_late.initial_state.end());
    ode_gradient g = first_.second(early_part(adjoints, late), of_early.data(), back);
    g.parameters += late.parameters;
    for (std::size_t i = 0; i < back.parameters.size(); ++i) back.parameters[i] += of_late.parameters[i];
    g.times = Eigen::VectorXd::Zero(adjoints.cols());
    return g;
  }

  Eigen::Ref<const Eigen::MatrixXd> late_part(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) const {
    return adjoints.rightCols(adjoints.cols() - reached_);
  }
  /// The adjoints before the switch, then the adjoint of the state in which the second solver began.
  Eigen::MatrixXd early_part(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const ode_gradient& late) const {
    Eigen::MatrixXd early(adjoints.rows(), reached_ + 1);
    early.leftCols(reached_) = adjoints.leftCols(reached_);
    early.col(reached_) = late.initial_state;
    return early;
  }

  void add_up() {
    statistics_ = first_.statistics();
    if (!has_switched_) return;
    statistics_ += second_.statistics();
    statistics_.stiff_from = first_.time();
    statistics_.stiff_method = second_.method().name;
  }

  /// Uses order 5 for tight tolerances.
  static const rosenbrock_tableau& stiff_tableau(const step_options& options) {
    return options.relative_tolerance < 1e-5 ? rodas5p_tableau : rodas4_tableau;
  }
  /// The second solver computes the adjoint of its initial state for derivatives of any state, initial time or parameter.
  static ode_wanted after(ode_wanted wanted, const ode_system& system) {
    return {wanted.initial_state || wanted.initial_time || system.parameters() > 0, false, wanted.times};
  }

  runge_kutta<tsitouras_tableau> first_;
  rosenbrock_second second_;
  Eigen::MatrixXd states_;
  Eigen::Index reached_ = 0;  // output times before the switch
  int width_ = 1;             // of the last tangents
  bool has_switched_ = false;
  detail::event_watch* watch_ = nullptr;
  detail::step_log* log_ = nullptr;
  ode_statistics statistics_;
};

}  // namespace agrad
