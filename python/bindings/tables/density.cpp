// The table of densities in Python: one operation for a whole data set, recorded or evaluated at once.
#include "../../../cpp/rows/rows.hpp"

#include <agrad/program/kernels/checked.hpp>
#include <agrad/rules/density/conditions.hpp>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "../arrays/array.hpp"
#include "row_lists.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Returns the operand of entries of the broadcast shape, or one number for all.
span entries_operand(const array& a, const shape_type& shape, std::size_t n) {
  if (a.size() == 1) return {a.at(0), 1, 0, a.owner()->code.is_active(a.at(0))};
  if (a.size() == n) return a.as_span();
  const std::vector<slot> slots = broadcast_slots(a, shape);
  return a.owner()->code.consecutive(slots.data(), slots.size());
}

/// Returns the operand of terms in the same way. A single entry of an array has an index in messages, if it is the only term.
span operand(const array& a, const shape_type& shape, std::size_t n) {
  span s = entries_operand(a, shape, n);
  if (n == 1 && !a.shape().empty()) s.stride = 1;
  return s;
}

/// Records the sum, or product, of the terms of the shape to which the arguments broadcast.
array record(const density_row& row, const std::vector<array>& x, bool propto) {
  const shape_type shape = broadcast_shape(row.name, x);
  const std::size_t n = size_of(shape);
  span operands[operation::most_operands];
  for (std::size_t k = 0; k < x.size(); ++k) operands[k] = operand(x[k], shape, n);
  const auto& in = x[0].owner();
  const slot first = row.record(in->code, operands, n, propto);
  return array(in, {}, first);
}

// ---- generalised linear models

/// Returns the argument as n slots, or as one slot for all if it may be a single number.
span of_length(const glm_row& row, std::size_t k, const array& a, std::size_t n, const char* whose, bool may_be_one) {
  if (may_be_one && a.size() == 1) return {a.at(0), 1, 0, a.as_span().active};
  if (a.shape() != shape_type{static_cast<py::ssize_t>(n)}) {
    throw ShapeError(std::string(row.name) + ": " + std::string(row.arguments[k].name) + " is of shape " + to_text(a.shape()) +
                     ", but must be " + (may_be_one ? "a single number or " : "") + "of length " + std::to_string(n) + "; " +
                     whose);
  }
  return may_be_one ? a.as_span() : a.as_dense();
}

/// No term of these models is a constant that `propto` would leave out.
array record(const glm_row& row, const std::vector<array>& given, bool) {
  const array &y = given[0], &x = given[1], &alpha = given[2], &beta = given[3];
  if (x.shape().size() != 2) {
    throw ShapeError(std::string(row.name) + ": x is of shape " + to_text(x.shape()) +
                     ", but must be a matrix; a row for each outcome, a column for each coefficient");
  }
  const auto n = static_cast<std::size_t>(x.shape()[0]), p = static_cast<std::size_t>(x.shape()[1]);
  const span operands[] = {of_length(row, 0, y, n, "the number of rows of x", true), x.as_dense(),
                           of_length(row, 2, alpha, n, "the number of rows of x", true),
                           of_length(row, 3, beta, p, "the number of columns of x", false)};
  const auto& in = y.owner();
  const slot first = in->code.apply(*row.loops, row.slots(n, p), operands, glm_row::arity,
                                    {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(p)}, in->stores_adjoints);
  return array(in, {}, first);
}

/// Returns a message with as many indices of an entry as the array of this argument has axes, for a message with the place
/// of the entry in the shape to which all arguments broadcast: mu[4] becomes mu[1, 1], or mu[1, 0] of one column.
std::string with_indices(std::string_view argument, const shape_type& shape, const shape_type& terms, std::string text) {
  const std::string before = ": " + std::string(argument) + "[";
  const std::size_t found = text.find(before), end = found == std::string::npos ? found : text.find(']', found);
  if (end == std::string::npos || terms.size() < 2 || text.find(',', found) < end) return text;
  const std::size_t begin = found + before.size(), offset = terms.size() - shape.size();
  std::size_t entry = std::stoul(text.substr(begin, end - begin));
  std::string indices;
  for (std::size_t d = terms.size(); d-- > offset;) {
    const auto length = static_cast<std::size_t>(terms[d]);
    indices = std::to_string(shape[d - offset] == 1 ? 0 : entry % length) + (indices.empty() ? "" : ", ") + indices;
    entry /= length;
  }
  return text.replace(begin, end - begin, indices);
}

