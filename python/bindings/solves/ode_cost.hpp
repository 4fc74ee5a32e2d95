// The cost of a solve, as a dict, and the limits of its steps, as a dict of arrays.
#pragma once

#include <agrad/solve/solver/statistics.hpp>
#include <agrad/solve/solver/step_log.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cmath>
#include <vector>

namespace agrad::python {

inline pybind11::dict to_dict(const ode_pass_statistics& s) {
  pybind11::dict d;
  d["steps"] = s.steps;
  d["rhs_evaluations"] = s.rhs_evaluations;
  d["jacobian_evaluations"] = s.jacobian_evaluations;
  d["factorizations"] = s.factorizations;
  d["error_test_failures"] = s.error_test_failures;
  d["convergence_failures"] = s.convergence_failures;
  return d;
}

/// Returns the statistics of the forward pass, the time and the name of a method for stiff systems that took over, if any, and
/// a dict for each other pass.
inline pybind11::dict to_dict(const ode_statistics& s) {
  pybind11::dict d = to_dict(s.forward), backward = to_dict(s.backward), quadrature, sensitivities;
  if (!std::isnan(s.stiff_from)) d["stiff_from"] = s.stiff_from, d["stiff_method"] = s.stiff_method;
  if (!std::isnan(s.gradient_error)) d["gradient_error"] = s.gradient_error;
  d["held_by_derivatives"] = s.held_by_derivatives;
  d["checkpoints"] = s.checkpoints;
  backward["restarts"] = s.restarts;
  backward["recomputed_rhs_evaluations"] = s.recomputed_rhs_evaluations;
  quadrature["rhs_evaluations"] = s.quadrature.rhs_evaluations;
  quadrature["error_test_failures"] = s.quadrature.error_test_failures;
  sensitivities["rhs_evaluations"] = s.sensitivities.rhs_evaluations;
  sensitivities["error_test_failures"] = s.sensitivities.error_test_failures;
  sensitivities["convergence_failures"] = s.sensitivities.convergence_failures;
  d["backward"] = backward;
  d["quadrature"] = quadrature;
  d["sensitivities"] = sensitivities;
  return d;
}

/// Returns the array of get(row) for all entries of a table.
template <class Row, class Get>
auto column(const std::vector<Row>& rows, const Get& get) {
  using number = decltype(get(rows.front()));
  pybind11::array_t<number> all(static_cast<pybind11::ssize_t>(rows.size()));
  number* to = all.mutable_data();
  for (const Row& row : rows) *to++ = get(row);
  return all;
}

/// Returns the log of steps by columns, with the names of the members; rejected attempts have names "rejected_...".
inline pybind11::dict to_dict(const detail::step_log& log) {
  using step = detail::step_entry;
  using rejected = detail::rejected_entry;
  pybind11::dict d;
  d["t"] = column(log.steps, [](const step& row) { return row.t; });
  d["h"] = column(log.steps, [](const step& row) { return row.h; });
  d["error"] = column(log.steps, [](const step& row) { return row.error; });
  d["state"] = column(log.steps, [](const step& row) { return row.state; });
  d["size"] = column(log.steps, [](const step& row) { return row.size; });
  d["by_absolute"] = column(log.steps, [](const step& row) { return row.by_absolute; });
  d["damping"] = column(log.steps, [](const step& row) { return row.damping; });
  d["order"] = column(log.steps, [](const step& row) { return row.order; });
  d["is_stiff"] = column(log.steps, [](const step& row) { return row.is_stiff; });
  d["limit"] = column(log.steps, [](const step& row) { return static_cast<std::int32_t>(row.limit); });
  d["rejected_t"] = column(log.rejected, [](const rejected& row) { return row.t; });
  d["rejected_state"] = column(log.rejected, [](const rejected& row) { return row.state; });
  d["rejected_by_error"] = column(log.rejected, [](const rejected& row) { return row.by_error; });
  return d;
}

}  // namespace agrad::python
