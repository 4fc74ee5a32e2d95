// Kernels for NumPy's functions beyond elementwise rules: reductions and cumulative operations along axes, sorting, products of
// stacks of matrices, interpolation and sums into places. python/agrad assigns these to NumPy's functions.
#include <agrad/program/compose/weights.hpp>
#include <agrad/program/kernels/batched_product.hpp>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/kernels/shares.hpp>
#include <algorithm>
#include <utility>

#include <pybind11/stl.h>

#include "../errors.hpp"
#include "array.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

using axes_type = std::vector<std::size_t>;

const kernel& kernel_named(std::string_view name) {
  static constexpr const kernel* all[] = {&kernels::sum_along,      &kernels::product_along,      &kernels::max_along,
                                          &kernels::min_along,      &kernels::argmax_along,       &kernels::argmin_along,
                                          &kernels::cumulative_sum, &kernels::cumulative_product, &kernels::log_sum_exp_along,
                                          &kernels::softmax_along};
  for (const kernel* each : all)
    if (each->name == name) return *each;
  throw std::logic_error("no kernel along an axis has the name " + std::string(name));
}

std::uint32_t length_of(const shape_type& shape, std::size_t begin, std::size_t end) {
  return static_cast<std::uint32_t>(size_of(
      shape_type(shape.begin() + static_cast<std::ptrdiff_t>(begin), shape.begin() + static_cast<std::ptrdiff_t>(end))));
}

/// Returns an array with its axes in another order.
array permuted(const array& a, const axes_type& order) {
  const std::size_t rank = order.size(), n = a.size();
  std::vector<std::size_t> stride(rank), index(rank, 0);
  shape_type shape(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    shape[d] = a.shape()[order[d]];
    stride[d] = length_of(a.shape(), order[d] + 1, rank);
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
  return {a.owner(), std::move(shape), std::move(slots)};
}

/// Ascending axes as consecutive axes: axes that are not consecutive are moved to the end.
struct reduced_axes {
  array x;
  std::uint32_t length = 1, inner = 1;
  shape_type kept, with_ones;

  reduced_axes(array given, const axes_type& axes) : x(std::move(given)) {
    const shape_type shape = x.shape();
    axes_type order;
    with_ones = shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
        kept.push_back(shape[d]);
        order.push_back(d);
      } else {
        with_ones[d] = 1;
        length *= static_cast<std::uint32_t>(shape[d]);
      }
    }
    if (axes.empty()) return;
    if (axes.back() - axes.front() + 1 == axes.size()) {
      inner = length_of(shape, axes.back() + 1, shape.size());
    } else {
      order.insert(order.end(), axes.begin(), axes.end());
      x = permuted(x, order);
    }
  }
};

/// Returns the array as an array of the innermost body, if that body replaces the array's recording.
array here(const char* name, const array& x) {
  check_open(name, *x.owner());
  return has_stand_in(*x.owner()) ? in_body(name, x) : x;
}

array reduce(const std::string& name, const array& given, const axes_type& axes, bool keepdims, const py::object& weights) {
  const array x = here(name.c_str(), given);
  const reduced_axes over(x, axes);
  const auto count = static_cast<std::uint32_t>(size_of(over.kept));
  const kernel& what = kernel_named(name);
  const bool has_identity = &what == &kernels::sum_along || &what == &kernels::product_along;
  if (over.length == 0 && count > 0 && !has_identity && &what != &kernels::log_sum_exp_along)
    throw py::value_error(name + ": argument is of shape " + to_text(x.shape()) + ", but must have entries along the axis");
  recorder& code = x.owner()->code;
  span operands[2] = {over.x.as_dense()};
  bool has_weights = !weights.is_none();
  if (has_weights) {
    operands[1] = reduced_axes(as_array(x.owner(), name, weights), axes).x.as_dense();
  } else if (&what == &kernels::log_sum_exp_along) {
    const std::optional<weighted_terms> found = weighted_terms_of(code, operands[0]);
    has_weights = found.has_value();
    if (found) operands[0] = found->terms, operands[1] = found->weights;
  }
  slot first = 0;
  if (has_weights) {
    first = code.apply(what, count, operands, 2, {over.length, over.inner});
  } else if (&what == &kernels::sum_along && over.inner == 1) {
    first = code.apply(kernels::sum, count, operands, 1, {over.length});
  } else {
    first = code.apply(what, count, operands, 1, {over.length, over.inner});
  }
  const bool picks = &what == &kernels::max_along || &what == &kernels::min_along;
  return array(x.owner(), keepdims ? over.with_ones : over.kept, first).mark(picks && x.is_condition());
}

