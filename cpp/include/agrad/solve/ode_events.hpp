// ODE events: solves initial value problems with doses and events, and puts the solutions on the tape.
//
//     std::vector<agrad::ode_dose<var>> doses{{0.0, 0, amount}, {12.0, 0, amount}};
//     auto solution = agrad::ode_solve_events(options, agrad::ode_one_step_method::tsit5, doses, std::tuple<>(), {}, f, y0,
//                                             0.0, times, k);
//     solution.states[3];   // a column vector of var
//
// Read next: solve/events/solver.hpp, the solver; solve/system/functor/event.hpp, the parts of an event.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/solve/events/solver.hpp>
#include <agrad/solve/ode_adjoint.hpp>
#include <agrad/solve/ode_solve.hpp>
#include <agrad/solve/system/functor/event.hpp>

namespace agrad {

/// An amount that is added to a state at a time: at once, or at a constant rate over a nonzero duration.
template <class Scalar = double>
struct ode_dose {
  Scalar time;
  Eigen::Index state;
  Scalar amount;
  Scalar duration = 0;
};

/// A solution with events. Output times after a terminal event have the state at the end.
template <class Scalar>
struct ode_events_solution {
  std::vector<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> states;                     // at each output time, after a dose there
  std::vector<std::vector<Scalar>> event_times;                                     // of each event
  std::vector<std::vector<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>>> event_states;  // before its reset
  Scalar end;  // the last output time, or the time of a terminal event
  bool is_terminated = false;
};

namespace detail {

/// Members of a solve with events on the tape.
template <class System>
struct event_node {
  using indices = std::vector<tape::index_type>;
  System system;
  event_solver::functions events;
  std::unique_ptr<event_solver> solver;
  indices initial_state, initial_time, times, dose_times, amounts, durations;
  tape::index_type first = 0;
  std::size_t outputs = 0, hits = 0;

  template <class F, class... Args>
  event_node(const std::string& function, const F& f, Eigen::Index states, const Args&... args)
      : system(function, f, states, args...) {}