std::string with_indices(const density_row& row, const std::vector<array>& x, std::string text) {
  const shape_type terms = broadcast_shape(row.name, x);
  for (std::size_t k = 0; k < x.size(); ++k) text = with_indices(row.arguments[k].name, x[k].shape(), terms, text);
  return text;
}
std::string with_indices(const glm_row& row, const std::vector<array>& x, std::string text) {
  for (std::size_t k = 0; k < x.size(); ++k) text = with_indices(row.arguments[k].name, x[k].shape(), x[k].shape(), text);
  return text;
}

// ---- entries

array record_entries_of(const std::string& name, record_entries record, const std::vector<array>& x) {
  const auto& in = x[0].owner();
  shape_type shape = broadcast_shape(name, x);
  const std::size_t n = size_of(shape);
  if (n == 0) return {in, std::move(shape), slot{0}};
  span operands[operation::most_operands];
  for (std::size_t k = 0; k < x.size(); ++k) operands[k] = entries_operand(x[k], shape, n);
  const span y = record(in->code, operands);
  if (y.stride == 0 && n > 1) return {in, std::move(shape), std::vector<slot>(n, y.first)};
  return {in, std::move(shape), y.first};
}

/// Returns an array of a recording as it is, and one of a recording that ends here as numbers.
py::object result_of(const array& y, bool is_recorded) {
  if (is_recorded) return py::cast(y);
  if (y.shape().empty()) return py::float_(y.owner()->code.value(y.at(0)));
  py::array_t<double> values(y.shape());
  for (std::size_t i = 0; i < y.size(); ++i) values.mutable_data()[i] = y.owner()->code.value(y.at(i));
  return std::move(values);
}

/// Computes the terms of a density or distribution function, whose arguments are not checked.
py::object terms(const density_row& row, const py::args& arguments) {
  const std::string name(row.name);
  check_count(row.name, row.arity, arguments);
  const auto outer = recording_of(name.c_str(), arguments);
  const auto in = outer ? outer : std::make_shared<recording>();
  std::vector<array> x;
  for (const py::handle argument : arguments) x.push_back(as_array(in, row.name, argument));
  return result_of(record_entries_of(name, row.terms, x), outer != nullptr);
}

/// Returns the array after a check that its entries meet a condition, which is made in each run of a program if the array is
/// recorded.
array checked(const std::string& function, std::string_view argument, std::string_view condition, const array& x) {
  if (x.size() == 0) return x;
  const std::size_t place = detail::place_of_name(must_be::all, condition);
  if (place == std::size(must_be::all)) throw std::logic_error("checked: no condition has the name " + std::string(condition));
  const span operand = x.size() == 1 && x.shape().empty() ? span{x.at(0), 1, 0, x.as_span().active} : x.as_span();
  try {
    return {x.owner(), x.shape(), record_checked(x.owner()->code, function, argument, place, operand, x.size())};
  } catch (const DomainError& error) {
    throw DomainError(with_indices(argument, x.shape(), x.shape(), error.what()));
  }
}

/// Returns the first of two arrays, broadcast, after a check in the same way that its entries have a relation to the second's.
array checked_pair(const quantile_row& row, const density_pair& pair, const array& x, const array& y) {
  const shape_type shape = broadcast_shape(row.name, {x, y});
  const std::size_t n = size_of(shape);
  if (n == 0) return x;
  const std::size_t place = detail::place_of_name(must_be::all_relations, pair.must.name);
  const std::string_view first = row.arguments[pair.first].name, second = row.arguments[pair.second].name;
  try {
    return {x.owner(), shape,
            record_checked_pair(x.owner()->code, row.name, first, second, place, entries_operand(x, shape, n),
                                entries_operand(y, shape, n), n)};
  } catch (const DomainError& error) {
    throw DomainError(with_indices(first, shape, shape, error.what()));
  }
}

