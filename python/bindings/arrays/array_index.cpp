// Reading and writing parts of recorded arrays: a[key], a[key] = v, a += v.
//
// An array that NumPy would make a view stores its base and key, so that writing into the view (row = a[0]; row += 1, which
// equals a[0] += 1) also changes the base; an array stores its live views, which are updated when the array is written into.
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "../errors.hpp"
#include "array.hpp"
#include "array_class.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Returns a[i] for an integer: consecutive slots, without NumPy.
array element(const array& a, py::ssize_t i) {
  check_open("index", *a.owner());
  const shape_type& shape = a.shape();
  if (shape.empty()) throw py::index_error("index: argument is a recorded number, but must have a dimension");
  if (i < -shape[0] || i >= shape[0]) {
    throw py::index_error("index: argument is " + std::to_string(i) + ", but must be in the range of a dimension of length " +
                          std::to_string(shape[0]));
  }
  if (i < 0) i += shape[0];
  shape_type rest(shape.begin() + 1, shape.end());
  const std::size_t n = size_of(rest), begin = static_cast<std::size_t>(i) * n;
  if (a.is_consecutive()) return array(a.owner(), std::move(rest), a.at(begin)).mark_as(a);
  std::vector<slot> slots(n);
  for (std::size_t k = 0; k < n; ++k) slots[k] = a.at(begin + k);
  return array(a.owner(), std::move(rest), std::move(slots)).mark_as(a);
}

// ---- keys --------------------------------------------------------------------------------------------------------------

bool any_recorded(const py::object& key) {
  if (!py::isinstance<py::tuple>(key)) return py::isinstance<array>(key);
  for (const py::handle each : key)
    if (py::isinstance<array>(each)) return true;
  return false;
}

bool any_data(const py::object& key) {
  const auto holds = [](const py::handle& x) { return py::isinstance<array>(x) && x.cast<const array&>().is_data(); };
  if (!py::isinstance<py::tuple>(key)) return holds(key);
  const auto parts = py::reinterpret_borrow<py::tuple>(key);
  return std::any_of(parts.begin(), parts.end(), holds);
}

/// Returns a recorded comparison as a plain mask with its values in this recording; only if no run with other values follows.
py::object plain_mask(const py::handle& key) {
  if (!py::isinstance<array>(key)) return py::reinterpret_borrow<py::object>(key);
  const auto& mask = key.cast<const array&>();
  if (mask.is_data()) return read(mask);
  if (!mask.is_condition()) {
    throw py::type_error(
        "index: argument is a recorded value, but must be plain; choose between recorded values with np.where");
  }
  if (mask.owner()->on_comparison != comparison::answers) {
    throw py::type_error(mask.owner()->function +
                         ": index is a comparison of recorded values, but must be known when the function is recorded, because "
                         "the index determines the shape; write np.where(mask, x, 0.0), or x[mask] = v for a number v");
  }
  py::array_t<bool> plain(mask.shape());
  bool* to = plain.mutable_data();
  for (std::size_t i = 0, n = mask.size(); i < n; ++i) to[i] = mask.owner()->code.value(mask.at(i)) != 0;
  return std::move(plain);
}

/// Returns whether a key is recorded whole numbers, such as np.searchsorted of recorded values, which each run computes.
bool is_place(const py::object& key) {
  if (!py::isinstance<array>(key)) return false;
  const auto& places = key.cast<const array&>();
  if (places.is_condition()) return false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double place = places.owner()->code.value(places.at(i));
    if (place != std::floor(place)) return false;
  }
  return true;
}

py::object plain_key(const py::object& key) {
  if (!any_recorded(key)) return key;
  if (!py::isinstance<py::tuple>(key)) return plain_mask(key);
  py::list plain;
  for (const py::handle each : key) plain.append(plain_mask(each));
  return py::tuple(plain);
}

/// Returns whether NumPy makes a view for this key: integers, slices, None and Ellipsis.
bool is_basic(const py::handle& key) {
  if (py::isinstance<py::tuple>(key)) {
    const auto parts = py::reinterpret_borrow<py::tuple>(key);
    return std::all_of(parts.begin(), parts.end(), [](const py::handle& each) { return is_basic(each); });
  }
  return PySlice_Check(key.ptr()) || key.is_none() || key.ptr() == Py_Ellipsis ||
         (PyIndex_Check(key.ptr()) && !PyBool_Check(key.ptr()) && !py::isinstance<py::array>(key));
}

py::object view_of(const py::object& self, array&& part) {
  py::object view = py::cast(std::move(part));
  self.cast<array&>().views().add(view);
  return view;
}

py::object get_item(const py::object& self, const py::object& given) {
  const auto& a = self.cast<const array&>();
  if (PyLong_CheckExact(given.ptr())) {
    array part = element(a, PyLong_AsSsize_t(given.ptr()));
    if (part.shape().empty()) return py::cast(std::move(part));
    return view_of(self, std::move(part.mark_view(self, given)));
  }
  if (any_data(given)) return py::module_::import("agrad._numpy.whole_index").attr("item")(self, given);
  if (is_place(given)) return py::module_::import("agrad._numpy.order").attr("picked")(self, given);
  const py::object key = plain_key(given);
  array part = with_slots(a, py::array_t<slot>::ensure(slots_of(a)[key]));
  if (part.shape().empty() || !is_basic(key)) return py::cast(std::move(part));
  return view_of(self, std::move(part.mark_view(self, key)));
}

// ---- writing -----------------------------------------------------------------------------------------------------------

