// Loops in Python: bodies, whose paths a Python object records, and the operation that runs bodies.
//
// A body must not own its recorded Python function: the function's closure holds arrays of the recording with the operation, a
// reference cycle that no collector sees. So a body has a weak reference to its owner (python/agrad/_loops/body.py), and
// recordings and programs that may need a further path keep the owner in Python. Without the owner there are no further paths.
#include <agrad/program/loops/scan.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <pybind11/stl.h>

#include "apply.hpp"
#include "array.hpp"
#include "errors.hpp"
#include "guarded_object.hpp"
#include "pool.hpp"
#include "python_call.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

std::vector<double> to_vector(const doubles& x) { return {x.data(), x.data() + x.size()}; }

/// Makes a body whose further paths come from owner.record(local, captured): (program, new captured values), or None.
std::shared_ptr<body> make_body(std::string name, std::size_t inputs, const py::object& owner) {
  const auto known = std::make_shared<guarded_object>(py::weakref(owner));
  return std::make_shared<body>(std::move(name), inputs, [known, inputs](const double* local, std::vector<double>& captured) {
    const lock_held locked;
    const py::object alive = known->get()();
    if (alive.is_none()) return body_path{};
    const auto given = py::make_tuple(to_numpy(local, inputs), to_numpy(captured.data(), captured.size()));
    const py::object result = calling_user([&] { return py::object(alive.attr("record")(*given)); });
    if (result.is_none()) return body_path{};
    const auto pair = result.cast<py::tuple>();
    const std::vector<double> added = to_vector(pair[1].cast<doubles>());
    captured.insert(captured.end(), added.begin(), added.end());
    return body_path{pair[0].cast<const pooled_program&>().code, captured.size()};
  });
}

std::shared_ptr<scan_operation> make_operation(std::shared_ptr<body> of, std::size_t length, std::size_t carry,
                                               const std::vector<std::pair<std::size_t, py::object>>& xs,
                                               std::vector<std::size_t> ys, std::optional<double> first, bool backwards,
                                               bool checkpoint, bool recovers) {
  scan_loop loop;
  loop.length = length;
  loop.carry = carry;
  for (const auto& [size, constants] : xs) {
    loop.xs.push_back({size, {}, !constants.is_none()});
    if (!constants.is_none()) loop.xs.back().constants = to_vector(constants.cast<doubles>());
  }
  loop.ys = std::move(ys);
  loop.counts = first.has_value();
  loop.first = first.value_or(0);
  loop.backwards = backwards;
  loop.checkpoint = checkpoint;
  loop.recovers = recovers;
  return std::make_shared<scan_operation>(std::move(of), std::move(loop));
}

/// Returns the result as a vector if `required`, else None.
py::object prepare_scan(scan_operation& f, const doubles& carry, const doubles& xs, const doubles& captured, bool with_adjoint,
                        bool required) {
  const double *first = carry.data(), *entries = xs.data();
  std::vector<double> known = to_vector(captured);
  const std::vector<double>* y = nullptr;
  {
    const lock_left unlocked;
    y = &f.prepare(first, entries, std::move(known), with_adjoint);
  }
  return required ? py::object(to_numpy(y->data(), y->size())) : py::none();
}

array record_scan(const std::shared_ptr<scan_operation>& f, const array& x) {
  check_open(std::string(f->name()).c_str(), *x.owner());
  if (x.size() != f->input_size())
    throw ShapeError(std::string(f->name()) + ": argument has another size than in prepare, but must have the same");
  return applied(f, x);
}

/// Makes a recording the recording of a further path, at the depth of the first path, with the captured arrays and their
/// values.
void become_body(const std::shared_ptr<recording>& r, const std::vector<array>& captured, const doubles& values,
                 std::size_t depth, bool stands_in) {
  r->is_body = true;
  r->depth = std::max(r->depth, depth);
  const double* from = values.data();
  for (const array& each : captured) {
    r->captured.push_back(each);
    r->captured_at.push_back(r->code.input(from, each.size()));
    from += each.size();
  }
  r->stands_in = stands_in;
  open_bodies().push_back(r);
}

}  // namespace

void register_scan(py::module_& m) {
  py::reinterpret_borrow<py::class_<recording, std::shared_ptr<recording>>>(m.attr("Recording"))
      .def("become_body", &become_body, py::arg("captured"), py::arg("values"), py::arg("depth"), py::arg("stands_in"),
           "Makes this the recording of a path of a body; with `stands_in` the recordings around the body have ended.")
      .def(
          "end_body",
          [](const std::shared_ptr<recording>& r) {
            auto& open = open_bodies();
            open.erase(std::remove(open.begin(), open.end(), r), open.end());
          },
          "Marks this body as closed.")
      .def_property_readonly("on_comparison", [](const recording& r) { return r.on_comparison; })
      .def_property_readonly("stores_adjoints", [](const recording& r) { return r.stores_adjoints; });
  py::class_<body, std::shared_ptr<body>>(m, "BodyPaths", "The recorded paths of a loop's body.")
      .def(py::init(&make_body), py::arg("name"), py::arg("inputs"), py::arg("owner"))
      .def(
          "add",
          [](body& b, const pooled_program& p) {
            b.add({p.code, p.code->input_size() - b.input_size()});
          },
          py::arg("program"))
      .def("mark_converging", &body::mark_converging, "Says that further steps of the loop would change its results by little.")
      .def_property_readonly("count", &body::size);
  py::class_<scan_operation, std::shared_ptr<scan_operation>>(m, "ScanOperation", "A loop over a body.")
      .def(py::init(&make_operation), py::arg("body"), py::arg("length"), py::arg("carry"), py::arg("xs"), py::arg("ys"),
           py::arg("first"), py::arg("backwards"), py::arg("checkpoint"), py::arg("recovers"))
      .def("prepare", &prepare_scan, py::arg("carry"), py::arg("xs"), py::arg("captured"), py::arg("with_adjoint"),
           py::arg("required"),
           "Runs the loop; returns the last carry, and ys, if wanted. The run may make the body capture more values.")
      .def("record", &record_scan, py::arg("x"), "Records the prepared loop, of the carry, captured values and xs.");
}

}  // namespace agrad::python
