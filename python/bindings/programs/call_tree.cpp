#include "call_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "../arrays/array.hpp"

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

constexpr int in_order = py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;

/// Returns whether an array's numbers are doubles of native byte order, side by side.
bool has_doubles_in_order(PyObject* array) {
  static const PyObject* const doubles_type = py::dtype::of<double>().release().ptr();  // a single object
  const auto* proxy = py::detail::array_proxy(array);
  return proxy->descr == doubles_type && (proxy->flags & in_order) == in_order;
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

bool read_array(const tree_node& node, PyObject* given, double* x, list_sources* parts) {
  if (Py_TYPE(given) != array_type()) return false;
  if (!has_shape(node, given)) return false;
  const auto* proxy = py::detail::array_proxy(given);
  if (proxy->descr != node.type.ptr() || (proxy->flags & in_order) != in_order) return read_converted(node, given, x);
  if (!has_doubles_in_order(given)) return read_integers(node, proxy->data, x);
  if (parts != nullptr && stays_in_place(node)) {
    parts->push_back({reinterpret_cast<const double*>(proxy->data), node.place, node.size});
    return true;
  }
  if (node.size != 0) std::memcpy(x + node.place, proxy->data, node.size * sizeof(double));
  return true;
}

bool read_children(const tree_node& node, PyObject* const* items, Py_ssize_t n, double* x, list_sources* parts) {
  if (n != static_cast<Py_ssize_t>(node.children.size())) return false;
  for (const tree_node& child : node.children)
    if (!read(child, *items++, x, parts)) return false;
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
bool read_dict(const tree_node& node, PyObject* given, double* x, list_sources* parts) {
  if (!PyDict_CheckExact(given) || PyDict_GET_SIZE(given) != static_cast<Py_ssize_t>(node.children.size())) return false;
  std::size_t i = 0;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(given, &place, &key, &item) != 0; ++i) {
    if (i == node.children.size()) return false;  // another thread added an item meanwhile
    if (!is_constant(PyTuple_GET_ITEM(node.constant.ptr(), static_cast<Py_ssize_t>(i)), key)) return false;
    if (!read(node.children[i], item, x, parts)) return false;
  }
  return i == node.children.size();
}

}  // namespace

bool read(const tree_node& node, PyObject* given, double* x, list_sources* parts) {
  switch (node.what) {
    case tree_node::kind::number:
      if (!PyFloat_Check(given)) return false;
      x[node.place] = PyFloat_AS_DOUBLE(given);
      return true;
    case tree_node::kind::array:
      return read_array(node, given, x, parts);
    case tree_node::kind::dict:
      return read_dict(node, given, x, parts);
    case tree_node::kind::list:
      return PyList_CheckExact(given) && read_children(node, PySequence_Fast_ITEMS(given), PyList_GET_SIZE(given), x, parts);
    case tree_node::kind::tuple:
      return PyTuple_CheckExact(given) && read_children(node, PySequence_Fast_ITEMS(given), PyTuple_GET_SIZE(given), x, parts);
    case tree_node::kind::constant:
      return is_constant(node.constant.ptr(), given);
  }
  return false;
}

py::object build(const tree_node& node, const double* from, result_arrays& written) {
  switch (node.what) {
    case tree_node::kind::number:
      return py::float_(from[node.place]);
    case tree_node::kind::array: {
      if (stays_in_place(node) && written.built < written.arrays.size()) return std::move(written.arrays[written.built++]);
      py::array_t<double> values(node.shape);
      if (node.size != 0) std::memcpy(values.mutable_data(), from + node.place, node.size * sizeof(double));
      return values;
    }
    case tree_node::kind::dict: {
      py::dict values;
      for (std::size_t i = 0; i < node.children.size(); ++i)
        values[PyTuple_GET_ITEM(node.constant.ptr(), static_cast<Py_ssize_t>(i))] = build(node.children[i], from, written);
      return values;
    }
    case tree_node::kind::list: {
      py::list values(node.children.size());
      for (std::size_t i = 0; i < node.children.size(); ++i) values[i] = build(node.children[i], from, written);
      return values;
    }
    case tree_node::kind::tuple: {
      py::tuple values(node.children.size());
      for (std::size_t i = 0; i < node.children.size(); ++i) values[i] = build(node.children[i], from, written);
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

void add_arrays(const tree_node& node, PyObject* earlier, result_arrays& to) {
  if (stays_in_place(node)) {
    py::array_t<double> array =
        earlier == nullptr ? py::array_t<double>(node.shape) : py::reinterpret_borrow<py::array_t<double>>(earlier);
    to.parts.push_back({array.mutable_data(), node.place, node.size});
    to.arrays.push_back(std::move(array));
  }
  for (std::size_t i = 0; i < node.children.size(); ++i)
    add_arrays(node.children[i], earlier == nullptr ? nullptr : child_of(node, earlier, i), to);
}

py::object rebuild(const tree_node& node, PyObject* earlier, const double* from, result_arrays& written) {
  if (node.what == tree_node::kind::number || node.what == tree_node::kind::constant) return build(node, from, written);
  if (node.what == tree_node::kind::array) {
    if (stays_in_place(node) && written.built < written.arrays.size()) return std::move(written.arrays[written.built++]);
    if (node.size != 0) std::memcpy(py::detail::array_proxy(earlier)->data, from + node.place, node.size * sizeof(double));
    return py::reinterpret_borrow<py::object>(earlier);
  }
  py::list children(node.children.size());
  for (std::size_t i = 0; i < node.children.size(); ++i)
    children[i] = rebuild(node.children[i], child_of(node, earlier, i), from, written);
  if (node.what == tree_node::kind::list) return std::move(children);
  if (node.what == tree_node::kind::tuple) return py::tuple(children);
  py::dict values;
  for (std::size_t i = 0; i < node.children.size(); ++i)
    values[PyTuple_GET_ITEM(node.constant.ptr(), static_cast<Py_ssize_t>(i))] = children[i];
  return std::move(values);
}

}  // namespace agrad::python
