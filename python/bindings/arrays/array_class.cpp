// The Python class Array: operators, shape, and slots for NumPy's indexing. Reading and writing parts is in array_index.cpp;
// NumPy's protocols and methods are attached in python/agrad/_numpy/protocol.py.
#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "../errors.hpp"
#include "../python_call.hpp"
#include "array.hpp"
#include "array_class.hpp"

namespace py = pybind11;

namespace agrad::python {

py::object to_object(array a) {
  using holder = std::unique_ptr<array>;
  static const py::detail::type_info* const type = py::detail::get_type_info(typeid(array), true);
  auto held = std::make_unique<array>(std::move(a));
  py::object made = py::reinterpret_steal<py::object>(py::detail::make_new_instance(type->type));
  py::detail::value_and_holder place(reinterpret_cast<py::detail::instance*>(made.ptr()), type, 0, 0);
  place.value_ptr() = held.get();
  ::new (static_cast<void*>(std::addressof(place.holder<holder>()))) holder(std::move(held));
  place.set_holder_constructed();
  return made;
}

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
  return array(a.owner(), shape_type(slots.shape(), slots.shape() + slots.ndim()), std::move(list)).mark_as(a);
}

namespace {

using slot_array = py::array_t<slot, py::array::c_style | py::array::forcecast>;

slot_array slots_in(const py::object& slots) {
  auto given = slot_array::ensure(slots);
  if (!given) throw py::error_already_set();
  return given;
}

py::array_t<double> values_of(const array& a) {
  if (has_stand_in(*a.owner())) return values_of(in_body("array", a));
  py::array_t<double> values(a.shape());
  double* to = values.mutable_data();
  for (std::size_t i = 0, n = a.size(); i < n; ++i) to[i] = a.owner()->code.value(a.at(i));
  return values;
}

bool truth(const array& a) {
  check_open("bool", *a.owner());
  if (has_stand_in(*a.owner())) return truth(in_body("bool", a));
  if (a.size() != 1) {
    throw py::value_error("bool: argument is a recorded array of shape " + to_text(a.shape()) +
                          ", but must have one entry; use np.all or np.any of plain values, or np.where");
  }
  recording& in = *a.owner();
  const bool holds = in.code.value(a.at(0)) != 0;
  if (!in.code.is_active(a.at(0))) return holds;  // the same in every run
  if (in.on_comparison == comparison::refuses) {
    if (!open_bodies().empty() && open_bodies().back()->depth > in.depth) return truth(in_body("bool", a));
    throw py::type_error(
        in.function +
        ": condition is a comparison of recorded values, but must be known when the function is recorded; "
        "choose between values with np.where, of ag.array([a, b]) rather than np.array([a, b]), whose entries NumPy compares "
        "by itself");
  }
  if (in.on_comparison == comparison::guards) {
    in.code.guard(a.at(0));
    in.comparisons.add(holds);
  }
  return holds;
}

/// Returns a copy for writing. In the body of a loop or a branch the copy belongs to the body, as the values written will.
array copied(const array& a) {
  check_open("copy", *a.owner());
  const bool is_from_around = !open_bodies().empty() && a.owner()->depth < open_bodies().back()->depth;
  return is_from_around ? in_body("copy", a).reshaped(a.shape()) : a.reshaped(a.shape());
}

/// Refuses a conversion that Python asks for; `hint` is what to write instead.
[[noreturn]] void refuse_number(const char* what, const char* hint) {
  throw py::type_error(
      std::string(what) +
      ": argument is a recorded value, but must be a plain number, because a plain number has no derivative; " + hint);
}
/// Returns the number to which Python converts an array that is data.
py::object number_of(const array& a, const char* what, const char* hint) {
  if (!a.is_data()) refuse_number(what, hint);
  return read(a).attr((std::string("__") + what + "__").c_str())();
}
constexpr const char* use_numpy = "use NumPy's functions (np.exp, not math.exp)";

/// Returns whether an operand is a complex number or array, recorded or plain.
bool is_complex(const py::handle& x) {
  if (PyFloat_CheckExact(x.ptr()) || PyLong_CheckExact(x.ptr()) || recorded(x) != nullptr) return false;
  if (PyComplex_Check(x.ptr())) return true;
  if (py::isinstance<py::array>(x)) return py::reinterpret_borrow<py::array>(x).dtype().kind() == 'c';
  const py::object kind = py::getattr(py::getattr(x, "dtype", py::none()), "kind", py::none());
  return py::isinstance<py::str>(kind) && kind.cast<std::string>() == "c";
}
py::object operate_on_complex(std::string_view name, const py::handle& a, const py::handle& b) {
  return py::module_::import("agrad._complex.protocol").attr("operate")(name, a, b);
}

/// Returns whether operands are integers or booleans, with one recorded at least, whose result is an integer or a boolean, too.
bool are_data(std::initializer_list<py::handle> operands) {
  bool any = false;
  for (const py::handle& x : operands) {
    const array* given = recorded(x);
    if (given == nullptr
            ? !(PyLong_Check(x.ptr()) || PyFloat_Check(x.ptr()) || py::isinstance<py::array>(x) || py::hasattr(x, "dtype"))
            : !given->is_data())
      return false;
    any = any || given != nullptr;
  }
  return any;
}
/// Returns the result of NumPy's ufunc of that name for such operands.
template <class... Operands>
py::object operate_on_data(const std::string& ufunc, const Operands&... operands) {
  return py::module_::import("agrad._numpy.whole").attr("operate")(ufunc, operands...);
}
std::string ufunc_of(const elementwise_row& row) { return std::string(row.ufunc.empty() ? row.name : row.ufunc); }

/// Returns a operator b, or NotImplemented if b cannot be an operand, so that Python tries b's operator.
py::object operate(const elementwise_row& row, const py::handle& a, const py::handle& b) {
  if (py::isinstance<py::str>(b) || b.is_none()) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  if (is_complex(a) || is_complex(b)) return operate_on_complex(row.name, a, b);
  const py::handle operands[] = {a, b};
  if (AGRAD_UNLIKELY(are_data({a, b}))) return operate_on_data(ufunc_of(row), a, b);
  return py::cast(record_elementwise(row, operands, 2));
}

/// Returns a ** b. x ** 2 is the product x x: the same value to the last bit or better, and much faster.
py::object power(const elementwise_row& row, const py::handle& a, const py::handle& b) {
  static const elementwise_row& multiply = elementwise_row_named("multiply");
  int overflow = 0;
  const bool is_two = (PyFloat_CheckExact(b.ptr()) && PyFloat_AS_DOUBLE(b.ptr()) == 2) ||
                      (PyLong_CheckExact(b.ptr()) && PyLong_AsLongAndOverflow(b.ptr(), &overflow) == 2);
  return is_two ? operate(multiply, a, a) : operate(row, a, b);
}

/// Returns a logical operation on booleans; NumPy has no bits of floats either.
py::object operate_on_truths(const elementwise_row& row, const py::handle& a, const py::handle& b) {
  for (const py::handle& x : {a, b})
    if (py::isinstance<py::str>(x) || x.is_none()) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  if (are_data({a, b}))  // logical_and is the row of bitwise_and
    return operate_on_data("bitwise" + std::string(row.name.substr(7)), a, b);
  for (const py::handle& x : {a, b}) {
    if (py::isinstance<array>(x) ? x.cast<const array&>().is_condition()
                                 : py::array(py::reinterpret_borrow<py::object>(x)).dtype().kind() == 'b')
      continue;
    throw py::type_error(std::string(row.name) + ": argument is of numbers, but must be of booleans: (x > 0) & (x < 1)");
  }
  return operate(row, a, b);
}

py::object invert(const py::object& a) {
  static const elementwise_row& logical_not = elementwise_row_named("logical_not");
  if (a.cast<const array&>().is_data()) return operate_on_data("invert", a);
  if (!a.cast<const array&>().is_condition())
    throw py::type_error("logical_not: argument is of numbers, but must be of booleans: ~(x > 0)");
  return py::cast(record_elementwise(logical_not, py::args(py::make_tuple(a))));
}

/// Returns the result of an operator of one operand.
py::object operate_on_one(const elementwise_row& row, const py::handle& a) {
  if (AGRAD_UNLIKELY(are_data({a}))) return operate_on_data(ufunc_of(row), a);
  return py::cast(record_elementwise(row, &a, 1));
}

using operation_type = py::object (*)(const elementwise_row&, const py::handle&, const py::handle&);

/// Adds x op y, y op x and x op= y for a Python operator, given by its name without underscores.
void add_operator(py::class_<array>& type, const char* name, operation_type apply, const elementwise_row& row) {
  const auto method = [&](const char* prefix) { return std::string("__") + prefix + name + "__"; };
  type.def(
      method("").c_str(), [apply, &row](const py::object& a, const py::object& b) { return apply(row, a, b); },
      py::is_operator());
  type.def(
      method("r").c_str(), [apply, &row](const py::object& a, const py::object& b) { return apply(row, b, a); },
      py::is_operator());
  type.def(
      method("i").c_str(),
      [apply, &row](const py::object& a, const py::object& b) { return assign_in_place(a, apply(row, a, b)); },
      py::is_operator());
}

py::object divmod(const py::handle& a, const py::handle& b) {
  static const elementwise_row &quotient = elementwise_row_named("floor_divide"), &rest = elementwise_row_named("mod");
  if (py::isinstance<py::str>(b) || b.is_none()) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  return py::make_tuple(operate(quotient, a, b), operate(rest, a, b));
}

py::object multiply_matrices(const elementwise_row&, const py::handle& a, const py::handle& b) {
  for (const py::handle& x : {a, b})
    if (py::isinstance<py::str>(x) || x.is_none()) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  if (is_complex(a) || is_complex(b)) return operate_on_complex("matmul", a, b);
  for (const py::handle& x : {a, b})
    if (recorded(x) == nullptr && !py::isinstance<py::array>(x) && py::hasattr(x, "tocsr"))
      return py::module_::import("agrad._numpy.sparse_products").attr("product")(a, b);
  return py::cast(matmul(a, b));
}

struct operator_of_row {
  const char *name, *row;
  binaryfunc PyNumberMethods::*slot = nullptr;
};
constexpr operator_of_row arithmetic[] = {
    {"add", "add", &PyNumberMethods::nb_add},           {"sub", "subtract", &PyNumberMethods::nb_subtract},
    {"mul", "multiply", &PyNumberMethods::nb_multiply}, {"truediv", "divide", &PyNumberMethods::nb_true_divide},
    {"mod", "mod", &PyNumberMethods::nb_remainder},     {"floordiv", "floor_divide", &PyNumberMethods::nb_floor_divide}};

/// Calls `apply` for Python's slot of an operator.
template <class Apply>
PyObject* slot_result(const Apply& apply) noexcept {
  try {
    return calling_python(apply).release().ptr();
  } catch (...) {
    py::detail::try_translate_exceptions();
    return nullptr;
  }
}
template <std::size_t K>
PyObject* arithmetic_slot(PyObject* a, PyObject* b) {
  static const elementwise_row& row = elementwise_row_named(arithmetic[K].row);
  return slot_result([&] { return operate(row, a, b); });
}
PyObject* matmul_slot(PyObject* a, PyObject* b) {
  static const elementwise_row& row = elementwise_row_named("multiply");
  return slot_result([&] { return multiply_matrices(row, a, b); });
}
PyObject* negative_slot(PyObject* a) {
  static const elementwise_row& row = elementwise_row_named("negative");
  return slot_result([&] { return operate_on_one(row, a); });
}

/// Adds the commonest operators to the slots of the type, which avoids a search for the method; the search takes as long as the
/// recording.
template <std::size_t... K>
void add_slots(py::class_<array>& type, std::index_sequence<K...>) {
  PyNumberMethods& slots = reinterpret_cast<PyHeapTypeObject*>(type.ptr())->as_number;
  ((slots.*arithmetic[K].slot = &arithmetic_slot<K>), ...);
  slots.nb_matrix_multiply = &matmul_slot;
  slots.nb_negative = &negative_slot;
}

void add_operators(py::class_<array>& type) {
  static constexpr operator_of_row logic[] = {{"and", "logical_and"}, {"or", "logical_or"}, {"xor", "logical_xor"}};
  static constexpr operator_of_row comparisons[] = {{"lt", "less"},          {"le", "less_equal"}, {"gt", "greater"},
                                                    {"ge", "greater_equal"}, {"eq", "equal"},      {"ne", "not_equal"}};
  for (const auto& o : arithmetic) add_operator(type, o.name, &operate, elementwise_row_named(o.row));
  for (const auto& o : logic) add_operator(type, o.name, &operate_on_truths, elementwise_row_named(o.row));
  for (const auto& o : comparisons) {
    const elementwise_row& row = elementwise_row_named(o.row);
    type.def((std::string("__") + o.name + "__").c_str(),
             [&row](const py::object& a, const py::object& b) { return operate(row, a, b); }, py::is_operator());
  }
  add_operator(type, "pow", &power, elementwise_row_named("pow"));
  add_operator(type, "matmul", &multiply_matrices, elementwise_row_named("multiply"));
  const elementwise_row& negative = elementwise_row_named("negative");
  const elementwise_row& abs = elementwise_row_named("abs");
  type.def(
          "__divmod__", [](const py::object& a, const py::object& b) { return divmod(a, b); }, py::is_operator())
      .def(
          "__rdivmod__", [](const py::object& a, const py::object& b) { return divmod(b, a); }, py::is_operator())
      .def("__neg__", [&negative](const py::object& a) { return operate_on_one(negative, a); })
      .def("__abs__", [&abs](const py::object& a) { return operate_on_one(abs, a); })
      .def("__pos__", [](const array& a) { return a.reshaped(a.shape()); })
      .def("__invert__", &invert);
  add_slots(type, std::make_index_sequence<std::size(arithmetic)>{});
}

/// Sets the class that isinstance sees: of integers and booleans that are data NumPy's, as where the function is not recorded.
void set_class(py::class_<array>& type) {
  const auto class_of = [type = py::handle(type)](const array& a) {
    if (!a.is_data()) return py::reinterpret_borrow<py::object>(type);
    const py::object numpy = a.shape().empty() ? py::object() : py::module_::import("numpy").attr("ndarray");
    return numpy ? numpy : py::object(py::dtype(a.type()).attr("type"));
  };
  const py::object property = py::module_::import("builtins").attr("property")(py::cpp_function(class_of));
  auto* const plain = reinterpret_cast<PyTypeObject*>(type.ptr());  // an assignment would set the class of the type itself
  if (PyDict_SetItemString(plain->tp_dict, "__class__", property.ptr()) != 0) throw py::error_already_set();
  PyType_Modified(plain);
}

}  // namespace

