// Steady operation: an operation of a program that finds the steady state of a recorded right-hand side.
//
// The operand is one vector: the n states to start from, then the m parameters. The result is the steady state. A state of the
// operation keeps the solver, so that a reverse pass finds the factors of the last run.
// Read next: solve/steady/solver.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <agrad/base/progress.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/program/sparse/reach.hpp>
#include <agrad/program/store/portable.hpp>
#include <agrad/solve/record/stored_options.hpp>
#include <agrad/solve/steady/solver.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

/// A template, so that only its users compile the factorisations.
template <class Real = double>
class steady_operation final : public external_operation {
 public:
  /// Receives the report of each steady state.
  using listener = std::function<void(const steady_report&)>;

  /// function: the name at the start of messages. f: the right-hand side of (t, n states, parameters). Throws DomainError where
  /// f depends on t and the options have no time.
  steady_operation(std::string function, std::shared_ptr<const program> f, Eigen::Index states, steady_options options,
                   listener report_to = nullptr)
      : function_(std::move(function)),
        f_(std::move(f)),
        n_(states),
        m_(static_cast<Eigen::Index>(f_->input_size()) - 1 - n_),
        options_(std::move(options)),
        report_to_(std::move(report_to)),
        has_tangents_(solver(*this).system.has_tangents()) {
    if (!options_.time && depends_on(*f_, 0)) throw DomainError(detail::needs_no_time(function_));
  }

  std::string_view name() const override { return function_; }
  std::size_t input_size() const { return static_cast<std::size_t>(n_ + m_); }
  std::size_t output_size() const { return static_cast<std::size_t>(n_); }

  static constexpr std::string_view stored_kind = "steady";
  std::string_view kind() const override { return stored_kind; }
  bool fits(std::size_t arguments, std::size_t results) const override {
    return arguments == input_size() && results == output_size();
  }
  void write(portable_writer& to) const override { to(function_, f_, n_, options_); }
  /// listener_of: makes the listener from the function's name.
  template <class ListenerOf>
  static std::shared_ptr<const external_operation> read(portable_reader& from, const ListenerOf& listener_of) {
    std::string function;
    std::shared_ptr<const program> f;
    Eigen::Index states = 0;
    steady_options options;
    from(function, f, states, options);
    from.expect(is_right_hand_side(*f, states, 1), "a steady state");
    check_solver_options(function, options, states);
    listener report_to = listener_of(function);
    return std::make_shared<const steady_operation>(std::move(function), std::move(f), states, std::move(options),
                                                    std::move(report_to));
  }

  std::unique_ptr<external_operation::state> make_state() const override { return std::make_unique<solver>(*this); }

  void forward(external_operation::state& s, const double* x, double* y, bool) const override {
    const progress_listener::scope unheard(nullptr);  // a listener of an enclosing solve must not see the times of this solve
    auto& mine = static_cast<solver&>(s);
    mine.system.set_parameters(x + n_);
    Eigen::Map<Eigen::VectorXd>(y, n_) = mine.steady.solve(Eigen::Map<const Eigen::VectorXd>(x, n_));
    if (report_to_) report_to_(mine.steady.report());
  }

  void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override {
    add(static_cast<solver&>(s).steady.reverse(Eigen::Map<const Eigen::VectorXd>(y_adjoint, n_)), x_adjoint);
  }

  bool has_tangents() const override { return has_tangents_; }

  void tangent(external_operation::state& s, int width, const double* x_tangent, double* y_tangent) const override {
    const double *parameters = x_tangent + n_ * width, *end = parameters + m_ * width;
    static_cast<solver&>(s).steady.tangent({width, {x_tangent, parameters}, {parameters, end}}, y_tangent);
  }

  void second(external_operation::state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent,
              double* x_adjoint, double* x_adjoint_tangent) const override {
    ode_directions dg;
    auto& mine = static_cast<solver&>(s);
    add(mine.steady.second(Eigen::Map<const Eigen::VectorXd>(y_adjoint, n_), y_adjoint_tangent, dg), x_adjoint);
    for (std::size_t i = 0; i < dg.initial_state.size(); ++i) x_adjoint_tangent[i] += dg.initial_state[i];
    double* parameters = x_adjoint_tangent + n_ * width;
    for (std::size_t i = 0; i < dg.parameters.size(); ++i) parameters[i] += dg.parameters[i];
  }

  /// Returns the report of the last run with this state.
  static const steady_report& report(const external_operation::state& s) {
    return static_cast<const solver&>(s).steady.report();
  }

 private:
  struct solver final : external_operation::state {
    explicit solver(const steady_operation& of) : system(of.f_, of.n_, true), steady(of.function_, system, of.options_) {}
    program_system system;
    steady_solver<Real> steady;
  };

  void add(const ode_gradient& g, double* x_adjoint) const {
    Eigen::Map<Eigen::VectorXd> to(x_adjoint, n_ + m_);
    to.head(n_) += g.initial_state;
    to.tail(m_) += g.parameters;
  }

  std::string function_;
  std::shared_ptr<const program> f_;
  Eigen::Index n_, m_;
  steady_options options_;
  listener report_to_;
  bool has_tangents_;
};

}  // namespace agrad
