// Bodies in Python: functions whose paths a Python object records, and the operations that run them, loops and searches.
//
// A body must not own its recorded Python function: the function's closure holds arrays of the recording with the operation, a
// reference cycle that no collector sees. So a body has a weak reference to its owner (python/agrad/_loops/body.py), and
// recordings and programs that may need a further path keep the owner in Python. Without the owner there are no further paths.
#include <agrad/functionals/search/quadrature_operation.hpp>
#include <agrad/functionals/search/search_operation.hpp>
#include <agrad/program/loops/scan.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <pybind11/stl.h>

#include "../arrays/apply.hpp"
#include "../arrays/array.hpp"
#include "../errors.hpp"
#include "../guarded_object.hpp"
#include "../python_call.hpp"
#include "pool.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

std::vector<double> to_vector(const doubles& x) { return {x.data(), x.data() + x.size()}; }

/// Makes a body whose further paths come from owner.record(local, captured): (program, new captured values), or None.
std::shared_ptr<body> make_body(std::string name, std::size_t inputs, const py::object& owner) {
  const auto known = std::make_shared<guarded_object>(py::weakref(owner));
  return std::make_shared<body>(std::move(name), inputs, [known, inputs](const double* local, std::vector<double>& captured) {
    const lock_held_in_run locked;
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
                                               bool checkpoint) {
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
  return std::make_shared<scan_operation>(std::move(of), std::move(loop));
}

std::shared_ptr<body_operation> make_root(std::shared_ptr<body> of, int method, double relative, double absolute,
                                          double residual, int max_steps) {
  const root_options options{relative, residual, max_steps, absolute};
  return std::make_shared<root_operation>(std::move(of), static_cast<detail::root_method>(method), options);
}

std::shared_ptr<body_operation> make_minimum(std::shared_ptr<body> of, double relative, double absolute, double deviations,
                                             int max_steps) {
  return std::make_shared<minimum_operation>(std::move(of), detail::minimum_options{relative, absolute, deviations, max_steps});
}

std::shared_ptr<body_operation> make_quadrature(const std::shared_ptr<body>& of, int method, std::size_t results,
                                                std::size_t points, double relative, double absolute, std::size_t limit,
                                                bool takes_distance, bool gives_nodes) {
  const quadrature_form form{
      static_cast<detail::quadrature_method>(method), results, points, relative, absolute, limit, takes_distance, gives_nodes};
  return std::make_shared<quadrature_operation>(of, form);
}

/// Returns places between the limits: one that is always inside, and the nodes of a rule over all of the interval.
std::vector<double> places_between(int method, double a, double b) {
  const detail::substitution map(static_cast<detail::quadrature_method>(method), a, b);
  const auto [low, high] = map.span();
  std::vector<double> places{map.inside().x};
  for (const detail::rule_node& node : detail::rule_nodes())
    places.push_back(map.place(low + (high - low) * (node.place + 1) / 2).x);
  return places;
}

/// Runs an operation over a body, without the interpreter lock. Returns the result as a vector if `required`, else None.
template <class Run>
py::object prepared(bool required, const Run& run) {
  const std::vector<double>* y = nullptr;
  {
    const lock_left unlocked;
    y = &run();
  }
  return required ? py::object(to_numpy(y->data(), y->size())) : py::none();
}

py::object prepare_scan(scan_operation& f, const doubles& carry, const doubles& xs, const doubles& captured, bool with_adjoint,
                        bool required) {
  const double *first = carry.data(), *entries = xs.data();
  std::vector<double> known = to_vector(captured);
  return prepared(
      required, [&]() -> auto& { return f.prepare(first, entries, std::move(known), with_adjoint); });
}

py::object prepare_body_operation(body_operation& f, const doubles& x, const doubles& captured, bool required) {
  const double* first = x.data();
  std::vector<double> known = to_vector(captured);
  return prepared(
      required, [&]() -> auto& { return f.prepare(first, std::move(known)); });
}

template <class Operation>
array record_prepared(const std::shared_ptr<Operation>& f, const array& x) {
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

void register_body(py::module_& m) {
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
      .def_property_readonly(
          "has_second_derivatives", [](const body& b) { return b.first_without_tangents(2) == nullptr; },
          "Whether all operations on the known paths have second derivatives.")
      .def("mark_converging", &body::mark_converging, "Says that further steps of the loop would change its results by little.")
      .def_property_readonly("count", &body::size);
  py::class_<scan_operation, std::shared_ptr<scan_operation>>(m, "ScanOperation", "A loop over a body.")
      .def(py::init(&make_operation), py::arg("body"), py::arg("length"), py::arg("carry"), py::arg("xs"), py::arg("ys"),
           py::arg("first"), py::arg("backwards"), py::arg("checkpoint"))
      .def("prepare", &prepare_scan, py::arg("carry"), py::arg("xs"), py::arg("captured"), py::arg("with_adjoint"),
           py::arg("required"),
           "Runs the loop; returns the last carry, and ys, if wanted. The run may make the body capture more values.")
      .def("record", &record_prepared<scan_operation>, py::arg("x"),
           "Records the prepared loop, of the carry, captured values and xs.");
  py::class_<body_operation, std::shared_ptr<body_operation>>(m, "BodyOperation", "A search or an integral over a body.")
      .def("prepare", &prepare_body_operation, py::arg("x"), py::arg("captured"), py::arg("required"),
           "Runs the operation; returns the result, if wanted. The run may make the body capture more values.")
      .def("record", &record_prepared<body_operation>, py::arg("x"),
           "Records the prepared operation, of its arguments and captured values.");
  m.def("root_operation", &make_root, py::arg("body"), py::arg("method"), py::arg("relative_tolerance"),
        py::arg("absolute_tolerance"), py::arg("residual_tolerance"), py::arg("max_steps"),
        "Returns the search of a root; method: 0 for Newton's, 1 for Powell's.");
  m.def("quadrature_operation", &make_quadrature, py::arg("body"), py::arg("method"), py::arg("results"), py::arg("points"),
        py::arg("relative_tolerance"), py::arg("absolute_tolerance"), py::arg("limit"), py::arg("takes_distance"),
        py::arg("gives_nodes"),
        "Returns the division of an interval; method: 0 for Gauss and Kronrod's rule, 1 for double "
        "exponential substitutions.");
  m.def(
      "places_between",
      [](int method, double a, double b) {
        const auto all = places_between(method, a, b);
        return to_numpy(all.data(), all.size());
      },
      py::arg("method"), py::arg("a"), py::arg("b"), "Returns places between the limits of an integral.");
  m.def("minimum_operation", &make_minimum, py::arg("body"), py::arg("relative_tolerance"), py::arg("absolute_tolerance"),
        py::arg("deviations"), py::arg("max_steps"),
        "Returns the search of a minimum of the body's value, or of value, gradient and Hessian that the body returns.");
}

}  // namespace agrad::python