void check_writable(const char* what, const array& a) {
  check_open(what, *a.owner());
  if (!a.is_view() || a.base()) return;
  throw py::value_error(
      std::string(what) +
      ": argument is a reshaped, transposed or broadcast view of another recorded array, but must be no view; "
      "write into the other array, or into a copy: x.copy()");
}

/// Updates the views and the base of an array whose entries have changed.
void write_through(const py::object& self) {
  refresh_views(self);
  const auto& a = self.cast<const array&>();
  if (a.base()) a.base().attr("__setitem__")(a.key(), self);
}

/// Records a[mask] = v for a recorded mask: a choice for each entry.
void set_where(array& a, const array& mask, const array& v) {
  static const elementwise_row& select = elementwise_row_named("select");
  shape_type shape = mask.shape();
  if (shape.size() > a.shape().size() || !std::equal(shape.begin(), shape.end(), a.shape().begin())) {
    throw ShapeError("item assignment: mask is of shape " + to_text(shape) + ", but must be of the first dimensions of " +
                     to_text(a.shape()));
  }
  shape.resize(a.shape().size(), 1);
  const array before = a;
  a.assign(record_elementwise(select, py::args(py::make_tuple(mask.reshaped(shape), v.reshaped({}), a))));
  if (before.is_data()) a.mark_as(before);
}

/// Records a[key] = v for a key with places that are data. Returns false where the key is plain once its masks are read.
bool set_at_data(const py::object& self, const py::object& key, const array& v) {
  const py::object now = py::module_::import("agrad._numpy.whole_index").attr("assigned")(self, key, v);
  if (now.is_none()) return false;
  auto& a = self.cast<array&>();
  const array before = a;
  a.assign(now.cast<const array&>());
  if (before.is_data()) a.mark_as(before);
  return true;
}

/// Returns a value as integers or booleans of the type of the array into which it is written.
py::object entries_for(const py::object& self, const py::object& value) {
  return py::module_::import("agrad._numpy.whole").attr("entries_for")(self, value);
}

void set_item(const py::object& self, const py::object& given, const py::object& value) {
  auto& a = self.cast<array&>();
  check_writable("item assignment", a);
  const array v = as_array(a.owner(), "item assignment", a.is_data() ? entries_for(self, value) : value);
  if (PyLong_CheckExact(given.ptr()) && a.shape().size() == 1 && v.shape().empty()) {
    const py::ssize_t n = a.shape()[0], i = PyLong_AsSsize_t(given.ptr());
    element(a, i);  // throws if i is out of range
    a.assign(static_cast<std::size_t>(i < 0 ? i + n : i), v.at(0));
  } else if (py::isinstance<array>(given) && given.cast<const array&>().is_condition() && v.size() == 1) {
    set_where(a, given.cast<const array&>(), v);
  } else if (!any_data(given) || !set_at_data(self, given, v)) {
    py::array_t<slot> slots = slots_of(a);
    slots[plain_key(given)] = slots_of(v);
    a.assign(with_slots(a, slots));
  }
  write_through(self);
}

}  // namespace

py::object assign_in_place(const py::object& self, const py::object& result) {
  auto& a = self.cast<array&>();
  if (result.ptr() == Py_NotImplemented || a.shape().empty()) return result;  // numbers cannot be written into
  const py::object written = a.is_data() ? entries_for(self, result) : result;
  if (!py::isinstance<array>(written))
    fail_type(
        "in-place operation: result is complex, but must be real, as the array into which the result is written; write "
        "x = x + y for x += y");
  const auto& now = written.cast<const array&>();
  check_writable("in-place operation", a);
  if (now.shape() != a.shape()) {
    throw ShapeError("in-place operation: result is of shape " + to_text(now.shape()) + ", but must be of shape " +
                     to_text(a.shape()) + ", as the array into which the result is written");
  }
  if (now.owner() != a.owner()) {
    throw ScopeError("in-place operation: result is a recorded value of " + now.owner()->function + ", but must be one of " +
                     a.owner()->function + "; write x = x + y for x += y");
  }
  a.assign(now);
  write_through(self);
  return self;
}

void view_list::add(const py::object& view) {
  if (views_ == nullptr) views_ = std::make_unique<std::vector<py::weakref>>();
  if (views_->size() >= 2 * pruned_ + 16) pruned_ = alive().size();
  views_->emplace_back(view);
}

std::vector<py::object> view_list::alive() {
  std::vector<py::object> found;
  if (views_ == nullptr) return found;
  std::vector<py::weakref> left;
  for (py::weakref& each : *views_) {
    py::object view = each();
    if (view.is_none()) continue;
    found.push_back(std::move(view));
    left.push_back(std::move(each));
  }
  *views_ = std::move(left);
  return found;
}

void refresh_views(const py::object& self) {
  auto& a = self.cast<array&>();
  for (const py::object& each : a.views().alive()) {
    auto& view = each.cast<array&>();
    if (view.base()) {
      view.assign(with_slots(a, py::array_t<slot>::ensure(slots_of(a)[view.key()])));
    } else {
      const auto parts = view.key().cast<py::tuple>();
      parts[0].attr("__setitem__")(py::ellipsis(), slots_of(a));
      view.assign(with_slots(a, py::array_t<slot>::ensure(parts[1])));
    }
    refresh_views(each);
  }
}

void add_indexing(py::class_<array>& type) { type.def("__getitem__", &get_item).def("__setitem__", &set_item); }

}  // namespace agrad::python