array cumulate(const std::string& name, const array& given, std::size_t axis) {
  const array x = here(name.c_str(), given);
  const std::uint32_t length = length_of(x.shape(), axis, axis + 1), inner = length_of(x.shape(), axis + 1, x.shape().size());
  const span operand = x.as_dense();
  return {x.owner(), x.shape(), x.owner()->code.apply(kernel_named(name), x.size(), &operand, 1, {length, inner})};
}

/// Returns the entries sorted along an axis, and their old places along the axis.
std::pair<array, array> sort(const array& given, std::size_t axis) {
  const array x = here("sort", given);
  const std::uint32_t length = length_of(x.shape(), axis, axis + 1), inner = length_of(x.shape(), axis + 1, x.shape().size());
  const span operand = x.as_dense();
  const std::size_t n = x.size();
  const slot first = x.owner()->code.apply(kernels::sort_along, 2 * n, &operand, 1, {length, inner});
  return {{x.owner(), x.shape(), first}, {x.owner(), x.shape(), first + static_cast<slot>(n)}};
}

// ---- products ----------------------------------------------------------------------------------------------------------

/// A factor of a product: a stack of matrices; a vector is a matrix of one row or column.
struct factor {
  array x;
  shape_type stack;
  std::uint32_t rows, columns;
  bool is_vector;

  factor(array given, bool is_left) : x(std::move(given)), is_vector(x.shape().size() == 1) {
    shape_type shape = x.shape();
    if (is_vector) shape.insert(is_left ? shape.begin() : shape.end(), 1);
    rows = static_cast<std::uint32_t>(shape.end()[-2]);
    columns = static_cast<std::uint32_t>(shape.end()[-1]);
    stack.assign(shape.begin(), shape.end() - 2);
  }
  /// Returns all matrices of a stack of shape `expected`, or the single matrix that serves for all.
  span as_operand(const shape_type& expected) const {
    if (size_of(stack) == 1 || stack == expected) return x.as_dense();
    shape_type whole = expected;
    whole.insert(whole.end(), {rows, columns});
    const std::vector<slot> slots = broadcast_slots(x, whole);
    return x.owner()->code.dense(slots.data(), slots.size());
  }
};

[[noreturn]] AGRAD_COLD void fail_product(const shape_type& a, const shape_type& b) {
  throw ShapeError("matmul: arguments are of shapes " + to_text(a) + " and " + to_text(b) +
                   ", but must be vectors, matrices or stacks of them that broadcast, the columns of the first as many as the "
                   "rows of the second");
}

shape_type broadcast_stacks(const factor& a, const factor& b) {
  shape_type shape(std::max(a.stack.size(), b.stack.size()), 1);
  for (const shape_type& s : {a.stack, b.stack}) {
    const std::size_t offset = shape.size() - s.size();
    for (std::size_t d = 0; d < s.size(); ++d) {
      if (shape[offset + d] == 1)
        shape[offset + d] = s[d];
      else if (s[d] != 1 && s[d] != shape[offset + d])
        fail_product(a.x.shape(), b.x.shape());
    }
  }
  return shape;
}

}  // namespace

array matmul(const py::handle& first, const py::handle& second) {
  const py::handle factors[] = {first, second};
  const std::shared_ptr<recording> in = recording_of("matmul", factors, 2);
  array left = as_array(in, "matmul", first), right = as_array(in, "matmul", second);
  if (left.shape().empty() || right.shape().empty()) fail_product(left.shape(), right.shape());
  const factor a(std::move(left), true), b(std::move(right), false);
  if (a.columns != b.rows) fail_product(a.x.shape(), b.x.shape());
  shape_type shape = broadcast_stacks(a, b);
  const auto count = static_cast<std::uint32_t>(size_of(shape));
  const span x[] = {a.as_operand(shape), b.as_operand(shape)};
  const bool a_differs = size_of(a.stack) != 1, b_differs = size_of(b.stack) != 1;
  const std::size_t n = std::size_t{count} * a.rows * b.columns;
  if (!a.is_vector) shape.push_back(a.rows);
  if (!b.is_vector) shape.push_back(b.columns);
  recorder& code = in->code;
  if (n == 0 || a.columns == 0)  // empty sums
    return {in, std::move(shape), std::vector<slot>(n, 0)};
  if (!b_differs)  // the matrices of a form one matrix with all their rows
    return {in, std::move(shape), code.apply(kernels::product, n, x, 2, {count * a.rows, a.columns, b.columns})};
  return {in, std::move(shape),
          code.apply(kernels::batched_product, n, x, 2,
                     {a.rows, a.columns, b.columns, count, a_differs ? 1U : 0U, b_differs ? 1U : 0U})};
}

