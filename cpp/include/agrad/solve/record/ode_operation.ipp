// Definitions of solve/record/ode_operation.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/record/ode_operation.hpp>

namespace agrad {

AGRAD_INLINE ode_operation::ode_operation(std::string function, std::shared_ptr<const program> f, Eigen::Index states,
                                          std::size_t times, maker make, ode_required required,
                                          std::shared_ptr<const progress_host> progress, bool same_steps)
    : function_(std::move(function)),
      f_(std::move(f)),
      n_(states),
      times_(times),
      m_(static_cast<Eigen::Index>(f_->input_size()) - 1 - n_),
      make_(std::move(make)),
      required_(required),
      progress_(std::move(progress)),
      same_steps_(same_steps),
      tangents_(kind_of(*solver(*this, true).integrator)) {}

AGRAD_INLINE std::string_view ode_operation::kind() const {
  return make_.is_portable() && progress_ == nullptr ? stored_kind : std::string_view();
}

AGRAD_INLINE bool ode_operation::fits(std::size_t arguments, std::size_t results) const {
  return arguments == input_size() && results == output_size();
}

AGRAD_INLINE void ode_operation::write(portable_writer& to) const {
  to(function_, f_, n_, times_, required_, active_, same_steps_.load());
  make_.write(to);
}

AGRAD_INLINE void ode_operation::forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const {
  auto& mine = static_cast<solvers&>(s);
  const bool differentiated = with_adjoint || same_steps_;
  std::unique_ptr<solver>& chosen = differentiated ? mine.differentiable : mine.plain;
  if (chosen == nullptr) chosen = std::make_unique<solver>(*this, differentiated);
  Eigen::Map<Eigen::MatrixXd> states(y, n_, static_cast<Eigen::Index>(times_));
  run_pass(progress_.get(), false, [&] {
    states = integrate(*chosen, x);
    return x[n_ + static_cast<Eigen::Index>(times_)];
  });
  ledger_.enter(chosen->integrator->statistics());
}

AGRAD_INLINE void ode_operation::reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const {
  auto& mine = static_cast<solvers&>(s);
  const auto count = static_cast<Eigen::Index>(times_);
  run_pass(progress_.get(), true, [&] {
    add(mine.differentiable->integrator->reverse(Eigen::Map<const Eigen::MatrixXd>(y_adjoint, n_, count)), x_adjoint);
    return mine.differentiable->started;
  });
  ledger_.enter(mine.differentiable->integrator->statistics());
}

AGRAD_INLINE void ode_operation::reverse_rows(external_operation::state& s, std::size_t count, const double* y_adjoints,
                                              double* x_adjoints, std::size_t stride) const {
  auto& mine = static_cast<solvers&>(s);
  std::vector<Eigen::Map<const Eigen::MatrixXd>> rows;
  for (std::size_t row = 0; row < count; ++row)
    rows.emplace_back(y_adjoints + row * stride, n_, static_cast<Eigen::Index>(times_));
  run_pass(progress_.get(), true, [&] {
    const std::vector<ode_gradient> gradients = mine.differentiable->integrator->reverse_rows(rows);
    for (std::size_t row = 0; row < count; ++row) add(gradients[row], x_adjoints + row * stride);
    return mine.differentiable->started;
  });
  ledger_.enter(mine.differentiable->integrator->statistics());
}

AGRAD_INLINE const external_operation* ode_operation::first_without_tangents(int order) const {
  if (order > 0) return external_operation::first_without_tangents(order);
  return tangents_.match && f_->first_without_tangents(0) == nullptr ? nullptr : this;
}

AGRAD_INLINE void ode_operation::tangent(external_operation::state& s, int width, const double* x_tangent,
                                         double* y_tangent) const {
  solver& by = *static_cast<solvers&>(s).differentiable;
  const auto w = static_cast<std::size_t>(width), n = static_cast<std::size_t>(n_) * w;
  const double *times = x_tangent + n + w, *parameters = times + times_ * w;
  const auto count = static_cast<Eigen::Index>(times_);
  by.along.assign(parameters, parameters + static_cast<std::size_t>(m_) * w);
  by.of_start = Eigen::Map<const tangent_rows>(x_tangent, n_, width);
  by.of_t0 = Eigen::Map<const Eigen::RowVectorXd>(x_tangent + n, width);
  by.of_times = Eigen::Map<const tangent_rows>(times, count, width);
  by.moving.propagate_tangent(by.started, by.start, -by.of_t0, by.of_start);
  if (reverses())
    by.integrator->tangent({width, {by.of_start.data(), by.of_start.data() + n}, by.along}, y_tangent);
  else
    std::fill_n(y_tangent, n * times_, 0.0);
  Eigen::Map<tangent_rows> outputs(y_tangent, n_ * count, width);
  for (Eigen::Index k = 0; k < count; ++k)
    by.moving.propagate_tangent(by.times[static_cast<std::size_t>(k)], by.states->col(k), by.of_times.row(k),
                                outputs.middleRows(k * n_, n_));
  if (moves()) by.of_outputs = outputs;
  ledger_.enter(by.integrator->statistics());
}

AGRAD_INLINE void ode_operation::second(external_operation::state& s, int width, const double* y_adjoint,
                                        const double* y_adjoint_tangent, double* x_adjoint, double* x_adjoint_tangent) const {
  solver& by = *static_cast<solvers&>(s).differentiable;
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
    by.moving.propagate_adjoint({1, by.times[static_cast<std::size_t>(k)], by.states->col(k), moved, along}, by.along, output,
                                of_time, of_parameters.tangents);
    tangents.middleRows(k * n_, n_) = output.tangents;
    of_times.value[k] = of_time.value, of_times.tangents.row(k) = of_time.tangents;
  }
  if (reverses()) {
    ode_directions dg;
    const ode_gradient g = by.integrator->second(adjoints, tangents.data(), dg);
    initial = {g.initial_state, Eigen::Map<const tangent_rows>(dg.initial_state.data(), n_, width)};
    of_parameters += {g.parameters, Eigen::Map<const tangent_rows>(dg.parameters.data(), m_, width)};
  }
  if (moves())
    by.moving.propagate_adjoint({-1, by.started, by.start, by.of_start, by.of_t0}, by.along, initial, of_t0,
                                of_parameters.tangents);
  add({initial.value, of_t0.value, of_times.value, of_parameters.value}, x_adjoint);
  Eigen::Map<tangent_rows> to(x_adjoint_tangent, static_cast<Eigen::Index>(input_size()), width);
  to.topRows(n_) += initial.tangents;
  to.row(n_) += of_t0.tangents;
  to.middleRows(n_ + 1, count) += of_times.tangents;
  to.bottomRows(m_) += of_parameters.tangents;
}

