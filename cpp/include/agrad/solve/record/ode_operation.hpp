// ODE operation: an operation of a recorded program that solves an initial value problem.
//
// The operand is one vector: the n initial states, t0, the output times, the m parameters of the right-hand side. The result is
// the states at each output time, one after the other. A state of the operation keeps two solvers, one for reverse passes and
// one without, so that the second run allocates nothing.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/progress.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/solve/record/maker.hpp>
#include <agrad/solve/record/stored_options.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/moving_state.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

class ode_operation final : public external_operation {
 public:
  using maker = ode_maker;

  /// function: the name at the start of messages. f: the right-hand side of (t, n states, parameters). make: makes the solver,
  /// whose options the solver checks. progress: receives the progress of each run, if not null. same_steps: whether a run
  /// without derivatives takes the steps of a run with derivatives.
  ode_operation(std::string function, std::shared_ptr<const program> f, Eigen::Index states, std::size_t times, maker make,
                ode_required required, std::shared_ptr<const progress_host> progress = nullptr, bool same_steps = false);

  /// Sets the active parameters, where not all are; call before the first run.
  void set_active(std::vector<bool> active) { active_ = std::move(active); }

  std::string_view name() const override { return function_; }
  std::size_t input_size() const { return static_cast<std::size_t>(n_ + 1 + m_) + times_; }
  std::size_t output_size() const { return static_cast<std::size_t>(n_) * times_; }

  /// An operation can be stored if its maker can be stored and no progress is reported.
  static constexpr std::string_view stored_kind = "ode";
  std::string_view kind() const override;
  bool fits(std::size_t arguments, std::size_t results) const override;
  void write(portable_writer& to) const override;
  /// read_maker: reads a maker.
  template <class ReadMaker>
  static std::shared_ptr<const external_operation> read(portable_reader& from, const ReadMaker& read_maker) {
    std::string function;
    std::shared_ptr<const program> f;
    Eigen::Index states = 0;
    std::size_t times = 0;
    ode_required required;
    std::vector<bool> active;
    bool same_steps = false;
    from(function, f, states, times, required, active, same_steps);
    from.expect(is_right_hand_side(*f, states, 1) && times > 0 && times <= most_times &&
                    (active.empty() || active.size() == f->input_size() - 1 - static_cast<std::size_t>(states)),
                "a solve");
    auto result = std::make_shared<ode_operation>(std::move(function), std::move(f), states, times, read_maker(from), required,
                                                  nullptr, same_steps);
    result->set_active(std::move(active));
    return result;
  }

  std::unique_ptr<external_operation::state> make_state() const override { return std::make_unique<solvers>(); }

  void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override;

  void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override;

  void reverse_rows(external_operation::state& s, std::size_t count, const double* y_adjoints, double* x_adjoints,
                    std::size_t stride) const override;

  void expect_derivatives() const override { same_steps_ = true; }
  bool has_tangents() const override { return tangents_.order == 2; }
  bool has_first_tangents() const override { return tangents_.order >= 1; }
  /// Order 0: tangents and adjoints from integrations of their own agree within tolerances only.
  const external_operation* first_without_tangents(int order) const override;

  void tangent(external_operation::state& s, int width, const double* x_tangent, double* y_tangent) const override;

  void second(external_operation::state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent,
              double* x_adjoint, double* x_adjoint_tangent) const override;

  /// Returns the statistics of the last run and its reverse passes; passes of second order are not counted.
  ode_statistics statistics() const { return ledger_.latest(); }

  /// Solves once more, with the steps of a run with or without derivatives, and logs the limit of each step. Returns whether
  /// the method supports a log.
  bool log_steps(const double* x, detail::step_log& log, bool differentiated) const;

 private:
  struct solver {
    solver(const ode_operation& of, bool with_adjoint);
    program_system system;
    std::unique_ptr<ode_solver> integrator;
    double started = 0;
    Eigen::VectorXd start;
    std::vector<double> times;
    const Eigen::MatrixXd* states = nullptr;  // at the output times
    moving_state moving;
    // From the last call of `tangent`: tangents of the parameters, of the initial state, of t0, of the output times, of the
    // outputs.
    std::vector<double> along;
    tangent_rows of_start, of_times, of_outputs;
    Eigen::RowVectorXd of_t0;
  };
  struct solvers final : external_operation::state {
    std::unique_ptr<solver> plain, differentiable;
  };

  const Eigen::MatrixXd& integrate(solver& by, const double* x) const;

  /// The highest order of derivatives with tangents, and whether tangents and adjoints agree to rounding.
  struct tangent_kind {
    int order;
    bool match;
  };
  static tangent_kind kind_of(const ode_solver& by);

  /// Return whether a derivative with respect to a time is wanted, and whether a derivative through the steps is wanted.
  bool moves() const { return required_.initial_time || required_.times; }
  bool reverses() const { return required_.initial_state || required_.initial_time || m_ > 0; }

  void add(const ode_gradient& g, double* x_adjoint) const;

  std::string function_;
  std::shared_ptr<const program> f_;
  std::shared_ptr<program_structure> structure_ = std::make_shared<program_structure>();  // computed once for all solvers
  Eigen::Index n_;
  std::size_t times_;
  Eigen::Index m_;
  maker make_;
  ode_required required_;
  std::shared_ptr<const progress_host> progress_;
  mutable ode_ledger ledger_;
  std::vector<bool> active_;
  mutable std::atomic<bool> same_steps_;
  tangent_kind tangents_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/record/ode_operation.ipp>
#endif
