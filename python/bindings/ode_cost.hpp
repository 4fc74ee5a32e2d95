// What a solve cost, as a dict.
#pragma once

#include <agrad/solve/ode_statistics.hpp>

#include <pybind11/pybind11.h>

#include <cmath>

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

/// Of the forward pass, and where a method for stiff systems took over.
inline pybind11::dict to_dict(const ode_statistics& s) {
  pybind11::dict d = to_dict(s.forward);
  if (!std::isnan(s.stiff_from)) d["stiff_from"] = s.stiff_from;
  return d;
}

}  // namespace agrad::python