namespace {

// ---- lookups -----------------------------------------------------------------------------------------------------------

array interpolate(const py::object& x, const py::object& xp, const py::object& fp) {
  const auto in = recording_of("interp", py::args(py::make_tuple(x, xp, fp)));
  const array at = as_array(in, "interp", x), points = as_array(in, "interp", xp), values = as_array(in, "interp", fp);
  if (points.shape().size() != 1 || points.shape() != values.shape() || points.size() == 0) {
    throw ShapeError("interp: xp and fp are of shapes " + to_text(points.shape()) + " and " + to_text(values.shape()) +
                     ", but must be vectors of the same length, not empty");
  }
  const span operands[] = {at.as_dense(), points.as_dense(), values.as_dense()};
  return {in, at.shape(), in->code.apply(kernels::interpolation, at.size(), operands, 3)};
}

/// Returns the number of entries of an increasing table before each entry of x.
array search(const py::object& table, const py::object& x, bool counts_equal) {
  const auto in = recording_of("searchsorted", py::args(py::make_tuple(table, x)));
  const array in_table = as_array(in, "searchsorted", table), at = as_array(in, "searchsorted", x);
  if (in_table.shape().size() != 1)
    throw ShapeError("searchsorted: a is of shape " + to_text(in_table.shape()) + ", but must be a vector");
  const span operands[] = {at.as_dense(), in_table.as_dense()};
  return {in, at.shape(), in->code.apply(kernels::search, at.size(), operands, 2, {counts_equal ? 1U : 0U})};
}

/// Returns the entries of a vector at places that each run computes.
array pick(const py::object& table, const py::object& places) {
  const auto in = recording_of("index", py::args(py::make_tuple(table, places)));
  const array from = as_array(in, "index", table), at = as_array(in, "index", places);
  if (from.shape().size() != 1 || from.size() == 0)
    throw ShapeError("index: array is of shape " + to_text(from.shape()) + ", but must be a vector that is not empty");
  const span operands[] = {at.as_dense(), from.as_dense()};
  return {in, at.shape(), in->code.apply(kernels::pick, at.size(), operands, 2)};
}

/// Returns x with the entries of v added at the places, counted in C order.
array scatter_add(const py::object& x, const py::object& v, const py::object& places) {
  const auto in = recording_of("add", py::args(py::make_tuple(x, v)));
  const array to = as_array(in, "add", x), from = as_array(in, "add", v), at = as_array(in, "add", places);
  if (from.size() != at.size()) throw ShapeError("add: number of places is not the number of entries, but must be");
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double place = in->code.value(at.at(i));
    if (!(place >= 0 && place < static_cast<double>(to.size())))
      throw py::index_error("add: a place is out of range, but must be an entry of x");
  }
  const span operands[] = {to.as_dense(), from.as_dense(), at.as_dense()};
  return {in, to.shape(), in->code.apply(kernels::scatter_add, to.size(), operands, 3)};
}

}  // namespace

void register_functions(py::module_& m) {
  m.def("reduce", &reduce, py::arg("name"), py::arg("x"), py::arg("axes"), py::arg("keepdims") = false,
        py::arg("weights") = py::none(), "Sum, product, extreme, ... along axes (ascending, from 0); `name` is the kernel's.");
  m.def("cumulate", &cumulate, py::arg("name"), py::arg("x"), py::arg("axis"), "Cumulative sum or product along an axis.");
  m.def("sort", &sort, py::arg("x"), py::arg("axis"), "Sorted entries, and the places along the axis they came from.");
  m.def("matmul", &matmul, py::arg("a"), py::arg("b"), "Product of vectors, matrices and stacks of matrices.");
  m.def("interpolate", &interpolate, py::arg("x"), py::arg("xp"), py::arg("fp"), "Linear interpolation in a table.");
  m.def("search", &search, py::arg("table"), py::arg("x"), py::arg("counts_equal"), "Number of table entries before x.");
  m.def("pick", &pick, py::arg("table"), py::arg("places"), "Entries of a vector at recorded places.");
  m.def("scatter_add", &scatter_add, py::arg("x"), py::arg("v"), py::arg("places"), "x with v added at places in C order.");
}

}  // namespace agrad::python
