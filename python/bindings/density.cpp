// The table of densities in Python: one operation for a whole data set, recorded or evaluated at once.
#include "../../cpp/rows/rows.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "array.hpp"
#include "errors.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Returns the number of terms. All arguments but single numbers must have the same shape.
std::size_t terms_of(const density_row& row, const std::vector<array>& x) {
  const array* longest = nullptr;
  for (const array& a : x)
    if (a.size() != 1 || (longest == nullptr && !a.shape().empty()))
      longest = longest == nullptr || longest->size() == 1 ? &a : longest;
  if (longest == nullptr) return 1;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k].size() == 1 || x[k].shape() == longest->shape()) continue;
    throw ShapeError(std::string(row.name) + ": " + std::string(row.arguments[k].name) + " is of shape " +
                     to_text(x[k].shape()) + ", but must be of shape " + to_text(longest->shape()) +
                     "; all arrays have one shape, single numbers broadcast");
  }
  return longest->size();
}

span operand(const array& a, std::size_t n) {
  const span s = a.as_span();
  return a.size() == 1 ? span{s.first, 1, static_cast<std::uint16_t>(n == 1 && !a.shape().empty() ? 1 : 0), s.active} : s;
}

array record(const density_row& row, const std::vector<array>& x, bool propto) {
  const std::size_t n = terms_of(row, x);
  span operands[operation::most_operands];
  for (std::size_t k = 0; k < x.size(); ++k) operands[k] = operand(x[k], n);
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

array record(const glm_row& row, const std::vector<array>& given, bool propto) {
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
  const bool is_constant = !operands[1].active && !operands[2].active && !operands[3].active;
  return array(in, {}, propto && is_constant ? in->constant(0.0) : first);
}

// ---- both

/// Returns a message with as many indices of an entry as the array has axes, for a message with a single index: mu[4] becomes
/// mu[1, 1].
template <class Row>
std::string with_indices(const Row& row, const std::vector<array>& x, std::string text) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::string before = ": " + std::string(row.arguments[k].name) + "[";
    const std::size_t found = text.find(before), end = found == std::string::npos ? found : text.find(']', found);
    if (end == std::string::npos || x[k].shape().size() < 2 || text.find(',', found) < end) continue;
    const std::size_t begin = found + before.size();
    std::size_t entry = std::stoul(text.substr(begin, end - begin));
    std::string indices;
    for (std::size_t d = x[k].shape().size(); d-- > 0;) {
      const auto length = static_cast<std::size_t>(x[k].shape()[d]);
      indices = std::to_string(entry % length) + (indices.empty() ? "" : ", ") + indices;
      entry /= length;
    }
    return text.replace(begin, end - begin, indices);
  }
  return text;
}

template <class Row>
py::object call(const Row& row, const py::args& arguments, bool propto) {
  const std::string name(row.name);
  if (arguments.size() != static_cast<std::size_t>(row.arity)) {
    fail_type(name + ": number of arguments is " + std::to_string(arguments.size()) + ", but must be " +
              std::to_string(row.arity));
  }
  const auto outer = recording_of(name.c_str(), arguments);
  const auto in = outer ? outer : std::make_shared<recording>();
  std::vector<array> x;
  for (const py::handle argument : arguments) x.push_back(as_array(in, row.name, argument));
  const array y = [&] {
    try {
      return record(row, x, propto && outer);
    } catch (const DomainError& error) {
      throw DomainError(with_indices(row, x, error.what()));
    }
  }();
  return outer ? py::cast(y) : py::object(py::float_(in->code.value(y.at(0))));
}

template <class Row>
void register_rows_of(py::module_& m, const char* type, const char* text, const char* function,
                      const std::vector<Row>& (*rows)(), const char* all) {
  py::class_<Row>(m, type, text)
      .def_property_readonly("name", [](const Row& r) { return r.name; })
      .def_property_readonly("text", [](const Row& r) { return r.text; })
      .def_property_readonly("source", [](const Row& r) { return r.source; })
      .def_property_readonly("reference", [](const Row& r) { return r.reference; })
      .def_property_readonly("has_propto", [](const Row& r) { return r.has_propto(); })
      .def_property_readonly("is_product", [](const Row& r) { return r.is_product; })
      .def_property_readonly("arguments",
                             [](const Row& r) {
                               py::list arguments;
                               for (int k = 0; k < r.arity; ++k)
                                 arguments.append(py::make_tuple(r.arguments[k].name, r.arguments[k].must.name));
                               return arguments;
                             })
      .def_property_readonly("pairs",
                             [](const Row& r) {
                               std::vector<std::tuple<std::size_t, std::string_view, std::size_t>> pairs;
                               for (std::size_t k = 0; k < r.pair_count; ++k)
                                 pairs.emplace_back(r.pairs[k].first, r.pairs[k].must, r.pairs[k].second);
                               return pairs;
                             })
      .def("__call__", &call<Row>, py::kw_only(), py::arg("propto") = false);
  m.def(
      function,
      [rows] {
        py::list list;
        for (const Row& row : rows()) list.append(py::cast(&row, py::return_value_policy::reference));
        return list;
      },
      all);
}

}  // namespace

void register_densities(py::module_& m) {
  register_rows_of(m, "DensityRow", "A log probability density: its name, arguments and texts, and calls.", "density_rows",
                   &density_rows, "All log probability densities of terms.");
  register_rows_of(m, "GlmRow", "A generalised linear model: its name, arguments and texts, and calls.", "glm_rows", &glm_rows,
                   "All log likelihoods of generalised linear models.");
}

}  // namespace agrad::python