void register_array(py::module_& m) {
  py::class_<array> type(m, "Array",
                         R"(A recorded array, which stands for a float64 NumPy array while a function is recorded.

Arrays of this type are made by agrad, not by hand: a function that agrad differentiates, compiles or solves is called with
them. NumPy's operators, functions and ufuncs work on recorded arrays and return new ones. A recorded array has no values to
read; an array of a tape has, by `val`.)");
  type.attr("__module__") = "agrad";
  type.def_property_readonly(
          "shape", [](const array& a) { return py::tuple(py::cast(a.shape())); }, "The lengths of the dimensions.")
      .def_property_readonly(
          "ndim", [](const array& a) { return a.shape().size(); }, "The number of dimensions.")
      .def_property_readonly("size", &array::size, "The number of entries.")
      .def_property_readonly(
          "dtype", [](const array& a) { return py::dtype(a.type()); },
          "bool for comparisons, that of the argument for integers, else float64.")
      .def_property_readonly("slots", &slots_of, "The slots of the entries in the recording.")
      .def_property_readonly("recorded_values", &values_of, "The values of the entries at recording.")
      .def_property_readonly("recording", &array::owner)
      .def_property_readonly(
          "known_values",
          [](const array& a) {
            return a.owner()->on_comparison == comparison::answers ? py::object(values_of(a)) : py::object(py::none());
          },
          "The values, if no run with other values follows, else None.")
      .def_property_readonly(
          "is_active",
          [](const array& a) {
            const std::vector<slot> slots = a.slots();
            return std::any_of(slots.begin(), slots.end(), [&](slot s) { return a.owner()->code.is_active(s); });
          },
          "Whether an entry depends on an argument of the recording.")
      .def_property_readonly("is_condition", &array::is_condition, "Whether the entries are booleans.")
      .def_property_readonly("is_data", &array::is_data, "Whether the entries are integers or booleans that may be read.")
      .def(
          "as_data", [](const array& a, const py::dtype& dtype) { return a.reshaped(a.shape()).mark_data(dtype.num()); },
          py::arg("dtype"), "The same entries as integers or booleans of this type, which may be read.")
      .def(
          "with_slots",
          [](const py::object& self, const py::object& slots, const py::object& view_of, std::optional<bool> condition) {
            array part = with_slots(self.cast<const array&>(), slots_in(slots));
            if (condition) part.mark(*condition);
            if (view_of.is_none() || part.shape().empty()) return py::cast(std::move(part));
            py::object view = py::cast(std::move(part.mark_view({}, py::make_tuple(view_of, slots, self))));
            self.cast<array&>().views().add(view);
            return view;
          },
          py::arg("slots"), py::arg("view_of") = py::none(), py::arg("condition") = py::none(),
          "The array of those entries of the recording; `view_of`: the array's slots, where these are NumPy's view of them.")
      .def("copy", &copied, "A copy, whose entries can be written without a change of the original.")
      .def("__copy__", [](const array& a) { return a.reshaped(a.shape()); })
      .def("__len__",
           [](const array& a) {
             if (a.shape().empty()) throw py::type_error("len: argument is a recorded number, but must have a dimension");
             return a.shape()[0];
           })
      .def("__bool__", &truth)
      .def("__float__", [](const array& a) { return number_of(a, "float", use_numpy); })
      .def("__int__", [](const array& a) { return number_of(a, "int", "np.floor and np.trunc give recorded whole numbers"); })
      .def("__index__",
           [](const array& a) {
             return number_of(a, "index", "ag.fori repeats, and np.where, np.interp and ag.switch choose, by recorded numbers");
           })
      .def("__complex__", [](const array& a) { return number_of(a, "complex", use_numpy); })
      .def("__repr__", [](const array& a) {
        return "<recorded array of shape " + to_text(a.shape()) + " in " + a.owner()->function + ">";
      });
  set_class(type);
  add_indexing(type);
  add_operators(type);
}

}  // namespace agrad::python
