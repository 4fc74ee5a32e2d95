// The Python class Array: operators, shape, indexing by integers, slots for everything that NumPy can do with indices.
// NumPy's protocols (__array_ufunc__, __array_function__) are attached in python/agrad/_array.py.
#include <pybind11/stl.h>

#include <algorithm>
#include <utility>

#include "array.hpp"
#include "errors.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

py::array_t<slot> slots_of(const array& a) {
  py::array_t<slot> slots(a.shape());
  slot* to = slots.mutable_data();
  for (std::size_t i = 0, n = a.size(); i < n; ++i) to[i] = a.at(i);
  return slots;
}

array with_slots(const array& a, const py::array_t<slot, py::array::c_style | py::array::forcecast>& slots) {
  check_open("array", *a.owner());
  const auto n = static_cast<std::size_t>(slots.size());
  std::vector<slot> list(slots.data(), slots.data() + n);
  const std::size_t limit = a.owner()->code.size();
  for (const slot s : list)
    if (s >= limit) throw py::index_error("with_slots: a slot is out of range");
  return array(a.owner(), shape_type(slots.shape(), slots.shape() + slots.ndim()), std::move(list));
}

py::array_t<double> values_of(const array& a) {
  py::array_t<double> values(a.shape());
  double* to = values.mutable_data();
  for (std::size_t i = 0, n = a.size(); i < n; ++i) to[i] = a.owner()->code.value(a.at(i));
  return values;
}

/// a[i] for an integer: a part of consecutive slots, without a detour through NumPy.
array element(const array& a, py::ssize_t i) {
  check_open("index", *a.owner());
  const shape_type& shape = a.shape();
  if (shape.empty()) throw py::index_error("index: a recorded number has no elements");
  if (i < -shape[0] || i >= shape[0]) {
    throw py::index_error("index: argument is " + std::to_string(i) + ", but must be in the range of a dimension of length " +
                          std::to_string(shape[0]));
  }
  if (i < 0) i += shape[0];
  shape_type rest(shape.begin() + 1, shape.end());
  const std::size_t n = size_of(rest), begin = static_cast<std::size_t>(i) * n;
  if (a.is_consecutive()) return array(a.owner(), std::move(rest), a.at(begin));
  std::vector<slot> slots(n);
  for (std::size_t k = 0; k < n; ++k) slots[k] = a.at(begin + k);
  return array(a.owner(), std::move(rest), std::move(slots));
}

bool any_recorded(const py::object& key) {
  if (!py::isinstance<py::tuple>(key)) return py::isinstance<array>(key);
  for (const py::handle each : key)
    if (py::isinstance<array>(each)) return true;
  return false;
}

py::object get_item(const array& a, const py::object& key) {
  if (PyLong_CheckExact(key.ptr())) return py::cast(element(a, PyLong_AsSsize_t(key.ptr())));
  if (any_recorded(key)) {
    throw py::type_error(
        "index: argument is a recorded value, but must be plain; choose between recorded values with np.where");
  }
  const py::array_t<slot> picked = py::array_t<slot>::ensure(slots_of(a)[key]);
  return py::cast(with_slots(a, picked));
}

bool truth(const array& a) {
  check_open("bool", *a.owner());
  if (a.size() != 1) {
    throw py::value_error("bool: argument is a recorded array of shape " + to_text(a.shape()) +
                          ", but must have one element; use np.all or np.any of plain values, or np.where");
  }
  recording& in = *a.owner();
  if (in.on_comparison == comparison::refuses) {
    throw py::type_error(in.function +
                         ": condition is a comparison of recorded values, but must be known when the function is recorded; "
                         "choose between values with np.where");
  }
  const bool holds = in.code.value(a.at(0)) != 0;
  if (in.on_comparison == comparison::guards) {
    in.code.guard(a.at(0));
    in.comparisons.add(holds);
  }
  return holds;
}

[[noreturn]] void refuse_number(const array&, const char* what) {
  throw py::type_error(std::string(what) +
                       ": argument is a recorded value, but must be a plain number, because a number has no derivative; use "
                       "NumPy's functions (np.exp, not math.exp)");
}

/// a operator b, or NotImplemented where b can be no operand, so that Python tries b's own.
py::object operate(const elementwise_row& row, const py::handle& a, const py::handle& b) {
  if (py::isinstance<py::str>(b) || b.is_none()) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  return py::cast(record_elementwise(row, py::args(py::make_tuple(a, b))));
}