/// Checks any argument; plain arguments stay as they are.
py::object checked_argument(const std::string& function, const std::string& argument, const std::string& condition,
                            const py::object& x) {
  const py::handle given[] = {x};
  const auto outer = recording_of(function, given, 1);
  const auto in = outer ? outer : std::make_shared<recording>();
  const array y = checked(function, argument, condition, as_array(in, function, x));
  return outer ? py::cast(y) : x;
}

py::object call_quantile(const quantile_row& row, const py::args& arguments) {
  check_count(row.name, row.arity, arguments);
  const auto outer = recording_of(row.name.c_str(), arguments);
  const auto in = outer ? outer : std::make_shared<recording>();
  std::vector<array> x;
  for (std::size_t k = 0; k < arguments.size(); ++k)
    x.push_back(checked(row.name, row.arguments[k].name, row.arguments[k].must.name, as_array(in, row.name, arguments[k])));
  for (std::size_t k = 0; k < row.pair_count; ++k) {
    const density_pair& pair = row.pairs[k];
    x[pair.first] = checked_pair(row, pair, x[pair.first], x[pair.second]);
  }
  return result_of(record_entries_of(row.name, row.record, x), outer != nullptr);
}

// ---- all

template <class Row>
py::object call(const Row& row, const py::args& arguments, bool propto) {
  const std::string name(row.name);
  check_count(row.name, row.arity, arguments);
  const auto outer = recording_of(name.c_str(), arguments);
  const auto in = outer ? outer : std::make_shared<recording>();
  std::vector<array> x;
  for (const py::handle argument : arguments) x.push_back(as_array(in, row.name, argument));
  const array y = [&] {
    try {
      return record(row, x, propto);
    } catch (const DomainError& error) {
      throw DomainError(with_indices(row, x, error.what()));
    }
  }();
  return outer ? py::cast(y) : py::object(py::float_(in->code.value(y.at(0))));
}

template <class Row>
py::class_<Row> register_rows_of(py::module_& m, const char* type, const char* text, const char* function,
                                 const std::vector<Row>& (*rows)(), const char* all) {
  m.def(
      function, [rows] { return references_to(rows()); }, all);
  return py::class_<Row>(m, type, text)
      .def_property_readonly("name", [](const Row& r) { return r.name; })
      .def_property_readonly("text", [](const Row& r) { return r.text; })
      .def_property_readonly("source", [](const Row& r) { return r.source; })
      .def_property_readonly("reference", [](const Row& r) { return r.reference; })
      .def_property_readonly("has_propto", [](const Row& r) { return r.has_propto(); })
      .def_property_readonly("is_product", [](const Row& r) { return r.is_product; })
      .def_property_readonly("pairs", &pairs_of<Row>)
      .def_property_readonly("arguments", &arguments_of<Row>)
      .def("__call__", &call<Row>, py::kw_only(), py::arg("propto") = false);
}

}  // namespace

void register_densities(py::module_& m) {
  register_rows_of(m, "DensityRow", "A log probability density: its name, arguments and texts, and calls.", "density_rows",
                   &density_rows, "All log probability densities of terms.")
      .def_property_readonly("scipy", [](const density_row& r) { return r.scipy; })
      .def("terms", &terms, "The terms, entry by entry, of broadcast arguments that are not checked.");
  register_rows_of(m, "GlmRow", "A generalised linear model: its name, arguments and texts, and calls.", "glm_rows", &glm_rows,
                   "All log likelihoods of generalised linear models.");
  m.def(
      "quantile_rows", [] { return references_to(quantile_rows()); }, "All quantiles.");
  py::class_<quantile_row>(m, "QuantileRow", "A quantile: its name, text and arguments, and calls.")
      .def_readonly("name", &quantile_row::name)
      .def_readonly("text", &quantile_row::text)
      .def_property_readonly("arguments", &arguments_of<quantile_row>)
      .def_property_readonly("pairs", &pairs_of<quantile_row>)
      .def("__call__", &call_quantile);
  m.def("checked", &checked_argument, py::arg("function"), py::arg("argument"), py::arg("condition"), py::arg("x"),
        "x, after a check that its entries meet a condition, in each run of a program.");
}

}  // namespace agrad::python
