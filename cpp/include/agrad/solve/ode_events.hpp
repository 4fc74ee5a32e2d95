// ODE events: solves initial value problems with doses and events, and puts the solutions on the tape.
//
//     std::vector<agrad::ode_dose<var>> doses{{0.0, 0, amount}, {12.0, 0, amount}};
//     auto solution = agrad::ode_solve_events(options, agrad::ode_one_step_method::tsit5, doses, std::tuple<>(), {}, f, y0,
//                                             0.0, times, k);
//     solution.states[3];   // a column vector of var
//
// Read next: solve/posed/events.hpp, the solve; solve/system/functor/event.hpp, the parts of an event.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/solve/ode_adjoint.hpp>
#include <agrad/solve/ode_solve.hpp>
#include <agrad/solve/posed/events.hpp>
#include <agrad/solve/system/functor/event.hpp>
#include <agrad/solve/system/jumps/unrolled_loops.hpp>
#include <agrad/solve/system/jumps/written_kinks.hpp>
#include <agrad/solve/system/program/held_recorded.hpp>
#include <agrad/solve/system/program/program_switches.hpp>

namespace agrad {

/// An amount that is added to a state at a time: at once, or at a constant rate over a nonzero duration. By `kind` a dose at
/// once may also replace the state, or multiply it. Time: double where times and durations are known, so that second
/// derivatives with respect to amounts need no recorded f.
template <class Scalar = double, class Time = Scalar>
struct ode_dose {
  Time time;
  Eigen::Index state;
  Scalar amount;
  Time duration = 0;
  dose_kind kind = dose_kind::add;
};

/// A solution with events. Output times after a terminal event have the state at the end.
template <class Scalar>
struct ode_events_solution {
  std::vector<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> states;                     // at each output time, after a dose there
  std::vector<std::vector<Scalar>> event_times;                                     // of each event
  std::vector<std::vector<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>>> event_states;  // before its reset
  Scalar end;  // the last output time, or the time of a terminal event
  bool is_terminated = false;
  std::vector<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> before;  // at the output times of `ode_events_options::before`
};

/// Stops of the integration, the limit of events, and outputs before doses.
struct ode_events_options {
  std::vector<double> stops;  // times at which steps end, because f jumps there
  long max_events = 1000;
  std::vector<std::size_t> before = {};  // indices of output times at which the state before doses is a result, too
};

namespace detail {

/// Returns a solution from its numbers, one after the other as in the result of `posed_events`.
template <class Scalar>
ode_events_solution<Scalar> spread(const Scalar* from, const posed_events& solve, Eigen::Index n) {
  ode_events_solution<Scalar> to;
  const auto column = [&] {
    from += n;
    return vector_of<Scalar>(Eigen::Map<const vector_of<Scalar>>(from - n, n));
  };
  const std::vector<std::size_t>& hits = solve.counts().hits;
  for (Eigen::Index k = 0; k < solve.solution().states.cols(); ++k) to.states.push_back(column());
  to.end = *from++;
  from += n;  // the state at the end
  for (const std::size_t count : hits) {
    to.event_times.emplace_back(from, from + count);
    from += count;
  }
  to.event_states.resize(hits.size());
  for (std::size_t e = 0; e < hits.size(); ++e)
    for (std::size_t hit = 0; hit < hits[e]; ++hit) to.event_states[e].push_back(column());
  for (Eigen::Index j = 0; j < solve.solution().before.cols(); ++j) to.before.push_back(column());
  to.is_terminated = solve.solution().is_terminated;
  return to;
}

/// A table of doses by columns.
template <class Scalar, class Time>
struct dose_columns {
  std::vector<Time> times, durations;
  std::vector<Scalar> amounts;
  std::vector<dose_rule> rules;

