#include "call.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <agrad/program/machine/second_order.hpp>

#include "array.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

tree_node node_of(const py::tuple& description) {
  const auto name = description[0].cast<std::string>();
  tree_node node;
  const auto add_children = [&](const py::handle& children) {
    for (const py::handle child : children) node.children.push_back(node_of(py::reinterpret_borrow<py::tuple>(child)));
  };
  if (name == "number" || name == "array") {
    node.what = name == "number" ? tree_node::kind::number : tree_node::kind::array;
    node.place = description[1].cast<std::size_t>();
    node.size = 1;
    if (name == "array")
      for (const py::handle length : description[2]) node.shape.push_back(length.cast<py::ssize_t>());
    if (description.size() == 4) node.type = description[3].cast<py::dtype>();
    for (const py::ssize_t length : node.shape) node.size *= static_cast<std::size_t>(length);
  } else if (name == "constant") {
    node.constant = description[1];
  } else if (name == "dict") {
    node.what = tree_node::kind::dict;
    node.constant = py::tuple(description[1]);
    add_children(description[2]);
  } else {
    node.what = name == "list" ? tree_node::kind::list : tree_node::kind::tuple;
    add_children(description[1]);
  }
  return node;
}

namespace {

PyTypeObject* array_type() {
  static PyTypeObject* const type = [] {
    const py::object found = py::module_::import("numpy").attr("ndarray");
    return reinterpret_cast<PyTypeObject*>(py::object(found).release().ptr());  // never released
  }();
  return type;
}

bool has_shape(const tree_node& node, PyObject* given) {
  const auto* proxy = py::detail::array_proxy(given);
  return proxy->nd == static_cast<int>(node.shape.size()) &&
         std::equal(node.shape.begin(), node.shape.end(), proxy->dimensions);
}

/// Returns whether numbers are in the range of integers that are inputs.
bool are_small(const double* x, std::size_t n) {
  return std::all_of(x, x + n, [](double each) { return std::abs(each) <= static_cast<double>(largest_whole); });
}

/// Copies floating-point numbers of other sizes, orders and strides; of integers and booleans the plan's type is required.
bool read_converted(const tree_node& node, PyObject* given, double* x) {
  const auto from = py::reinterpret_borrow<py::array>(given);
  const bool is_real = node.type.kind() == 'f';
  if (is_real ? from.dtype().kind() != 'f' : from.dtype().num() != node.type.num()) return false;
  const auto values = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(from);
  if (!values) return PyErr_Clear(), false;
  std::copy_n(values.data(), node.size, x + node.place);
  return is_real || are_small(x + node.place, node.size);
}

template <class T>
void copy_integers(const char* data, std::size_t n, double* x) {
  const T* from = reinterpret_cast<const T*>(data);
  std::transform(from, from + n, x, [](T each) { return static_cast<double>(each); });
}
template <class Signed>
void copy_integers(bool is_signed, const char* data, std::size_t n, double* x) {
  is_signed ? copy_integers<Signed>(data, n, x) : copy_integers<std::make_unsigned_t<Signed>>(data, n, x);
}

/// Copies integers or booleans of the plan's type that lie side by side.
bool read_integers(const tree_node& node, const char* data, double* x) {
  double* to = x + node.place;
  const bool is_signed = node.type.kind() == 'i';
  const auto size = static_cast<std::size_t>(node.type.itemsize());
  if (size == 1) copy_integers<std::int8_t>(is_signed, data, node.size, to);  // booleans are bytes, too
  if (size == 2) copy_integers<std::int16_t>(is_signed, data, node.size, to);
  if (size == 4) copy_integers<std::int32_t>(is_signed, data, node.size, to);
  if (size == 8) copy_integers<std::int64_t>(is_signed, data, node.size, to);
  return size < 8 || are_small(to, node.size);
}

bool read_array(const tree_node& node, PyObject* given, double* x) {
  if (Py_TYPE(given) != array_type()) return false;
  if (!has_shape(node, given)) return false;
  const auto* proxy = py::detail::array_proxy(given);
  constexpr int needed = py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  static const PyObject* const doubles_type = py::dtype::of<double>().release().ptr();  // a single object, of native byte order
  if (proxy->descr != node.type.ptr() || (proxy->flags & needed) != needed) return read_converted(node, given, x);
  if (proxy->descr != doubles_type) return read_integers(node, proxy->data, x);
  if (node.size != 0) std::memcpy(x + node.place, proxy->data, node.size * sizeof(double));
  return true;
}

bool read_children(const tree_node& node, PyObject* const* items, Py_ssize_t n, double* x) {
  if (n != static_cast<Py_ssize_t>(node.children.size())) return false;
  for (const tree_node& child : node.children)
    if (!read(child, *items++, x)) return false;
  return true;
}

/// Returns whether an object is the constant or an equal object, of an immutable type.
bool is_constant(PyObject* constant, PyObject* given) {
  if (given == constant)
    return PyUnicode_CheckExact(given) || PyLong_CheckExact(given) || PyBool_Check(given) || given == Py_None;
  if (Py_TYPE(given) != Py_TYPE(constant) || !(PyUnicode_CheckExact(given) || PyLong_CheckExact(given))) return false;
  const int equal = PyObject_RichCompareBool(given, constant, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

/// Reads a dict with the keys of the plan in the plan's order: the function may depend on the order, which is in the signature.
bool read_dict(const tree_node& node, PyObject* given, double* x) {
  if (!PyDict_CheckExact(given) || PyDict_GET_SIZE(given) != static_cast<Py_ssize_t>(node.children.size())) return false;
  std::size_t i = 0;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(given, &place, &key, &item) != 0; ++i) {
    if (i == node.children.size()) return false;  // another thread added an item meanwhile
    if (!is_constant(PyTuple_GET_ITEM(node.constant.ptr(), static_cast<Py_ssize_t>(i)), key)) return false;
    if (!read(node.children[i], item, x)) return false;
  }
  return i == node.children.size();
}

}  // namespace

bool read(const tree_node& node, PyObject* given, double* x) {
  switch (node.what) {
    case tree_node::kind::number:
      if (!PyFloat_Check(given)) return false;
      x[node.place] = PyFloat_AS_DOUBLE(given);
      return true;
    case tree_node::kind::array:
      return read_array(node, given, x);
    case tree_node::kind::dict:
      return read_dict(node, given, x);
    case tree_node::kind::list:
      return PyList_CheckExact(given) && read_children(node, PySequence_Fast_ITEMS(given), PyList_GET_SIZE(given), x);
    case tree_node::kind::tuple:
      return PyTuple_CheckExact(given) && read_children(node, PySequence_Fast_ITEMS(given), PyTuple_GET_SIZE(given), x);
    case tree_node::kind::constant:
      return is_constant(node.constant.ptr(), given);
  }
  return false;
}

py::object build(const tree_node& node, const double* from) {
  switch (node.what) {
    case tree_node::kind::number:
      return py::float_(from[node.place]);
    case tree_node::kind::array: {
      py::array_t<double> values(node.shape);
      if (node.size != 0) std::memcpy(values.mutable_data(), from + node.place, node.size * sizeof(double));
      return values;
    }
    case tree_node::kind::dict: {
      py::dict values;
      for (std::size_t i = 0; i < node.children.size(); ++i)
        values[PyTuple_GET_ITEM(node.constant.ptr(), static_cast<Py_ssize_t>(i))] = build(node.children[i], from);
      return values;
    }
    case tree_node::kind::list: {
      py::list values(node.children.size());
      for (std::size_t i = 0; i < node.children.size(); ++i) values[i] = build(node.children[i], from);
      return values;
    }
    case tree_node::kind::tuple: {
      py::tuple values(node.children.size());
      for (std::size_t i = 0; i < node.children.size(); ++i) values[i] = build(node.children[i], from);
      return values;
    }
    case tree_node::kind::constant:
      return node.constant;
  }
  return py::none();
}

namespace {

/// Returns the child of a list, a tuple or a dict that belongs to a node.
PyObject* child_of(const tree_node& node, PyObject* of, std::size_t i) {
  const auto place = static_cast<Py_ssize_t>(i);
  if (node.what == tree_node::kind::list) return PyList_GET_ITEM(of, place);
  if (node.what == tree_node::kind::tuple) return PyTuple_GET_ITEM(of, place);
  return PyDict_GetItem(of, PyTuple_GET_ITEM(node.constant.ptr(), place));
}

}  // namespace

py::object rebuild(const tree_node& node, PyObject* earlier, const double* from) {
  if (node.what == tree_node::kind::number || node.what == tree_node::kind::constant) return build(node, from);
  if (node.what == tree_node::kind::array) {
    if (node.size != 0) std::memcpy(py::detail::array_proxy(earlier)->data, from + node.place, node.size * sizeof(double));
    return py::reinterpret_borrow<py::object>(earlier);
  }
  py::list children(node.children.size());
  for (std::size_t i = 0; i < node.children.size(); ++i)
    children[i] = rebuild(node.children[i], child_of(node, earlier, i), from);
  if (node.what == tree_node::kind::list) return std::move(children);
  if (node.what == tree_node::kind::tuple) return py::tuple(children);
  py::dict values;
  for (std::size_t i = 0; i < node.children.size(); ++i)
    values[PyTuple_GET_ITEM(node.constant.ptr(), static_cast<Py_ssize_t>(i))] = children[i];
  return std::move(values);
}

namespace {

/// Numbers on the stack, or on the heap if there are many.
class room {
 public:
  explicit room(std::size_t n) : many_(n > few_.size() ? n : 0) {}
  double* data() { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<double, 64> few_;
  std::vector<double> many_;
};

/// Returns whether a program is short, so that its run ends before another thread could have been woken.
bool is_short(const program& f) { return f.size() < 256 && f.code().externals.empty(); }

template <class Call>
bool runs_through(const program& f, const Call& call) {
  if (!is_short(f)) return on_path(call);
  try {
    call();
  } catch (const kernels::path_left&) {
    return false;
  }
  return true;
}

}  // namespace

py::object call_plan::run(const path& p, const double* x, PyObject* earlier) const {
  const auto result_of = [&](PyObject* of, const double* from) {
    return of == nullptr ? build(p.result, from) : rebuild(p.result, of, from);
  };
  const program& f = *p.program->code;
  room y(f.output_size());
  if (what_ == result_kind::values) {
    const bool done = runs_through(f, [&] {
      const auto w = p.program->workspaces.acquire();
      f.forward(*w, x, y.data(), false);
    });
    return done ? result_of(earlier, y.data()) : py::object();
  }
  room back(inputs_);
  const bool done = runs_through(f, [&] {
    const auto w = p.program->workspaces.acquire();
    const double one = 1;
    {
      const second_ahead ahead(what_ == result_kind::hessian_product);
      f.forward(*w, x, y.data(), true);
    }
    if (what_ != result_kind::hessian_product) return f.reverse(*w, &one, back.data());
    room gradient(inputs_);
    f.tangent<1>(*w, x + inputs_, y.data());
    f.second<1>(*w, &one, gradient.data(), back.data());
  });
  if (!done) return {};
  if (what_ != result_kind::value_and_gradient) return result_of(earlier, back.data());
  py::object gradient = result_of(earlier == nullptr ? nullptr : PyTuple_GET_ITEM(earlier, 1), back.data());
  return py::make_tuple(py::float_(*y.data()), std::move(gradient));
}

py::object call_plan::call(PyObject* arguments, PyObject* earlier) const {
  room x(numbers());
  std::fill(x.data() + inputs_, x.data() + numbers(), 0.0);  // for inputs without an entry in the vector
  if (!read(arguments_, arguments, x.data())) return {};
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const std::shared_ptr<const path> each = paths_[i];  // another thread may add to the list meanwhile
    if (py::object result = run(*each, x.data(), earlier)) return result;
  }
  return {};
}

namespace {

/// The plans of a compiled function.
class known_calls {
 public:
  void add(std::shared_ptr<call_plan> plan) { plans_.push_back(std::move(plan)); }
  void remove(const std::shared_ptr<call_plan>& plan) {
    plans_.erase(std::remove(plans_.begin(), plans_.end(), plan), plans_.end());
  }