AGRAD_INLINE bool ode_operation::log_steps(const double* x, detail::step_log& log, bool differentiated) const {
  solver once(*this, differentiated || same_steps_);
  if (!once.integrator->log_steps(&log)) return false;
  integrate(once, x);
  return true;
}

AGRAD_INLINE ode_operation::solver::solver(const ode_operation& of, bool with_adjoint)
    : system(of.f_, of.n_, with_adjoint, of.structure_),
      integrator(of.make_(of.function_, system, with_adjoint ? of.required_ : ode_required{})),
      moving(system) {
  system.set_active(of.active_);
}

AGRAD_INLINE const Eigen::MatrixXd& ode_operation::integrate(solver& by, const double* x) const {
  by.times.assign(x + n_ + 1, x + n_ + 1 + times_);
  by.system.set_parameters(x + n_ + 1 + times_);
  by.started = x[n_], by.start = Eigen::Map<const Eigen::VectorXd>(x, n_);
  by.states = &by.integrator->integrate(by.start, by.started, by.times);
  return *by.states;
}

AGRAD_INLINE ode_operation::tangent_kind ode_operation::kind_of(const ode_solver& by) {
  return {by.has_tangents() ? 2 : by.has_first_tangents() ? 1 : 0, by.tangents_match()};
}

AGRAD_INLINE void ode_operation::add(const ode_gradient& g, double* x_adjoint) const {
  Eigen::Map<Eigen::VectorXd> to(x_adjoint, static_cast<Eigen::Index>(input_size()));
  to.head(n_) += g.initial_state;
  to[n_] += g.initial_time;
  to.segment(n_ + 1, g.times.size()) += g.times;
  to.tail(m_) += g.parameters;
}

}  // namespace agrad
