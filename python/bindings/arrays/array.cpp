#include "array.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <agrad/program/compose/recognise.hpp>

#include "../errors.hpp"

namespace py = pybind11;

namespace agrad::python {

std::size_t size_of(const shape_type& shape) {
  std::size_t n = 1;
  for (const py::ssize_t d : shape) n *= static_cast<std::size_t>(d);
  return n;
}

std::string to_text(const shape_type& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

array::array(std::shared_ptr<recording> owner, shape_type shape, std::vector<slot> slots)
    : owner_(std::move(owner)), shape_(std::move(shape)) {
  bool consecutive = !slots.empty();
  for (std::size_t i = 1; i < slots.size() && consecutive; ++i) consecutive = slots[i] == slots[0] + i;
  if (consecutive)
    first_ = slots[0];
  else
    slots_ = std::move(slots);
}

std::size_t array::size() const { return size_of(shape_); }

std::vector<slot> array::slots() const {
  std::vector<slot> all(size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = at(i);
  return all;
}

bool array::same_entries(const array& other) const {
  return owner_ == other.owner_ && shape_ == other.shape_ && first_ == other.first_ && slots_ == other.slots_;
}

void array::assign(const array& other) {
  first_ = other.first_;
  slots_ = other.slots_;
  mark_as(other);
}

void array::assign(std::size_t i, slot value) {
  if (is_consecutive()) slots_ = slots();
  slots_[i] = value;
  if (!is_data_) mark(false);
}

span array::as_span() const {
  recorder& code = owner_->code;
  const std::size_t n = size();
  if (!is_consecutive() || n == 0) return code.consecutive(slots_.data(), slots_.size());
  return code.consecutive(first_, n);
}

span array::as_dense() const {
  if (is_consecutive()) return as_span();
  return owner_->code.dense(slots_.data(), slots_.size());
}

std::vector<std::shared_ptr<recording>>& open_bodies() {
  thread_local std::vector<std::shared_ptr<recording>> open;
  return open;
}

bool has_stand_in(const recording& r) {
  return !open_bodies().empty() && open_bodies().back()->stands_in && r.depth < open_bodies().back()->depth;
}

py::object read(const array& data) { return py::module_::import("agrad._record.whole").attr("read")(py::cast(data)); }

array in_body(const char* function, const array& a) { return as_array(open_bodies().back(), function, py::cast(a)); }

const array* recorded(py::handle x) {
  static const PyTypeObject* const type = py::detail::get_type_info(typeid(array), true)->type;
  if (AGRAD_UNLIKELY(Py_TYPE(x.ptr()) != type)) return py::isinstance<array>(x) ? &x.cast<const array&>() : nullptr;
  const auto* instance = reinterpret_cast<py::detail::instance*>(x.ptr());
  if (AGRAD_UNLIKELY(!instance->simple_layout || instance->simple_value_holder[0] == nullptr)) return &x.cast<const array&>();
  return static_cast<const array*>(instance->simple_value_holder[0]);
}

namespace {

[[noreturn]] AGRAD_COLD void fail_closed(std::string_view function, const recording& r) {
  if (r.is_tape) {
    throw ScopeError(
        std::string(function) + ": argument is a recorded value of " + r.function +
        ", which has ended, but must be of an open tape; read values, gradients and adjoints before the tape's block ends");
  }
  throw ScopeError(std::string(function) + ": argument is a recorded value of a call of " + r.function +
                   " that has ended, but must be of a running call; return values from the function instead of storing them");
}

}  // namespace

void check_open(std::string_view function, const recording& r) {
  if (AGRAD_UNLIKELY(!r.is_open && !has_stand_in(r))) fail_closed(function, r);
}

namespace {

bool is_numeric(char kind) { return kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b'; }

bool is_array_of_objects(py::handle x) {
  return py::isinstance<py::array>(x) && py::reinterpret_borrow<py::array>(x).dtype().kind() == 'O';
}

/// Returns the entries of an array of objects, in order; an entry that is such an array of rank 0 is replaced by its content.
std::vector<py::object> entries_of(const py::handle& objects) {
  const auto flat = py::reinterpret_borrow<py::array>(py::object(objects.attr("ravel")()));
  const auto* const data = static_cast<PyObject* const*>(flat.data());
  std::vector<py::object> entries;
  for (py::ssize_t i = 0; i < flat.size(); ++i) {
    entries.push_back(py::reinterpret_borrow<py::object>(data[i]));
    while (is_array_of_objects(entries.back()) && entries.back().attr("ndim").cast<int>() == 0)
      entries.back() = entries.back().attr("item")();
  }
  return entries;
}

/// Calls `visit` with the recorded arrays of an argument, which may be a recorded array, or a list, tuple or array of objects
/// with recorded arrays.
template <class Visit>
void visit_recorded(py::handle x, const Visit& visit) {
  if (const array* given = recorded(x)) {
    visit(*given);
  } else if (PyFloat_CheckExact(x.ptr()) || PyLong_CheckExact(x.ptr())) {
    return;
  } else if (py::isinstance<py::list>(x) || py::isinstance<py::tuple>(x)) {
    for (const py::handle each : x) visit_recorded(each, visit);
  } else if (is_array_of_objects(x)) {
    for (const py::object& entry : entries_of(x))
      if (const array* each = recorded(entry)) visit(*each);
  }
}

}  // namespace

std::shared_ptr<recording> recording_of(std::string_view function, const py::handle* arguments, std::size_t n) {
  static const std::shared_ptr<recording> none;
  const std::shared_ptr<recording>* innermost = &none;
  for (std::size_t i = 0; i < n; ++i) {
    visit_recorded(arguments[i], [&](const array& x) {
      check_open(function, *x.owner());
      const auto& owner = has_stand_in(*x.owner()) ? open_bodies().back() : x.owner();
      if (*innermost == nullptr || owner->depth > (*innermost)->depth) innermost = &owner;
    });
  }
  return *innermost;
}

std::shared_ptr<recording> recording_of(const char* function, const py::args& arguments) {
  std::vector<py::handle> all(arguments.begin(), arguments.end());
  return recording_of(function, all.data(), all.size());
}

namespace {

[[noreturn]] AGRAD_COLD void fail_ended(std::string_view function, const recording& r) {
  throw ScopeError(std::string(function) + ": argument is a recorded value of a call of " + r.function +
                   " that has ended, but must be of a running call; pass it to the function as an argument");
}

/// Returns the body's slots of entries that the body has captured already; nothing if an entry is unknown. Outer constants are
/// constants of the body.
std::vector<slot> known_slots(recording& in, const array& outer) {
  std::unordered_map<slot, slot> known;
  for (std::size_t k = 0; k < in.captured.size(); ++k) {
    if (in.captured[k].owner() != outer.owner()) continue;
    for (std::size_t i = 0, n = in.captured[k].size(); i < n; ++i)
      known.try_emplace(in.captured[k].at(i), in.captured_at[k] + static_cast<slot>(i));
  }
  const recorder& from = outer.owner()->code;
  std::vector<slot> slots;
  for (std::size_t i = 0, n = outer.size(); i < n; ++i) {
    const auto found = known.find(outer.at(i));
    if (found != known.end())
      slots.push_back(found->second);
    else if (!from.is_active(outer.at(i)))
      slots.push_back(in.constant(from.value(outer.at(i))));
    else
      return {};
  }
  return slots;
}

array captured(const std::shared_ptr<recording>& in, std::string_view function, const array& outer) {
  if (has_stand_in(*outer.owner()) && open_bodies().back() != in)
    return captured(in, function, captured(open_bodies().back(), function, outer));
  check_open(function, *outer.owner());
  const bool may_capture = in->captures && outer.owner()->depth < in->depth && (!in->is_tape || outer.owner()->is_tape);
  if (!may_capture) {
    throw ScopeError(std::string(function) + ": argument is a recorded value of " + outer.owner()->function +
                     ", but must belong to " + in->function + "; " +
                     (in->is_tape ? "open the tape outside of that function" : "pass it to the function as an argument"));
  }
  for (std::size_t known = in->captured.size(); known-- > 0;)
    if (in->captured[known].same_entries(outer)) return array(in, outer.shape(), in->captured_at[known]).mark_as(outer);
  if (in->is_body && outer.size() > 0) {
    if (auto slots = known_slots(*in, outer); !slots.empty()) return array(in, outer.shape(), std::move(slots)).mark_as(outer);
    if (in->stands_in) fail_ended(function, *outer.owner());  // the loop's operation cannot have further inputs
  }
  std::vector<double> values(outer.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = outer.owner()->code.value(outer.at(i));
  if (outer.is_data() && in->on_comparison == comparison::refuses) {  // a solver needs the pattern that indices determine
    read(outer);
    return array(in, outer.shape(), in->code.constant(values.data(), values.size())).mark_as(outer);
  }
  const slot first = in->code.input(values.data(), values.size());
  in->captured.push_back(outer);
  in->captured_at.push_back(first);
  return array(in, outer.shape(), first).mark_as(outer, outer.is_data() || in->is_body);
}

[[noreturn]] AGRAD_COLD void fail_dtype(std::string_view function, const py::array& values) {
  const char kind = values.dtype().kind();
  const std::string name = py::str(values.dtype());
  if (kind == 'c')
    fail_type(std::string(function) + ": argument is complex, but must be real; differentiate real and imaginary parts apart");
  fail_type(std::string(function) + ": argument is of dtype " + name + ", but must be numeric");
}

/// Throws for NumPy's arrays of other kinds, whose entries or operators have another meaning.
void check_kind(std::string_view function, py::handle x) {
  if (!py::isinstance<py::array>(x)) return;
  static const PyTypeObject* const plain = Py_TYPE(py::array_t<double>().ptr());
  if (Py_TYPE(x.ptr()) == plain) return;
  const py::module_ numpy = py::module_::import("numpy");
  if (py::isinstance(x, numpy.attr("ma").attr("MaskedArray")))
    fail_type(std::string(function) +
              ": argument is a masked array, but must be a plain one, because recorded values have no "
              "mask; write m.filled(value), or choose with np.where");
  if (py::isinstance(x, numpy.attr("matrix")))
    fail_type(std::string(function) +
              ": argument is an np.matrix, but must be an array, because recorded values have the operators "
              "of arrays; write np.asarray(m), and @ for the product of matrices");
}

[[noreturn]] AGRAD_COLD void fail_entry(std::string_view function, std::size_t i, py::handle entry) {
  const array* x = recorded(entry);
  fail_type(std::string(function) + ": argument is an array of objects whose entry " + std::to_string(i) + " is " +
            (x != nullptr ? "a recorded array of shape " + to_text(x->shape()) : std::string(py::repr(entry))) +
            ", but must be a number, recorded or plain; join recorded values with ag.array([...])");
}

/// Returns an array of objects, which np.array makes of recorded numbers, as an array of the recording.
array of_objects(const std::shared_ptr<recording>& in, std::string_view function, const py::array& objects) {
  std::vector<slot> slots;
  bool all_truths = objects.size() > 0;
  for (const py::object& entry : entries_of(objects)) {
    const py::object value = recorded(entry) != nullptr ? entry : py::object(py::array(entry));
    if (value.attr("ndim").cast<int>() != 0 || !is_numeric(value.attr("dtype").cast<py::dtype>().kind()))
      fail_entry(function, slots.size(), entry);
    const array x = as_array(in, function, value);
    slots.push_back(x.at(0));
    all_truths = all_truths && x.is_condition();
  }
  return array(in, shape_type(objects.shape(), objects.shape() + objects.ndim()), std::move(slots)).mark(all_truths);
}

double integer_value(std::string_view function, py::handle x) {
  const double value = PyLong_AsDouble(x.ptr());
  if (value != -1.0 || PyErr_Occurred() == nullptr) return value;
  PyErr_Clear();
  const std::string text = std::string(function) + ": argument is an int beyond 1.8e308, but must be in the range of float64";
  PyErr_SetString(PyExc_OverflowError, text.c_str());
  throw py::error_already_set();
}

}  // namespace

array as_array(const std::shared_ptr<recording>& in, std::string_view function, py::handle argument) {
  if (const array* given = recorded(argument)) return given->owner() == in ? *given : captured(in, function, *given);
  if (PyFloat_CheckExact(argument.ptr())) return array(in, {}, in->constant(PyFloat_AS_DOUBLE(argument.ptr())));
  if (PyLong_CheckExact(argument.ptr())) return array(in, {}, in->constant(integer_value(function, argument)));
  check_kind(function, argument);
  const auto given = py::array(py::reinterpret_borrow<py::object>(argument));  // throws NumPy's errors
  const char kind = given.dtype().kind();
  if (kind == 'O') return of_objects(in, function, given);
  if (!is_numeric(kind)) fail_dtype(function, given);
  const auto values = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!values) throw py::error_already_set();
  shape_type shape(values.shape(), values.shape() + values.ndim());
  const auto n = static_cast<std::size_t>(values.size());
  return array(in, std::move(shape), in->constants(values.data(), n)).mark(kind == 'b');
}

shape_type broadcast_shape(std::string_view function, const array* const* x, std::size_t n) {
  shape_type shape = x[0]->shape();
  for (std::size_t k = 1; k < n; ++k) {
    const shape_type& s = x[k]->shape();
    if (s == shape) continue;
    if (s.size() > shape.size()) shape.insert(shape.begin(), s.size() - shape.size(), 1);
    const std::size_t offset = shape.size() - s.size();
    for (std::size_t d = 0; d < s.size(); ++d) {
      py::ssize_t& expected = shape[offset + d];
      if (expected == 1) expected = s[d];
      if (s[d] != 1 && s[d] != expected) {
        std::string text(function);
        text += ": arguments are of shapes ";
        for (std::size_t i = 0; i < n; ++i) text += (i > 0 ? " and " : "") + to_text(x[i]->shape());
        throw ShapeError(text + ", but must broadcast together; each dimension must be equal, or 1, or absent");
      }
    }
  }
  return shape;
}

shape_type broadcast_shape(std::string_view function, const std::vector<array>& x) {
  std::vector<const array*> all;
  all.reserve(x.size());
  for (const array& each : x) all.push_back(&each);
  return all.empty() ? shape_type() : broadcast_shape(function, all.data(), all.size());
}

std::vector<slot> broadcast_slots(const array& a, const shape_type& shape) {
  const std::size_t n = size_of(shape), rank = shape.size(), offset = rank - a.shape().size();
  std::vector<std::size_t> stride(rank, 0), index(rank, 0);
  std::size_t step = 1;
  for (std::size_t d = rank; d-- > offset;) {
    const auto length = static_cast<std::size_t>(a.shape()[d - offset]);
    stride[d] = length == 1 ? 0 : step;
    step *= length;
  }
  std::vector<slot> slots(n);
  std::size_t place = 0;
  for (std::size_t i = 0; i < n; ++i) {
    slots[i] = a.at(place);
    for (std::size_t d = rank; d-- > 0;) {
      place += stride[d];
      if (++index[d] < static_cast<std::size_t>(shape[d])) break;
      place -= stride[d] * index[d];
      index[d] = 0;
    }
  }
  return slots;
}

namespace {

span operand(const array& a, const shape_type& shape, std::size_t n) {
  if (a.size() == 1 && n != 1) {
    const slot one = a.at(0);
    return {one, 1, 0, a.owner()->code.is_active(one)};
  }
  if (a.size() == n) return a.as_span();
  const std::vector<slot> slots = broadcast_slots(a, shape);
  return a.owner()->code.consecutive(slots.data(), slots.size());
}

/// Returns the rule for booleans: sums and products of booleans are booleans, as in NumPy.
const elementwise_row& row_for_conditions(const elementwise_row& row) {
  static const elementwise_row *add = &elementwise_row_named("add"), *multiply = &elementwise_row_named("multiply");
  return &row == add ? elementwise_row_named("logical_or") : &row == multiply ? elementwise_row_named("logical_and") : row;
}

}  // namespace

array record_elementwise(const elementwise_row& given, const py::handle* arguments, std::size_t arity) {
  constexpr std::size_t most = operation::most_operands;
  const std::shared_ptr<recording> in = recording_of(given.name, arguments, arity);
  std::array<std::optional<array>, most> converted;  // arrays of arguments that are not recorded here
  std::array<const array*, most> x{};
  for (std::size_t i = 0; i < arity; ++i) {
    x[i] = recorded(arguments[i]);
    if (x[i] == nullptr || x[i]->owner() != in) x[i] = &converted[i].emplace(as_array(in, given.name, arguments[i]));
  }
  const bool all_truths = arity == 2 && x[0]->is_condition() && x[1]->is_condition();
  const elementwise_row& row = all_truths ? row_for_conditions(given) : given;
  shape_type shape = broadcast_shape(row.name, x.data(), arity);
  const std::size_t n = size_of(shape);
  applied_rule rule{row.loops, {}, arity};
  for (std::size_t i = 0; i < arity; ++i) rule.operands[i] = operand(*x[i], shape, n);
  rule = recognised(in->code, rule);
  const slot first = in->code.apply(*rule.what, n, rule.operands.data(), rule.arity);
  return array(in, std::move(shape), first).mark(row.is_condition);
}

array record_elementwise(const elementwise_row& row, const py::args& arguments) {
  const std::vector<py::handle> all(arguments.begin(), arguments.end());
  return record_elementwise(row, all.data(), all.size());
}

}  // namespace agrad::python