  py::object call(const py::tuple& arguments) const {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const std::shared_ptr<call_plan> plan = plans_[i];  // another thread may change the list meanwhile
      if (py::object result = plan->call(arguments.ptr())) {
        plan->used();
        return result;
      }
    }
    return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  }

  /// Returns the plan that fits, and its first result.
  std::pair<std::shared_ptr<call_plan>, py::object> find(const py::tuple& arguments) const {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const std::shared_ptr<call_plan> plan = plans_[i];  // another thread may add to the list meanwhile
      if (py::object result = plan->call(arguments.ptr())) return {plan, std::move(result)};
    }
    throw py::value_error("bind: arguments fit no plan of the compiled function");
  }

 private:
  std::vector<std::shared_ptr<call_plan>> plans_;
};

/// Repeated calls with the same arguments, into the same arrays.
class bound_call {
 public:
  bound_call(const known_calls& of, py::tuple arguments, py::object otherwise)
      : arguments_(std::move(arguments)), otherwise_(std::move(otherwise)) {
    std::tie(plan_, result_) = of.find(arguments_);
  }

  py::object call() {
    py::object result = first_try();
    if (!result) {
      const py::object unstored = otherwise_();  // records the path of the present values, or raises their error
      if (!unstored.is_none()) return unstored;
      result = plan_->call(arguments_.ptr(), result_.ptr());
      if (!result)
        throw py::value_error("bind: an argument has another shape than at the call of bind, but must have the same");
    }
    return result;
  }

