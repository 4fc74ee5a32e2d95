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
#include <agrad/solve/record/kept_options.hpp>
#include <agrad/solve/record/maker.hpp>
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
                ode_wanted wanted, std::shared_ptr<const progress_host> progress = nullptr, bool same_steps = false)
      : function_(std::move(function)),
        f_(std::move(f)),
        n_(states),
        times_(times),
        m_(static_cast<Eigen::Index>(f_->input_size()) - 1 - n_),
        make_(std::move(make)),
        wanted_(wanted),
        progress_(std::move(progress)),
        same_steps_(same_steps),
        tangents_(kind_of(*solver(*this, true).integrator)) {}

  /// Sets the active parameters, where not all are; call before the first run.
  void set_active(std::vector<bool> active) { active_ = std::move(active); }

  std::string_view name() const override { return function_; }
  std::size_t input_size() const { return static_cast<std::size_t>(n_ + 1 + m_) + times_; }
  std::size_t output_size() const { return static_cast<std::size_t>(n_) * times_; }

  /// An operation can be stored if its maker can be stored and no progress is reported.
  static constexpr std::string_view kept_kind = "ode";
  std::string_view kind() const override {
    return make_.is_portable() && progress_ == nullptr ? kept_kind : std::string_view();
  }
  bool fits(std::size_t arguments, std::size_t results) const override {
    return arguments == input_size() && results == output_size();
  }
  void write(portable_writer& to) const override {
    to(function_, f_, n_, times_, wanted_, active_, same_steps_.load());
    make_.write(to);
  }
  /// read_maker: reads a maker.
  template <class ReadMaker>
  static std::shared_ptr<const external_operation> read(portable_reader& from, const ReadMaker& read_maker) {
    std::string function;
    std::shared_ptr<const program> f;
    Eigen::Index states = 0;
    std::size_t times = 0;
    ode_wanted wanted;
    std::vector<bool> active;
    bool same_steps = false;
    from(function, f, states, times, wanted, active, same_steps);
    from.expect(is_right_hand_side(*f, states, 1) && times > 0 && times <= most_times &&
                    (active.empty() || active.size() == f->input_size() - 1 - static_cast<std::size_t>(states)),
                "a solve");
    auto made = std::make_shared<ode_operation>(std::move(function), std::move(f), states, times, read_maker(from), wanted,
                                                nullptr, same_steps);
    made->set_active(std::move(active));
    return made;
  }

  std::unique_ptr<external_operation::state> make_state() const override { return std::make_unique<solvers>(); }

  void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override {
    auto& mine = static_cast<solvers&>(s);
    const bool differentiated = with_adjoint || same_steps_;
    std::unique_ptr<solver>& chosen = differentiated ? mine.swept : mine.plain;
    if (chosen == nullptr) chosen = std::make_unique<solver>(*this, differentiated);
    Eigen::Map<Eigen::MatrixXd> states(y, n_, static_cast<Eigen::Index>(times_));
    run_pass(progress_.get(), false, [&] {
      states = integrate(*chosen, x);
      return x[n_ + static_cast<Eigen::Index>(times_)];
    });
    ledger_.enter(chosen->integrator->statistics());
  }

  void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override {
    auto& mine = static_cast<solvers&>(s);
    const auto count = static_cast<Eigen::Index>(times_);
    run_pass(progress_.get(), true, [&] {
      add(mine.swept->integrator->sweep(Eigen::Map<const Eigen::MatrixXd>(y_adjoint, n_, count)), x_adjoint);
      return mine.swept->started;
    });
    ledger_.enter(mine.swept->integrator->statistics());
  }

  void reverse_rows(external_operation::state& s, std::size_t count, const double* y_adjoints, double* x_adjoints,
                    std::size_t stride) const override {
    auto& mine = static_cast<solvers&>(s);
    std::vector<Eigen::Map<const Eigen::MatrixXd>> rows;
    for (std::size_t row = 0; row < count; ++row)
      rows.emplace_back(y_adjoints + row * stride, n_, static_cast<Eigen::Index>(times_));
    run_pass(progress_.get(), true, [&] {
      const std::vector<ode_gradient> gradients = mine.swept->integrator->sweep_rows(rows);
      for (std::size_t row = 0; row < count; ++row) add(gradients[row], x_adjoints + row * stride);
      return mine.swept->started;
    });
    ledger_.enter(mine.swept->integrator->statistics());
  }

  void expect_derivatives() const override { same_steps_ = true; }
  bool has_tangents() const override { return tangents_.order == 2; }
  bool has_first_tangents() const override { return tangents_.order >= 1; }
  /// Order 0: tangents and adjoints from integrations of their own agree within tolerances only.
  const external_operation* first_without_tangents(int order) const override {
    if (order > 0) return external_operation::first_without_tangents(order);
    return tangents_.match && f_->first_without_tangents(0) == nullptr ? nullptr : this;
  }

  void tangent(external_operation::state& s, int width, const double* x_tangent, double* y_tangent) const override {
    solver& by = *static_cast<solvers&>(s).swept;
    const auto w = static_cast<std::size_t>(width), n = static_cast<std::size_t>(n_) * w;
    const double *times = x_tangent + n + w, *parameters = times + times_ * w;
    const auto count = static_cast<Eigen::Index>(times_);
    by.along.assign(parameters, parameters + static_cast<std::size_t>(m_) * w);
    by.of_start = Eigen::Map<const tangent_rows>(x_tangent, n_, width);
    by.of_t0 = Eigen::Map<const Eigen::RowVectorXd>(x_tangent + n, width);
    by.of_times = Eigen::Map<const tangent_rows>(times, count, width);
    by.moving.forth(by.started, by.start, -by.of_t0, by.of_start);
    if (sweeps())
      by.integrator->tangent({width, {by.of_start.data(), by.of_start.data() + n}, by.along}, y_tangent);
    else
      std::fill_n(y_tangent, n * times_, 0.0);
    Eigen::Map<tangent_rows> outputs(y_tangent, n_ * count, width);
    for (Eigen::Index k = 0; k < count; ++k)
      by.moving.forth(by.times[static_cast<std::size_t>(k)], by.states->col(k), by.of_times.row(k),
                      outputs.middleRows(k * n_, n_));
    if (moves()) by.of_outputs = outputs;
    ledger_.enter(by.integrator->statistics());
  }

  void second(external_operation::state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent,
              double* x_adjoint, double* x_adjoint_tangent) const override {
    solver& by = *static_cast<solvers&>(s).swept;
    const auto count = static_cast<Eigen::Index>(times_);
    moving_vector initial = moving_vector::zero(n_, width), of_parameters = moving_vector::zero(m_, width),
                  of_times = moving_vector::zero(count, width);
    moving_number of_t0{0, Eigen::RowVectorXd::Zero(width)};
    Eigen::MatrixXd adjoints = Eigen::Map<const Eigen::MatrixXd>(y_adjoint, n_, count);
    tangent_rows tangents = Eigen::Map<const tangent_rows>(y_adjoint_tangent, n_ * count, width);
    for (Eigen::Index k = 0; k < count && moves(); ++k) {
      moving_vector output{adjoints.col(k), tangents.middleRows(k * n_, n_)};
      moving_number of_time{0, Eigen::RowVectorXd::Zero(width)};
      const tangent_rows moved = by.of_outputs.middleRows(k * n_, n_);
      const Eigen::RowVectorXd along = by.of_times.row(k);
      by.moving.back({1, by.times[static_cast<std::size_t>(k)], by.states->col(k), moved, along}, by.along, output, of_time,
                     of_parameters.tangents);
      tangents.middleRows(k * n_, n_) = output.tangents;
      of_times.value[k] = of_time.value, of_times.tangents.row(k) = of_time.tangents;
    }
    if (sweeps()) {
      ode_directions back;
      const ode_gradient g = by.integrator->second(adjoints, tangents.data(), back);
      initial = {g.initial_state, Eigen::Map<const tangent_rows>(back.initial_state.data(), n_, width)};
      of_parameters += {g.parameters, Eigen::Map<const tangent_rows>(back.parameters.data(), m_, width)};
    }
    if (moves())
      by.moving.back({-1, by.started, by.start, by.of_start, by.of_t0}, by.along, initial, of_t0, of_parameters.tangents);
    add({initial.value, of_t0.value, of_times.value, of_parameters.value}, x_adjoint);
    Eigen::Map<tangent_rows> to(x_adjoint_tangent, static_cast<Eigen::Index>(input_size()), width);
    to.topRows(n_) += initial.tangents;
    to.row(n_) += of_t0.tangents;
    to.middleRows(n_ + 1, count) += of_times.tangents;
    to.bottomRows(m_) += of_parameters.tangents;
  }

  /// Returns the statistics of the last run and its reverse passes; passes of second order are not counted.
  ode_statistics statistics() const { return ledger_.latest(); }

  /// Solves once more, with the steps of a run with or without derivatives, and logs the limit of each step. Returns whether
  /// the method supports a log.
  bool log_steps(const double* x, detail::step_log& log, bool differentiated) const {
    solver once(*this, differentiated || same_steps_);
    if (!once.integrator->log_steps(&log)) return false;
    integrate(once, x);
    return true;
  }

 private:
  struct solver {
    solver(const ode_operation& of, bool with_adjoint)
        : system(of.f_, of.n_, with_adjoint, of.structure_),
          integrator(of.make_(of.function_, system, with_adjoint ? of.wanted_ : ode_wanted{})),
          moving(system) {
      system.set_active(of.active_);
    }
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
    std::unique_ptr<solver> plain, swept;
  };

  const Eigen::MatrixXd& integrate(solver& by, const double* x) const {
    by.times.assign(x + n_ + 1, x + n_ + 1 + times_);
    by.system.set_parameters(x + n_ + 1 + times_);
    by.started = x[n_], by.start = Eigen::Map<const Eigen::VectorXd>(x, n_);
    by.states = &by.integrator->integrate(by.start, by.started, by.times);
    return *by.states;
  }

  /// The highest order of derivatives with tangents, and whether tangents and adjoints agree to rounding.
  struct tangent_kind {
    int order;
    bool match;
  };
  static tangent_kind kind_of(const ode_solver& by) {
    return {by.has_tangents() ? 2 : by.has_first_tangents() ? 1 : 0, by.tangents_match()};
  }

  /// Return whether a derivative with respect to a time is wanted, and whether a derivative through the steps is wanted.
  bool moves() const { return wanted_.initial_time || wanted_.times; }
  bool sweeps() const { return wanted_.initial_state || wanted_.initial_time || m_ > 0; }

  void add(const ode_gradient& g, double* x_adjoint) const {
    Eigen::Map<Eigen::VectorXd> to(x_adjoint, static_cast<Eigen::Index>(input_size()));
    to.head(n_) += g.initial_state;
    to[n_] += g.initial_time;
    to.segment(n_ + 1, g.times.size()) += g.times;
    to.tail(m_) += g.parameters;
  }

  std::string function_;
  std::shared_ptr<const program> f_;
  std::shared_ptr<program_structure> structure_ = std::make_shared<program_structure>();  // computed once for all solvers
  Eigen::Index n_;
  std::size_t times_;
  Eigen::Index m_;
  maker make_;
  ode_wanted wanted_;
  std::shared_ptr<const progress_host> progress_;
  mutable ode_ledger ledger_;
  std::vector<bool> active_;
  mutable std::atomic<bool> same_steps_;
  tangent_kind tangents_;
};

}  // namespace agrad
