#include "source.hpp"

#include <string>

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Returns whether a module of this name is between the user's code and an operation.
bool is_between(const std::string& module) {
  for (const char* package : {"agrad", "numpy", "scipy", "optree", "contextlib", "functools"}) {
    const std::string name(package);
    if (module.compare(0, name.size(), name) == 0 && (module.size() == name.size() || module[name.size()] == '.')) return true;
  }
  return false;
}

bool is_users(PyFrameObject* frame) {
  const py::object globals = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(frame)).attr("f_globals");
  PyObject* name = PyDict_GetItemString(globals.ptr(), "__name__");
  return name == nullptr || !PyUnicode_Check(name) || !is_between(py::reinterpret_borrow<py::str>(name));
}

}  // namespace

py::object source_place::file() const { return code ? py::object(code.attr("co_filename")) : py::object(py::none()); }

source_place user_place() {
  py::object frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame) {
    auto* at = reinterpret_cast<PyFrameObject*>(frame.ptr());
    if (is_users(at)) {
      return {py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(at))), PyFrame_GetLineNumber(at)};
    }
    frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  return {};
}

void comparison_lines::add(bool outcome) {
  const source_place place = user_place();
  for (tally& each : lines_) {
    if (each.place.line != place.line || !each.place.code.is(place.code)) continue;
    ++each.count[outcome ? 1 : 0];
    return;
  }
  lines_.push_back({place, {outcome ? 0U : 1U, outcome ? 1U : 0U}});
}

py::list comparison_lines::tallies() const {
  py::list all;
  for (const tally& each : lines_) all.append(py::make_tuple(each.place.file(), each.place.line, each.count[1], each.count[0]));
  return all;
}

}  // namespace agrad::python