  /// Propagates the adjoints of the states, the end, the hits' times and the hits' states, which follow each other on the tape.
  template <class Adjoint>
  void reverse(const Adjoint& adjoint) {
    tape::index_type from = first;
    bool is_zero = true;
    const auto next = [&] {
      const double value = adjoint.at(from++);
      is_zero = is_zero && value == 0;
      return value;
    };
    const Eigen::Index n = system.states();
    event_adjoints a;
    a.states.resize(n, static_cast<Eigen::Index>(outputs));
    for (Eigen::Index i = 0; i < a.states.size(); ++i) a.states.data()[i] = next();
    a.end = next();
    a.end_state = Eigen::VectorXd::Zero(n);
    for (std::size_t j = 0; j < hits; ++j) a.hit_times.push_back(next());
    a.hit_states.resize(n, static_cast<Eigen::Index>(hits));
    for (Eigen::Index i = 0; i < a.hit_states.size(); ++i) a.hit_states.data()[i] = next();
    if (is_zero) return;
    const event_gradient g = solver->reverse(a);
    const auto add = [&](const indices& to, const double* gradient) {
      for (std::size_t i = 0; i < to.size(); ++i) adjoint.at(to[i]) += gradient[i];
    };
    add(initial_state, g.initial_state.data()), add(initial_time, &g.initial_time), add(times, g.times.data());
    add(dose_times, g.dose_times.data()), add(amounts, g.amounts.data()), add(durations, g.durations.data());
    add(system.parameter_indices(), g.parameters.data());
    for (const Eigen::VectorXd& of_event : g.event_parameters) add(system.parameter_indices(), of_event.data());
  }
};

/// Splits a table of doses into columns.
template <class Scalar>
void read_doses(const std::vector<ode_dose<Scalar>>& doses, event_plan& plan, event_values& v) {
  for (const ode_dose<Scalar>& each : doses) {
    v.dose_times.push_back(argument<Scalar>::values(each.time));
    v.amounts.push_back(argument<Scalar>::values(each.amount));
    v.durations.push_back(argument<Scalar>::values(each.duration));
    plan.doses.push_back({each.state, v.durations.back() != 0});
  }
}

/// Returns the numbers of a solution, converted one after the other by `next` to doubles or variables.
template <class Scalar, class Next>
ode_events_solution<Scalar> spread(const event_solution& from, std::size_t events, const Next& next) {
  ode_events_solution<Scalar> to;
  const auto column = [&](const auto& values) {
    Eigen::Matrix<Scalar, Eigen::Dynamic, 1> v(values.size());
    for (Eigen::Index i = 0; i < values.size(); ++i) v[i] = next(values[i]);
    return v;
  };
  for (Eigen::Index k = 0; k < from.states.cols(); ++k) to.states.push_back(column(from.states.col(k)));
  to.end = next(from.end);
  to.event_times.resize(events), to.event_states.resize(events);
  for (const event_hit& hit : from.hits) to.event_times[hit.event].push_back(next(hit.t));
  for (const event_hit& hit : from.hits) to.event_states[hit.event].push_back(column(hit.state));
  to.is_terminated = from.is_terminated;
  return to;
}

template <class Scalar, class Events, class F, class Y0, class T0, class Time, class... Args>
auto solve_events(const std::string& function, const event_solver::maker& make, const std::vector<ode_dose<Scalar>>& doses,
                  const Events& events, const std::vector<double>& stops, long max_events, const F& f, const Y0& y0,
                  const T0& t0, const std::vector<Time>& times, const Args&... args) {
  static_assert(
      !hold_duals<Scalar, Y0, T0, Time, Args...>,
      "ode_solve_events has first derivatives only: a dual cannot pass through it; without doses and events, ode_tsit5, "
      "ode_rk45, ode_ckrk, ode_dop853, ode_rodas4 and ode_rodas5p have second ones");
  constexpr bool active = argument<Scalar>::active || argument<Y0>::active || argument<T0>::active || argument<Time>::active ||
                          (argument<Args>::active || ...);
  event_plan plan;
  event_values v;
  v.initial_state = argument<Y0>::values(y0);
  v.initial_time = static_cast<double>(argument<T0>::values(t0));
  const auto time_values = argument<std::vector<Time>>::values(times);
  v.times.assign(time_values.begin(), time_values.end());
  v.stops = stops;
  plan.stops = stops.size(), plan.max_events = max_events;
  read_doses(doses, plan, v);
  auto node =
      std::make_unique<event_node<system_of_t<functor_tangents, F, Args...>>>(function, f, v.initial_state.size(), args...);
  std::apply(
      [&](const auto&... each) {
        (node->events.push_back(std::make_unique<functor_event<std::decay_t<decltype(each)>, Args...>>(
             function, each, v.initial_state.size(), args...)),
         ...);
        (plan.events.push_back({each.direction, each.terminal}), ...);
      },
      events);
  node->solver = std::make_unique<event_solver>(function, node->system, node->events, make, plan, active);
  const event_solution& found = node->solver->integrate(v);
  if constexpr (active) {
    argument<Y0>::collect(y0, node->initial_state);
    argument<T0>::collect(t0, node->initial_time);
    argument<std::vector<Time>>::collect(times, node->times);
    for (const auto& each : doses) {
      argument<Scalar>::collect(each.time, node->dose_times);
      argument<Scalar>::collect(each.amount, node->amounts);
      argument<Scalar>::collect(each.duration, node->durations);
    }
    tape& t = tape::current();
    node->outputs = static_cast<std::size_t>(found.states.cols()), node->hits = found.hits.size();
    const auto n = static_cast<std::size_t>(found.states.rows());
    tape::index_type next = node->first = t.leaves(n * node->outputs + 1 + node->hits * (1 + n));
    auto result =
        spread<var>(found, node->events.size(), [&](double value) { return tape_access::variable(value, next++, t); });
    t.push([owned = std::move(node)](auto& adjoint) { owned->reverse(adjoint); });
    return result;
  } else {
    return spread<double>(found, node->events.size(), [](double value) { return value; });
  }
}

}  // namespace detail

/// Stops of the integration, and the limit of events.
struct ode_events_options {
  std::vector<double> stops;  // times at which steps end, because f jumps there
  long max_events = 1000;
};

/// Solves y' = f(t, y, args...), y(t0) = y0, with doses and events, by a one-step method.
///
/// doses: a table; times, amounts and durations of double or var, times not before t0. Doses at one time are given in their
///   order; doses after the last output time are ignored.
/// events: a std::tuple of ode_event. An event happens where its event function crosses zero, in the event's direction, after
///   t0; not where a jump of the state crosses zero. Events are located on the method's own solution, and integration restarts
///   there from the reset state.
/// f, y0, t0, times, args: as for ode_adjoint_tol; times may begin with t0. The output at the time of a dose is the state after
///   the dose.
///
/// Returns the states, and the times and states of the events; of var when a variable is among y0, t0, times, doses and args.
/// Raises ShapeError, DomainError, and SolverError, as ode_solve, and where there are more events than max_events;
///   DerivativeError in the reverse pass where an event function only touches zero. Derivatives are of first order.
/// Source: Rozenvasser (1967), Automation and Remote Control 28:1006, for the jumps of sensitivities.
template <class Scalar, class... Events, class F, class Y0, class T0, class Time = double, class... Args>
auto ode_solve_events(const step_options& options, ode_one_step_method method, const std::vector<ode_dose<Scalar>>& doses,
                      const std::tuple<Events...>& events, const ode_events_options& event_options, const F& f,
                      const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times, const Args&... args) {
  const auto make = [options, method](const std::string& function, ode_system& system, ode_required required) {
    return make_one_step_solver(method, function, system, options, required);
  };
  return detail::solve_events("ode_solve_events", make, doses, events, event_options.stops, event_options.max_events, f,
                              detail::stored_argument(y0.derived()), detail::stored_argument(t0), times,
                              detail::stored_argument(args)...);
}

/// Does the same by CVODES and its adjoint method. The rates of infusions are parameters of the quadrature, too: a vector of
/// quadrature tolerances has an entry for each state with infusions, after the entries for args.
template <class Scalar, class... Events, class F, class Y0, class T0, class Time = double, class... Args>
auto ode_solve_events(const ode_adjoint_options& options, const std::vector<ode_dose<Scalar>>& doses,
                      const std::tuple<Events...>& events, const ode_events_options& event_options, const F& f,
                      const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times, const Args&... args) {
  return detail::solve_events("ode_solve_events", detail::cvodes_maker(options), doses, events, event_options.stops,
                              event_options.max_events, f, detail::stored_argument(y0.derived()), detail::stored_argument(t0),
                              times, detail::stored_argument(args)...);
}

}  // namespace agrad
