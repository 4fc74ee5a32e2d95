// Errors in Python: agrad's exception types, and the messages about arguments that are wrong only in Python.
#pragma once

#include <pybind11/pybind11.h>

#include <agrad/base/error.hpp>
#include <string>

namespace agrad::python {

/// Registers ShapeError, DomainError, LinAlgError, PlaceError, ScopeError and SolverError.
void register_errors(pybind11::module_& m);

/// Returns whether the error says, by its attribute is_recoverable, that a caller may try another argument.
bool is_recoverable(const pybind11::error_already_set& error);

[[noreturn]] AGRAD_COLD inline void fail_type(const std::string& sentence) { throw pybind11::type_error(sentence); }

}  // namespace agrad::python
