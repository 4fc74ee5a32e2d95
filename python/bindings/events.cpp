// Doses and events in Python: solves a recorded right-hand side with both, as an operation of a recording or at once.
#include <agrad/solve/ode_adjoint.hpp>
#include <agrad/solve/record/event_operation.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apply.hpp"
#include "array.hpp"
#include "listener.hpp"
#include "ode_cost.hpp"
#include "ode_methods.hpp"
#include "pool.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Entries of a dose table: the state, and whether the dose is an infusion.
using dose_rows = std::vector<std::pair<Eigen::Index, bool>>;
/// Events: root, reset or None, direction, terminal.
using event_rows = std::vector<std::tuple<py::object, py::object, int, long>>;

std::shared_ptr<event_operation> make_events(const std::string& function, const pooled_program& f, Eigen::Index states,
                                             std::size_t times, const configured_method& method, const dose_rows& doses,
                                             std::size_t stops, const event_rows& events, long max_events, bool times_move,
                                             std::vector<std::size_t> hits, Eigen::Index reached, Eigen::Index counted,
                                             std::shared_ptr<solve_progress> progress) {
  event_plan plan;
  for (const auto& [state, is_infusion] : doses) plan.doses.push_back({state, is_infusion});
  plan.stops = stops, plan.max_events = max_events, plan.times_move = times_move;
  std::vector<event_programs> programs;
  for (const auto& [root, reset, direction, terminal] : events) {
    programs.push_back({root.cast<const pooled_program&>().code, nullptr});
    if (!reset.is_none()) programs.back().reset = reset.cast<const pooled_program&>().code;
    plan.events.push_back({direction, terminal});
  }
  return std::make_shared<event_operation>(function, f.code, states, times, method.make, std::move(plan), std::move(programs),
                                           event_counts{std::move(hits), reached, counted}, std::move(progress),
                                           method.same_steps);
}

/// Records the solve on the entries of x; returns all numbers of the solution, one after the other.
array record_events(const std::shared_ptr<const event_operation>& f, const array& x) { return applied(f, x); }

/// Solves at once; returns the states by columns, the number of output times reached, the end's time and state, whether an
/// event ended the solve, and the number of the event, the time and the state of each hit.
py::tuple solve_events(const event_operation& f, const doubles& x, bool differentiated) {
  const double* from = x.data();
  event_solution s;
  {
    const lock_left unlocked;
    s = f.solve(from, differentiated);
  }
  py::list hits;
  for (const event_hit& hit : s.hits) hits.append(py::make_tuple(hit.event, hit.t, hit.state));
  return py::make_tuple(s.states, s.reached, s.end, s.end_state, s.is_terminated, hits);
}

/// Returns the number of a right-hand side's comparisons of t alone, at which steps must end.
std::size_t count_time_switches(const pooled_program& f, std::size_t states) { return time_switches(*f.code, states).size(); }

}  // namespace

portable_kind event_kind() {
  return {event_operation::stored_kind, [](portable_reader& from) { return event_operation::read(from, read_maker); }};
}

void register_events(py::module_& m) {
  m.def("count_time_switches", &count_time_switches, py::arg("f"), py::arg("states"));
  py::class_<event_operation, std::shared_ptr<event_operation>>(
      m, "EventOperation", "The solve of a recorded right-hand side with doses and events.")
      .def(py::init(&make_events), py::arg("function"), py::arg("program"), py::arg("states"), py::arg("times"),
           py::arg("method"), py::arg("doses"), py::arg("stops"), py::arg("events"), py::arg("max_events"),
           py::arg("times_move"), py::arg("hits"), py::arg("reached"), py::arg("counted"), py::arg("progress") = py::none())
      .def("record", &record_events, py::arg("x"))
      .def("solve", &solve_events, py::arg("x"), py::arg("differentiated"))
      .def("statistics", [](const event_operation& f) { return to_dict(f.statistics()); })
      .def("set_active", &event_operation::set_active, py::arg("active"))
      .def("log_steps", &log_steps<event_operation>, py::arg("x"), py::arg("log"), py::arg("differentiated"))
      .def("expect_hits", &event_operation::expect_hits);
}

}  // namespace agrad::python