 private:
  py::object first_try() {
    try {
      return plan_->call(arguments_.ptr(), result_.ptr());
    } catch (const DomainError&) {
      otherwise_();  // raises the error with its line
      throw;
    }
  }

  std::shared_ptr<call_plan> plan_;
  py::tuple arguments_;
  py::object otherwise_, result_;
};

}  // namespace

void register_call(py::module_& m) {
  m.attr("LARGEST_WHOLE") = largest_whole;
  py::enum_<result_kind>(m, "ResultKind", "The form of the result of a compiled call.")
      .value("values", result_kind::values)
      .value("value_and_gradient", result_kind::value_and_gradient)
      .value("gradient", result_kind::gradient)
      .value("hessian_product", result_kind::hessian_product);
  py::class_<call_plan, std::shared_ptr<call_plan>>(
      m, "CallPlan", "The arguments, program and result of one signature of a compiled function.")
      .def(py::init<const py::tuple&, result_kind, std::size_t>(), py::arg("arguments"), py::arg("what"), py::arg("inputs"))
      .def("add_path", &call_plan::add_path, py::arg("program"), py::arg("result"))
      .def("used", &call_plan::used, "Marks the plan as used now.")
      .def_property_readonly("last_used", &call_plan::last_used, "A number that increases with each use of any plan.");
  py::class_<bound_call>(m, "BoundCall", "A compiled function with its arguments.")
      .def("__call__", &bound_call::call, "The result, in the same arrays at every call.");
  py::class_<known_calls>(m, "KnownCalls", "The plans of a compiled function.")
      .def(py::init<>())
      .def("add", &known_calls::add)
      .def("remove", &known_calls::remove, py::arg("plan"))
      .def(
          "bind",
          [](const known_calls& known, py::tuple arguments, py::object otherwise) {
            return std::make_unique<bound_call>(known, std::move(arguments), std::move(otherwise));
          },
          py::arg("arguments"), py::arg("otherwise"),
          "A call with these arguments; raises ValueError where no plan fits. `otherwise` is called where no path holds, and "
          "returns the result of a path that is not stored, or None.")
      .def("__call__", &known_calls::call, "The result for a tuple of arguments, or NotImplemented.");
}

}  // namespace agrad::python
