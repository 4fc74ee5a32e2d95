// ODE operation: the solution of an initial value problem as one operation of a recorded program.
//
// Its argument is one vector: the n initial states, t0, the output times, the m parameters of the right-hand side. Its value
// is the states at each output time, one after the other. A state of the operation keeps the CVODES solvers, one that is
// ready to be swept back and one that is not, so that the second run allocates nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <agrad/program/operation.hpp>
#include <agrad/solve/cvodes_adjoint.hpp>
#include <agrad/solve/program_system.hpp>

namespace agrad {

class ode_operation final : public external_operation {
 public:
  /// function: what messages begin with. f: the right-hand side of (t, n states, parameters). Checks the options.
  ode_operation(std::string function, std::shared_ptr<const program> f, Eigen::Index states, std::size_t times,
                ode_adjoint_options options, ode_wanted wanted)
      : function_(std::move(function)),
        f_(std::move(f)),
        n_(states),
        times_(times),
        m_(static_cast<Eigen::Index>(f_->input_size()) - 1 - n_),
        options_(std::move(options)),
        wanted_(wanted) {
    check_options(function_, options_, n_, m_);
  }

  std::string_view name() const override { return function_; }
  std::size_t input_size() const { return static_cast<std::size_t>(n_ + 1 + m_) + times_; }
  std::size_t output_size() const { return static_cast<std::size_t>(n_) * times_; }

  std::unique_ptr<external_operation::state> make_state() const override { return std::make_unique<solvers>(); }

  void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override {
    auto& mine = static_cast<solvers&>(s);
    std::unique_ptr<solver>& chosen = with_adjoint ? mine.swept : mine.plain;
    if (chosen == nullptr) chosen = std::make_unique<solver>(*this, with_adjoint);
    const std::vector<double> times(x + n_ + 1, x + n_ + 1 + times_);
    chosen->system.set_parameters(x + n_ + 1 + times_);
    const Eigen::Map<const Eigen::VectorXd> y0(x, n_);
    Eigen::Map<Eigen::MatrixXd>(y, n_, static_cast<Eigen::Index>(times_)) = chosen->integrator.integrate(y0, x[n_], times);
    mine.last = &chosen->integrator.statistics();
  }

  void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override {
    auto& mine = static_cast<solvers&>(s);
    const auto count = static_cast<Eigen::Index>(times_);
    const ode_gradient g = mine.swept->integrator.sweep(Eigen::Map<const Eigen::MatrixXd>(y_adjoint, n_, count));
    Eigen::Map<Eigen::VectorXd> to(x_adjoint, static_cast<Eigen::Index>(input_size()));
    to.head(n_) += g.initial_state;
    to[n_] += g.initial_time;
    to.segment(n_ + 1, count) += g.times;
    to.tail(m_) += g.parameters;
  }

  /// What the last forward run with this state cost.
  static const ode_statistics& statistics(const external_operation::state& s) { return *static_cast<const solvers&>(s).last; }

 private:
  struct solver {
    solver(const ode_operation& of, bool with_adjoint)
        : system(of.f_, of.n_, with_adjoint),
          integrator(of.function_, system, of.options_, with_adjoint ? of.wanted_ : ode_wanted{}) {}
    program_system system;
    cvodes_adjoint integrator;
  };
  struct solvers final : external_operation::state {
    std::unique_ptr<solver> plain, swept;
    const ode_statistics* last = nullptr;
  };

  std::string function_;
  std::shared_ptr<const program> f_;
  Eigen::Index n_;
  std::size_t times_;
  Eigen::Index m_;
  ode_adjoint_options options_;
  ode_wanted wanted_;
};

}  // namespace agrad