  explicit dose_columns(const std::vector<ode_dose<Scalar, Time>>& doses) {
    for (const ode_dose<Scalar, Time>& each : doses) {
      times.push_back(each.time), amounts.push_back(each.amount), durations.push_back(each.duration);
      rules.push_back({each.state, double_of(each.duration) != 0, each.kind});
    }
  }
};

/// Sets a recorded system, with the times and the comparisons of states at which it jumps, or also has kinks.
template <class Recorded>
void set_recorded(event_setup& setup, std::unique_ptr<Recorded> own, held_kind kind) {
  const Eigen::Index n = own->states();
  std::shared_ptr<const program> f = with_unrolled_loops(own->recorded(), static_cast<std::size_t>(n), kind).f;
  if (kind == held_kind::jumps_and_kinks) f = with_written_kinks(f, static_cast<std::size_t>(n));
  time_switches times(*f, static_cast<std::size_t>(n));
  if (times.size() > 0) setup.switches.emplace(std::move(times));
  held_code found = held_code_of(*f, static_cast<std::size_t>(n), kind);
  if (found.entries.empty()) {
    setup.system = std::move(own);
    return;
  }
  const auto held = std::make_shared<const held_code>(std::move(found));
  auto system = std::make_unique<held_recorded<Recorded>>(std::move(own), f, *held);
  setup.held = std::make_unique<program_switches>(held, *system, n);
  setup.system = std::move(system);
}

/// Poses the problem. System: the system for the callable. Second: whether second derivatives are
/// wanted, also of the events.
template <template <class, class...> class System, bool Second, class Events, class F, class... Args>
event_setup setup_of(const std::string& function, event_solver::maker make, event_plan plan, const Events& events, const F& f,
                     Eigen::Index states, std::size_t times, const Args&... args) {
  event_setup setup;
  setup.function = function;
  using system = primal_system_t<System, F, Args...>;
  auto own = std::make_unique<system>(function, f, states, primal_argument(args)...);
  if constexpr (std::is_base_of_v<program_system, system>)
    set_recorded(setup, std::move(own), Second ? held_kind::jumps_and_kinks : held_kind::jumps);
  else
    setup.system = std::move(own);
  setup.make = std::move(make);
  setup.plan = std::move(plan);
  setup.parameters = static_cast<std::size_t>(setup.system->parameters()), setup.times = times;
  const auto add = [&](const auto& each) {
    setup.events.push_back(make_event<Second>(function, each, states, primal_argument(args)...));
    setup.plan.events.push_back({each.direction, each.terminal, each.firing});
  };
  std::apply([&](const auto&... each) { (add(each), ...); }, events);
  return setup;
}

/// A problem with events and its numbers. side_by_side: whether several directions cost about as much as one.
template <class Scalar>
struct posed_with_events {
  std::shared_ptr<posed_events> solve;
  solve_arguments<Scalar> arguments;
  bool side_by_side;
};

/// Solves, and returns the solution of n states.
template <class Scalar>
ode_events_solution<Scalar> recorded_events(const std::string& function, posed_with_events<Scalar>& posed, Eigen::Index n) {
  const auto result = recorded_result<Scalar>::of(function, posed.solve, std::move(posed.arguments), posed.side_by_side);
  return spread(result.data(), *posed.solve, n);
}

template <template <class, class...> class System, class Scalar, class DoseTime, class Events, class F, class Y0, class T0,
          class Time, class... Args>
auto pose_events(const std::string& function, event_solver::maker make, const std::vector<ode_dose<Scalar, DoseTime>>& doses,
                 const Events& events, const ode_events_options& event_options, const F& f, const Y0& y0, const T0& t0,
                 const std::vector<Time>& times, const Args&... args) {
  using scalar = promoted_t<Scalar, DoseTime, Y0, T0, Time, Args...>;
  const dose_columns<Scalar, DoseTime> columns(doses);
  constexpr bool times_move = active_scalars<DoseTime>::any || active_scalars<T0>::any || active_scalars<Time>::any;
  event_plan plan{columns.rules,           event_options.stops.size(), {}, event_options.max_events, times_move,
                  active_scalars<Y0>::any, event_options.before};
  constexpr bool side_by_side = std::is_base_of_v<program_system, primal_system_t<System, F, Args...>>;
  constexpr bool second = side_by_side && hold_second_duals<Scalar, DoseTime, Y0, T0, Time, Args...>;
  event_setup setup =
      setup_of<System, second>(function, std::move(make), std::move(plan), events, f, y0.size(), times.size(), args...);
  const std::size_t count = setup.events.size();
  const auto solve = std::make_shared<posed_events>(std::move(setup), !std::is_same_v<scalar, double>);
  solve_arguments<scalar> arguments(solve->argument());
  arguments.give("initial_state", y0);
  arguments.give("initial_time", t0);
  arguments.give("times", times);
  arguments.give_active("parameters", args...);
  arguments.give("dose_times", columns.times);
  arguments.give("amounts", columns.amounts);
  arguments.give("durations", columns.durations);
  arguments.give("stops", event_options.stops);
  for (std::size_t e = 0; e < count; ++e) arguments.give_active("parameters of event " + std::to_string(e), args...);
  return posed_with_events<scalar>{solve, std::move(arguments), side_by_side};
}

template <template <class, class...> class System, class Doses, class Events, class F, class Y0, class... All>
auto solve_events(const std::string& function, event_solver::maker make, const Doses& doses, const Events& events,
                  const ode_events_options& event_options, const F& f, const Y0& y0, const All&... all) {
  auto posed = pose_events<System>(function, std::move(make), doses, events, event_options, f, y0, all...);
  return recorded_events(function, posed, y0.size());
}

}  // namespace detail

/// Solves y' = f(t, y, args...), y(t0) = y0, with doses and events, by a one-step method.
///
/// doses: a table; times, amounts and durations of double, var or dual, times not before t0. Doses at one time are given in
///   their order; doses after the last output time are ignored.
/// events: a std::tuple of ode_event. An event happens where its event function crosses zero, in the event's direction, after
///   t0; not where a jump of the state crosses zero. Events are located on the method's own solution, and integration restarts
///   there from the reset state.
/// f, y0, t0, times, args: as for ode_adjoint_tol; times may begin with t0. Where f is recorded (agrad::recorded), its jumps at
///   times and at values of the state are found: steps end there, and derivatives have the jumps' part. The jumps of another f
///   cannot be searched: end a step where f jumps by a stop or an event, or derivatives lack the jump. The output at the time
///   of a dose is the state after the dose; `ode_events_options::before` asks for the state before.
///
/// Returns the states, and the times and states of the events; of promoted_t<y0, t0, times, doses, args...>.
/// Raises ShapeError, DomainError, and SolverError, as ode_solve, and where there are more events than max_events;
///   DerivativeError where an event function only touches zero, and for duals of variables with events unless f is recorded
///   (agrad::recorded): events move the times at which f is evaluated.
/// Source: Rozenvasser (1967), Automation and Remote Control 28:1006, for the jumps of sensitivities.
template <class Scalar, class DoseTime, class... Events, class F, class Y0, class T0, class Time = double, class... Args>
auto ode_solve_events(const step_options& options, ode_one_step_method method,
                      const std::vector<ode_dose<Scalar, DoseTime>>& doses, const std::tuple<Events...>& events,
                      const ode_events_options& event_options, const F& f, const Eigen::MatrixBase<Y0>& y0, const T0& t0,
                      const std::vector<Time>& times, const Args&... args) {
  const auto make = [options, method](const std::string& function, ode_system& system, ode_required required) {
    return make_one_step_solver(method, function, system, options, required);
  };
  const auto solve = [&](const auto&... all) {
    if constexpr (detail::hold_duals<Scalar, DoseTime, Y0, T0, Time, Args...>)
      return detail::solve_events<detail::functor_jacobians>("ode_solve_events", make, doses, events, event_options, f, all...);
    else
      return detail::solve_events<detail::functor_tangents>("ode_solve_events", make, doses, events, event_options, f, all...);
  };
  return solve(detail::stored_argument(y0.derived()), detail::stored_argument(t0), times, detail::stored_argument(args)...);
}

/// Does the same by CVODES and its adjoint method. The rates of infusions are parameters of the quadrature, too: a vector of
/// quadrature tolerances has an entry for each state with infusions, after the entries for args.
template <class Scalar, class DoseTime, class... Events, class F, class Y0, class T0, class Time = double, class... Args>
auto ode_solve_events(const ode_adjoint_options& options, const std::vector<ode_dose<Scalar, DoseTime>>& doses,
                      const std::tuple<Events...>& events, const ode_events_options& event_options, const F& f,
                      const Eigen::MatrixBase<Y0>& y0, const T0& t0, const std::vector<Time>& times, const Args&... args) {
  static_assert(!detail::hold_second_duals<Scalar, DoseTime, Y0, T0, Time, Args...>,
                "ode_solve_events with ode_adjoint_options has first derivatives only: a dual of variables cannot pass through "
                "it; one-step methods have second derivatives where f is recorded or there are no events");
  return detail::solve_events<detail::functor_tangents>("ode_solve_events", detail::cvodes_maker(options), doses, events,
                                                        event_options, f, detail::stored_argument(y0.derived()),
                                                        detail::stored_argument(t0), times, detail::stored_argument(args)...);
}

}  // namespace agrad