/// x ** 2 is the product x x and x ** 0.5 the square root: the same value to the last bit or better, and much faster.
py::object power(const py::handle& a, const py::handle& b) {
  static const elementwise_row& multiply = elementwise_row_named("multiply");
  static const elementwise_row& pow = elementwise_row_named("pow");
  const bool is_two = (PyFloat_CheckExact(b.ptr()) && PyFloat_AS_DOUBLE(b.ptr()) == 2) ||
                      (PyLong_CheckExact(b.ptr()) && PyLong_AsDouble(b.ptr()) == 2);
  return is_two ? operate(multiply, a, a) : operate(pow, a, b);
}

void add_operators(py::class_<array>& type) {
  struct name_of_operator {
    const char *name, *reflected, *row;
  };
  static constexpr name_of_operator operators[] = {
      {"__add__", "__radd__", "add"},       {"__sub__", "__rsub__", "subtract"},
      {"__mul__", "__rmul__", "multiply"},  {"__truediv__", "__rtruediv__", "divide"},
      {"__mod__", "__rmod__", "mod"},       {"__lt__", nullptr, "less"},
      {"__le__", nullptr, "less_equal"},    {"__gt__", nullptr, "greater"},
      {"__ge__", nullptr, "greater_equal"}, {"__eq__", nullptr, "equal"},
      {"__ne__", nullptr, "not_equal"},
  };
  for (const name_of_operator& o : operators) {
    const elementwise_row& row = elementwise_row_named(o.row);
    type.def(
        o.name, [&row](const py::object& a, const py::object& b) { return operate(row, a, b); }, py::is_operator());
    if (o.reflected != nullptr)
      type.def(
          o.reflected, [&row](const py::object& a, const py::object& b) { return operate(row, b, a); }, py::is_operator());
  }
  const elementwise_row& pow = elementwise_row_named("pow");
  const elementwise_row& negative = elementwise_row_named("negative");
  const elementwise_row& abs = elementwise_row_named("abs");
  type.def(
          "__pow__", [](const py::object& a, const py::object& b) { return power(a, b); }, py::is_operator())
      .def(
          "__rpow__", [&pow](const py::object& a, const py::object& b) { return operate(pow, b, a); }, py::is_operator())
      .def("__neg__", [&negative](const py::object& a) { return record_elementwise(negative, py::args(py::make_tuple(a))); })
      .def("__abs__", [&abs](const py::object& a) { return record_elementwise(abs, py::args(py::make_tuple(a))); })
      .def("__pos__", [](const array& a) { return a; });
}

}  // namespace

void register_array(py::module_& m) {
  py::class_<array> type(m, "Array",
                         R"(A recorded array: stands for a float64 NumPy array while a function is recorded.

Made by agrad, not by hand: a function that agrad differentiates, compiles or solves is called with such arrays. NumPy's
operators, functions and ufuncs work on them and return new ones; they have no values of their own to read.)");
  type.attr("__module__") = "agrad";
  type.def_property_readonly(
          "shape", [](const array& a) { return py::tuple(py::cast(a.shape())); }, "The lengths of its dimensions.")
      .def_property_readonly(
          "ndim", [](const array& a) { return a.shape().size(); }, "The number of its dimensions.")
      .def_property_readonly("size", &array::size, "The number of its entries.")
      .def_property_readonly(
          "dtype", [](const array&) { return py::dtype::of<double>(); }, "Always float64.")
      .def_property_readonly("slots", &slots_of, "The places of its entries in the recording.")
      .def_property_readonly("recorded_values", &values_of, "What the entries were when they were recorded.")
      .def_property_readonly("recording", &array::owner)
      .def("with_slots", &with_slots, py::arg("slots"), "The array of those entries of the recording.")
      .def("__getitem__", &get_item)
      .def("__len__",
           [](const array& a) {
             if (a.shape().empty()) throw py::type_error("len: argument is a recorded number, but must have a dimension");
             return a.shape()[0];
           })
      .def("__bool__", &truth)
      .def("__float__", [](const array& a) { refuse_number(a, "float"); })
      .def("__int__", [](const array& a) { refuse_number(a, "int"); })
      .def("__index__", [](const array& a) { refuse_number(a, "index"); })
      .def("__complex__", [](const array& a) { refuse_number(a, "complex"); })
      .def("__repr__", [](const array& a) {
        return "<recorded array of shape " + to_text(a.shape()) + " in " + a.owner()->function + ">";
      });
  type.attr("__hash__") = py::none();
  add_operators(type);
}

}  // namespace agrad::python
