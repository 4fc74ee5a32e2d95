// Doses and events in Python: solves a recorded right-hand side with both, as an operation of a recording or at once.
#include <agrad/solve/ode_adjoint.hpp>
#include <agrad/solve/record/event_problem.hpp>
#include <agrad/solve/record/solve_operation.hpp>
#include <agrad/solve/system/jumps/unrolled_loops.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../programs/pool.hpp"
#include "../programs/run.hpp"
#include "listener.hpp"
#include "ode_cost.hpp"
#include "ode_methods.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Entries of a dose table: the state, whether the dose is an infusion, and what it does.
using dose_rows = std::vector<std::tuple<Eigen::Index, bool, dose_kind>>;
/// Events: root, reset or None, delay or None, direction, terminal, firing.
using event_rows = std::vector<std::tuple<py::object, py::object, py::object, int, long, event_firing>>;

/// active: as for an ODE operation.
std::shared_ptr<solve_operation> make_events(const std::string& function, const pooled_program& f, Eigen::Index states,
                                             std::size_t times, const configured_method& method, const dose_rows& doses,
                                             std::size_t stops, const event_rows& events, long max_events, bool times_move,
                                             bool of_state, std::vector<std::size_t> hits, Eigen::Index reached,
                                             Eigen::Index counted, bool holds, std::vector<std::size_t> before,
                                             std::vector<bool> active, std::shared_ptr<solve_progress> progress) {
  event_plan plan;
  for (const auto& [state, is_infusion, kind] : doses) plan.doses.push_back({state, is_infusion, kind});
  plan.stops = stops, plan.max_events = max_events, plan.times_move = times_move;
  plan.state_moves = of_state || method.same_steps;
  plan.before = std::move(before);
  std::vector<event_programs> programs;
  const auto code = [](const py::object& of) { return of.is_none() ? nullptr : of.cast<const pooled_program&>().code; };
  for (const auto& [root, reset, delay, direction, terminal, firing] : events) {
    programs.push_back({code(root), code(reset), code(delay)});
    plan.events.push_back({direction, terminal, firing});
  }
  event_counts counts{std::move(hits), reached, counted};
  event_problem::fields fields{
      {function, f.code, states, times, std::move(active)}, std::move(plan), std::move(programs), std::move(counts), holds};
  return std::make_shared<solve_operation>(std::make_shared<const event_problem>(std::move(fields), method.make),
                                           std::move(progress), method.same_steps);
}

/// Solves at once; returns the states by columns, the number of output times reached, the end's time and state, whether an
/// event ended the solve, the number of the event, the time and the state of each hit, and the states before doses by columns.
py::tuple solve_events(const solve_operation& f, const doubles& x, bool differentiated) {
  const double* from = x.data();
  std::unique_ptr<posed_solve> solved;
  {
    const lock_left unlocked;
    solved = f.solve(from, differentiated);
  }
  const auto& all = dynamic_cast<const posed_events&>(*solved);
  const event_solution& s = all.solution();
  py::list hits;
  for (const event_hit& hit : s.hits)
    if (all.is_own(hit)) hits.append(py::make_tuple(hit.event, hit.t, hit.state));
  return py::make_tuple(s.states, s.reached, s.end, s.end_state, s.is_terminated, hits, s.before);
}

/// Returns the number of a right-hand side's comparisons at which steps must end: of t alone and, where `holds`, of states.
std::size_t count_switches(const pooled_program& f, std::size_t states, bool holds) {
  return time_switches(*f.code, states).size() + (holds ? held_code_of(*f.code, states).entries.size() : 0);
}

/// Returns a right-hand side with the loops that jump written out, and the names of those that stay loops with the reasons.
py::tuple unroll_loops(const std::shared_ptr<pooled_program>& f, std::size_t states) {
  const unrolled_loops found = with_unrolled_loops(f->code, states);
  py::list hidden;
  for (const unrolled_loops::left& each : found.hidden) hidden.append(py::make_tuple(each.loop, each.reason));
  return py::make_tuple(found.f == f->code ? f : std::make_shared<pooled_program>(found.f), hidden);
}

}  // namespace

portable_kind event_kind() {
  return {event_problem::stored_kind,
          [](portable_reader& from) { return solve_operation::read<event_problem>(from, read_maker); }};
}

void register_events(py::module_& m) {
  m.def("count_switches", &count_switches, py::arg("f"), py::arg("states"), py::arg("holds"));
  m.def("unroll_loops", &unroll_loops, py::arg("f"), py::arg("states"),
        "Returns a right-hand side with loops that jump written out, and those that stay: their names and the reasons.");
  py::enum_<dose_kind>(m, "DoseKind", "What a dose at once does with its amount.")
      .value("add", dose_kind::add)
      .value("set", dose_kind::set)
      .value("scale", dose_kind::scale);
  py::class_<event_firing>(m, "EventFiring", "When an event happens, and which state its reset sees.")
      .def(py::init([](bool is_condition, bool initially, double priority, bool is_persistent, bool sees_trigger,
                       std::vector<bool> kept) {
             return event_firing{is_condition, initially, priority, is_persistent, sees_trigger, std::move(kept)};
           }),
           py::arg("is_condition"), py::arg("initially"), py::arg("priority"), py::arg("is_persistent"),
           py::arg("sees_trigger"), py::arg("kept"));
  m.def("event_operation", &make_events, py::arg("function"), py::arg("program"), py::arg("states"), py::arg("times"),
        py::arg("method"), py::arg("doses"), py::arg("stops"), py::arg("events"), py::arg("max_events"), py::arg("times_move"),
        py::arg("of_state"), py::arg("hits"), py::arg("reached"), py::arg("counted"), py::arg("holds"),
        py::arg("before") = std::vector<std::size_t>(), py::arg("active") = std::vector<bool>(),
        py::arg("progress") = py::none(), "Returns the solve of a recorded right-hand side with doses and events.");
  m.def("solve_events", &solve_events, py::arg("operation"), py::arg("x"), py::arg("differentiated"),
        "Solves at once, with any number of hits; returns the parts of the solution.");
}

}  // namespace agrad::python
