// DAE operation: an operation of a recorded program that solves a differential-algebraic system.
//
// The operand is one vector: the n initial states, their n derivatives, t0, the output times, the stops, the m parameters of
// the residual. The result is y and then y' at each output time, one after the other. A state of the operation keeps two
// solvers, one for reverse passes and one without. Integration also stops where the residual compares t with a number
// (solve/system/program/time_switches.hpp).
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/program/machine/operation.hpp>
#include <agrad/program/store/portable.hpp>
#include <agrad/solve/dae/solver.hpp>
#include <agrad/solve/record/stored_options.hpp>
#include <agrad/solve/system/program/dae.hpp>
#include <agrad/solve/system/program/time_switches.hpp>

namespace agrad {

/// A template, so that only its users compile the solver.
template <class Real = double>
class dae_operation final : public external_operation {
 public:
  /// function: the name at the start of messages. f: the residual of (t, n states, n derivatives, parameters).
  dae_operation(std::string function, std::shared_ptr<const program> f, Eigen::Index states, std::size_t times,
                std::size_t stops, dae_options options, dae_required required)
      : function_(std::move(function)),
        f_(std::move(f)),
        n_(states),
        times_(times),
        stops_(stops),
        m_(static_cast<Eigen::Index>(f_->input_size()) - 1 - 2 * n_),
        options_(std::move(options)),
        switches_(*f_, 2 * static_cast<std::size_t>(n_)),
        required_(required) {
    required_.stops = required_.stops || (switches_.move() && m_ > 0);
    check_solver_options(function_, options_, n_);
  }

  std::string_view name() const override { return function_; }
  std::size_t input_size() const { return static_cast<std::size_t>(2 * n_ + 1 + m_) + times_ + stops_; }
  std::size_t output_size() const { return static_cast<std::size_t>(2 * n_) * times_; }

  static constexpr std::string_view stored_kind = "dae";
  std::string_view kind() const override { return stored_kind; }
  bool fits(std::size_t arguments, std::size_t results) const override {
    return arguments == input_size() && results == output_size();
  }
  void write(portable_writer& to) const override { to(function_, f_, n_, times_, stops_, options_, required_); }
  static std::shared_ptr<const external_operation> read(portable_reader& from) {
    std::string function;
    std::shared_ptr<const program> f;
    Eigen::Index states = 0;
    std::size_t times = 0, stops = 0;
    dae_options options;
    dae_required required;
    from(function, f, states, times, stops, options, required);
    from.expect(is_right_hand_side(*f, states, 2) && times > 0 && std::max(times, stops) <= most_times, "a solve");
    return std::make_shared<const dae_operation>(std::move(function), std::move(f), states, times, stops, std::move(options),
                                                 required);
  }

  std::unique_ptr<external_operation::state> make_state() const override { return std::make_unique<solvers>(); }

  void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override {
    auto& mine = static_cast<solvers&>(s);
    std::unique_ptr<solver>& chosen = with_adjoint ? mine.differentiable : mine.plain;
    if (chosen == nullptr) chosen = std::make_unique<solver>(*this, with_adjoint);
    const double* time = x + 2 * n_;
    const double *first_stop = time + 1 + times_, *parameters = first_stop + stops_;
    const std::vector<double> times(time + 1, first_stop);
    std::vector<double> stops(first_stop, parameters);
    mine.parameters.assign(parameters, parameters + m_);
    mine.switches.clear();
    if (switches_.size() > 0 && !times.empty())
      mine.switches = switches_.within(*time, times.back(), parameters, stops, mine.at_switches);
    for (const auto& each : mine.switches) stops.push_back(each.at);
    chosen->system.set_parameters(parameters);
    const Eigen::Map<const Eigen::VectorXd> y0(x, n_), yp0(x + n_, n_);
    Eigen::Map<Eigen::MatrixXd>(y, 2 * n_, static_cast<Eigen::Index>(times_)) =
        chosen->integrator.integrate(y0, yp0, *time, times, stops);
    mine.last = &chosen->integrator.statistics();
  }

  void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override {
    const Eigen::Map<const Eigen::MatrixXd> adjoints(y_adjoint, 2 * n_, static_cast<Eigen::Index>(times_));
    auto& mine = static_cast<solvers&>(s);
    const dae_gradient g = mine.differentiable->integrator.reverse(adjoints);
    Eigen::Map<Eigen::VectorXd> to(x_adjoint, static_cast<Eigen::Index>(input_size()));
    to.head(n_) += g.initial_state;
    to.segment(n_, n_) += g.initial_slope;
    to[2 * n_] += g.initial_time;
    to.segment(2 * n_ + 1, g.times.size()) += g.times;
    const auto stops = static_cast<Eigen::Index>(stops_);
    to.segment(2 * n_ + 1 + g.times.size(), stops) += g.stops.head(stops);
    to.tail(m_) += g.parameters;
    for (std::size_t k = 0; k < mine.switches.size(); ++k) {
      const double adjoint = g.stops[stops + static_cast<Eigen::Index>(k)];
      if (adjoint == 0) continue;
      const std::vector<double> by = switches_.gradient(mine.switches[k], mine.parameters.data(), mine.at_switches);
      to.tail(m_) += adjoint * Eigen::Map<const Eigen::VectorXd>(by.data(), m_);
    }
  }

  /// Returns the statistics of the last forward run with this state.
  static const ode_statistics& statistics(const external_operation::state& s) { return *static_cast<const solvers&>(s).last; }

 private:
  struct solver {
    solver(const dae_operation& of, bool with_adjoint)
        : system(of.f_, of.n_, with_adjoint),
          integrator(of.function_, system, of.options_, with_adjoint ? of.required_ : dae_required{}) {}
    program_dae system;
    dae_solver integrator;
  };
  struct solvers final : external_operation::state {
    std::unique_ptr<solver> plain, differentiable;
    const ode_statistics* last = nullptr;
    std::vector<time_switches::time> switches;  // follow the stops of the operand
    time_switches::room at_switches;
    std::vector<double> parameters;
  };

  std::string function_;
  std::shared_ptr<const program> f_;
  Eigen::Index n_;
  std::size_t times_, stops_;
  Eigen::Index m_;
  dae_options options_;
  time_switches switches_;
  dae_required required_;
};

}  // namespace agrad
