#include "errors.hpp"

#include <agrad/base/typelist.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <exception>

#include "python_call.hpp"
#include "solves/minus_time.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

constexpr const char* solver_error_text = R"(A solver stopped before the end.

Attributes: t, the time of the stop; steps, the number of steps until then; code, the solver's name of the fault;
advice, what to try.)";

PyObject* make_solver_error(py::module_& m) {
  PyObject* type = PyErr_NewExceptionWithDoc("agrad.SolverError", solver_error_text, PyExc_RuntimeError, nullptr);
  m.add_object("SolverError", py::reinterpret_borrow<py::object>(type));
  return type;
}

constexpr const char* linalg_error_text = R"(A matrix is one for which an operation of linear algebra is not defined.

It is singular or not positive definite, for example, or does not have the digits that a derivative needs. This is also a
numpy.linalg.LinAlgError, so that code that catches NumPy's error works when it is recorded.)";

constexpr const char* place_error_text = R"(An index that each run of a program computes is out of range.

This is also an IndexError, as NumPy raises it.)";

PyObject* make_linalg_error(py::module_& m) {
  const auto bases = py::make_tuple(m.attr("DomainError"), py::module_::import("numpy.linalg").attr("LinAlgError"));
  PyObject* type = PyErr_NewExceptionWithDoc("agrad.LinAlgError", linalg_error_text, bases.ptr(), nullptr);
  if (type == nullptr) throw py::error_already_set();
  m.add_object("LinAlgError", py::reinterpret_borrow<py::object>(type));
  return type;
}

PyObject* make_place_error(py::module_& m) {
  const auto bases = py::make_tuple(m.attr("DomainError"), py::reinterpret_borrow<py::object>(PyExc_IndexError));
  PyObject* type = PyErr_NewExceptionWithDoc("agrad.PlaceError", place_error_text, bases.ptr(), nullptr);
  if (type == nullptr) throw py::error_already_set();
  m.add_object("PlaceError", py::reinterpret_borrow<py::object>(type));
  return type;
}

/// Returns the number of errors of values that this thread has raised in Python. A recording compares it before and after, and
/// so finds errors that the recorded function has caught.
long& raised_errors() {
  thread_local long count = 0;
  return count;
}

/// Raises an error of a solver in s = -t with times t; passes all other errors on to the translators registered before.
template <class Error>
void raise_in_time(const Error& error, py::handle type) {
  if (!is_in_minus_time(error.what())) throw;
  PyErr_SetString(type.ptr(), in_time(error.what()).c_str());
}

void raise_solver_error(const SolverError& e, PyObject* type) {
  const bool turn = is_in_minus_time(e.what());
  const py::object error =
      py::reinterpret_steal<py::object>(PyObject_CallFunction(type, "s", turn ? in_time(e.what()).c_str() : e.what()));
  error.attr("t") = turn ? in_time(e.t) : e.t;
  error.attr("steps") = e.steps;
  error.attr("code") = e.code;
  error.attr("advice") = turn ? turned_text(e.advice) : e.advice;
  PyErr_SetObject(type, error.ptr());
}

}  // namespace

void register_errors(py::module_& m) {
  const auto named = [&](auto exception, const char* name, PyObject* base, const char* text) {
    using Error = typename decltype(exception)::type;
    const auto type = py::register_exception<Error>(m, name, base);
    type.attr("__doc__") = text;
    type.attr("__module__") = "agrad";
  };
  named(type_tag<ShapeError>{}, "ShapeError", PyExc_ValueError, "Sizes or shapes of arguments do not fit together.");
  named(type_tag<DomainError>{}, "DomainError", PyExc_ValueError,
        "An argument's value is outside of the set on which the function is defined.");
  named(type_tag<ScopeError>{}, "ScopeError", PyExc_RuntimeError, "A recorded value was used outside of its recording.");

  static PyObject* solver_error = make_solver_error(m);
  static PyObject* linalg_error = make_linalg_error(m);
  static PyObject* place_error = make_place_error(m);
  for (const char* name : {"DomainError", "SolverError"}) m.attr(name).attr("is_recoverable") = true;
  static const py::handle shape_error = m.attr("ShapeError"), domain_error = m.attr("DomainError");  // kept by the module
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const DerivativeError& e) {
      PyErr_SetString(PyExc_NotImplementedError, in_time(e.what()).c_str());
    } catch (const SolverError& e) {
      ++raised_errors();
      raise_solver_error(e, solver_error);
    } catch (const ShapeError& e) {
      raise_in_time(e, shape_error);
    } catch (const recoverable_error& e) {
      ++raised_errors();
      e.restore();
    } catch (const LinAlgError& e) {
      ++raised_errors();
      PyErr_SetString(linalg_error, in_time(e.what()).c_str());
    } catch (const PlaceError& e) {
      ++raised_errors();
      PyErr_SetString(place_error, in_time(e.what()).c_str());
    } catch (const DomainError& e) {
      ++raised_errors();
      raise_in_time(e, domain_error);
    }
  });
  m.def(
      "raised_errors", [] { return raised_errors(); }, "The number of errors of values that this thread has raised.");
  m.def(
      "set_raised_errors", [](long count) { raised_errors() = count; }, py::arg("count"), "Forgets later errors.");
}

bool is_recoverable(const py::error_already_set& error) {
  const lock_held locked;
  return PyObject_IsTrue(py::getattr(error.value(), "is_recoverable", py::bool_(false)).ptr()) == 1;
}

}  // namespace agrad::python
