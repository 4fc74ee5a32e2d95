// Stored options: lists the fields of the options of solves, and those that recorded right-hand sides share, for stored
// programs (program/store/archive.hpp).
//
// Enumerations and patterns are checked while being read. Numbers are checked where solvers are made, as for a user's options.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <agrad/program/program.hpp>
#include <agrad/program/store/archive.hpp>
#include <agrad/solve/cvodes/adjoint_options.hpp>
#include <agrad/solve/cvodes/forward_options.hpp>
#include <agrad/solve/dae/options.hpp>
#include <agrad/solve/one_step/options.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/steady/options.hpp>
#include <agrad/solve/system/event.hpp>

namespace agrad {

/// No user's solve has more output times, stops or events.
inline constexpr std::size_t most_times = std::size_t{1} << 32U;

/// Returns whether a program takes t, `vectors` vectors of n states, and parameters, and returns a value for each state.
inline bool is_right_hand_side(const program& f, Eigen::Index states, std::size_t vectors) {
  return states > 0 && f.output_size() == static_cast<std::size_t>(states) && f.input_size() > vectors * f.output_size();
}

/// A recorded right-hand side with output times, the first fields of problems that a method solves.
struct recorded_right_hand_side {
  std::string function = {};
  std::shared_ptr<const program> f = nullptr;  // of (t, n states, parameters)
  Eigen::Index states = 0;
  std::size_t times = 0;
  std::vector<bool> active = {};  // of the parameters; empty if all are

  std::size_t parameters() const { return f->input_size() - 1 - static_cast<std::size_t>(states); }
};

/// Reads or writes the fields with a problem's own fields among them.
template <class Archive, class... Own>
void serialize_problem(Archive& archive, recorded_right_hand_side& k, Own&... own) {
  archive(k.function, k.f, k.states, k.times, own..., k.active);
  archive.expect(is_right_hand_side(*k.f, k.states, 1) && k.times > 0 && k.times <= most_times &&
                     (k.active.empty() || k.active.size() == k.parameters()),
                 "a solve");
}

template <class Archive>
void serialize(Archive& archive, csr_pattern& p) {
  archive(p.cols, p.begin, p.col);
  bool is_pattern = !p.begin.empty() && p.begin.front() == 0 && p.begin.back() == p.col.size();
  is_pattern = is_pattern && std::is_sorted(p.begin.begin(), p.begin.end());
  for (std::size_t i = 0; is_pattern && i < p.rows(); ++i)
    for (std::size_t at = p.begin[i]; is_pattern && at < p.begin[i + 1]; ++at)
      is_pattern = p.col[at] < p.cols && (at == p.begin[i] || p.col[at - 1] < p.col[at]);
  archive.expect(is_pattern, "a pattern");
}

template <class Archive>
void serialize(Archive& archive, half_bandwidths& widths) {
  archive(widths.lower, widths.upper);
}

template <class Archive>
void serialize(Archive& archive, ode_algebra& algebra) {
  using kind = ode_algebra_kind;
  archive.one_of(algebra.kind, {kind::automatic, kind::dense, kind::banded, kind::sparse, kind::gmres});
  archive(algebra.bandwidths, algebra.pattern, algebra.argument);
}

template <class Archive>
void serialize(Archive& archive, mass_matrix& m) {
  archive(m.pattern, m.values);
  archive.expect(m.values.size() == m.pattern.size(), "a mass matrix");
}

template <class Archive>
void serialize(Archive& archive, tolerances& t) {
  archive(t.relative, t.absolute);
}

template <class Archive>
void serialize(Archive& archive, step_options& o) {
  using control = step_error_control;
  archive(o.states, o.max_num_steps, o.first_step, o.max_step, o.max_memory, o.algebra);
  archive.one_of(o.error_control, {control::automatic, control::states, control::derivatives});
  archive(o.mass);
}

template <class Archive>
void serialize(Archive& archive, ode_adjoint_options& o) {
  archive(o.forward, o.backward, o.quadrature, o.max_num_steps, o.num_steps_between_checkpoints);
  archive.one_of(o.interpolation_polynomial, {ode_interpolation::hermite, ode_interpolation::polynomial});
  archive.one_of(o.solver_forward, {ode_method::adams, ode_method::bdf});
  archive.one_of(o.solver_backward, {ode_method::adams, ode_method::bdf});
  archive(o.algebra, o.first_step, o.max_step, o.in_units_of_loss);
}

template <class Archive>
void serialize(Archive& archive, ode_forward_options& o) {
  archive(o.states, o.max_num_steps);
  archive.one_of(o.method, {ode_method::adams, ode_method::bdf});
  archive.one_of(o.corrector, {ode_corrector::simultaneous, ode_corrector::staggered});
  archive(o.sensitivities, o.algebra, o.first_step, o.max_step);
}

template <class Archive>
void serialize(Archive& archive, ode_required& required) {
  archive(required.initial_state, required.initial_time, required.times);
}

template <class Archive>
void serialize(Archive& archive, dose_rule& dose) {
  archive(dose.state, dose.is_infusion);
  archive.one_of(dose.kind, {dose_kind::add, dose_kind::set, dose_kind::scale});
}

template <class Archive>
void serialize(Archive& archive, event_firing& firing) {
  archive(firing.is_condition, firing.initially, firing.priority, firing.is_persistent, firing.sees_trigger, firing.kept);
}

template <class Archive>
void serialize(Archive& archive, event_rule& event) {
  archive(event.direction, event.terminal, event.firing);
}

template <class Archive>
void serialize(Archive& archive, event_plan& plan) {
  archive(plan.doses, plan.stops, plan.events, plan.max_events, plan.times_move, plan.state_moves, plan.before);
}

template <class Archive>
void serialize(Archive& archive, dae_options& o) {
  archive(o.forward, o.backward, o.quadrature, o.max_num_steps, o.first_step, o.max_step, o.in_units_of_loss, o.differential,
          o.tstops);
  archive.one_of(o.initial, {dae_initial::differential, dae_initial::derivatives, dae_initial::consistent});
  archive.one_of(o.sensitivities, {dae_sensitivities::adjoint, dae_sensitivities::forward});
}

template <class Archive>
void serialize(Archive& archive, dae_required& required) {
  archive(required.initial_state, required.initial_slope, required.initial_time, required.times, required.stops);
}

template <class Archive>
void serialize(Archive& archive, steady_options& o) {
  archive(o.states, o.max_iterations);
  archive.one_of(o.method, {steady_method::automatic, steady_method::newton, steady_method::integration});
  archive(o.time);
}

}  // namespace agrad
