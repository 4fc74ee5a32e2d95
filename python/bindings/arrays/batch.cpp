// Batches, in Python: a recording of one element, recorded for all elements in the recording around it.
#include <agrad/program/derive/batch.hpp>

#include <pybind11/stl.h>

#include <tuple>
#include <utility>
#include <vector>

#include "array.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

using condition = std::pair<array, bool>;

/// Returns an output for all elements, `rows` x entries.
array rows_of(const std::shared_ptr<recording>& to, const batch_recorder& batch, const array& output, std::uint32_t rows) {
  const std::size_t n = output.size();
  shape_type shape{static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(n)};
  const auto is_beside = [&](std::size_t i) {  // entry i of each row, beside the entry before
    const batch_place &first = batch.at(output.at(0)), &at = batch.at(output.at(i));
    return at.step == n && at.first == first.first + i;
  };
  std::size_t beside = 0;
  while (beside < n && is_beside(beside)) ++beside;
  if (n > 0 && beside == n) return {to, std::move(shape), batch.at(output.at(0)).first};
  std::vector<slot> slots;
  slots.reserve(rows * n);
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < n; ++i) slots.push_back(batch.at(output.at(i)).row(r));
  return {to, std::move(shape), std::move(slots)};
}

/// Returns the outputs for all elements, and the conditions of the element's path with their results.
std::pair<std::vector<array>, std::vector<condition>> record_batch(const std::shared_ptr<recording>& to, const recording& row,
                                                                   const std::vector<array>& inputs,
                                                                   const std::vector<array>& given,
                                                                   const std::vector<array>& outputs, std::uint32_t rows) {
  check_open(to->function.c_str(), *to);
  batch_recorder batch(to->code, row.code, rows);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::size_t n = inputs[k].size();
    const slot first = given[k].as_dense().first;
    for (std::size_t i = 0; i < n; ++i)
      batch.set_place(inputs[k].at(i), {first + static_cast<slot>(i), static_cast<std::uint32_t>(n)});
  }
  for (std::size_t k = 0; k < row.captured.size(); ++k) {
    const array outer = as_array(to, row.function, py::cast(row.captured[k]));
    for (std::size_t i = 0, n = outer.size(); i < n; ++i)
      batch.set_place(row.captured_at[k] + static_cast<slot>(i), {outer.at(i), 0});
  }
  try {
    batch.run();
  } catch (const kernels::path_left&) {
    throw ScopeError(
        row.function +
        ": a path of a loop or branch that the first row did not take captures a value from around the function, but "
        "must capture only what the first row captured; pass the value to the function as an argument");
  }
  std::vector<array> results;
  for (const array& output : outputs) results.push_back(rows_of(to, batch, output, rows));
  std::vector<condition> conditions;
  for (const auto& [where, holds] : batch.guards()) {
    std::vector<slot> each(rows);
    for (std::uint32_t r = 0; r < rows; ++r) each[r] = where.row(r);
    conditions.emplace_back(array(to, {static_cast<py::ssize_t>(rows)}, std::move(each)).mark(true), holds);
  }
  return {std::move(results), std::move(conditions)};
}

}  // namespace

void register_batch(py::module_& m) {
  py::reinterpret_borrow<py::class_<recording, std::shared_ptr<recording>>>(m.attr("Recording"))
      .def("batch", &record_batch, py::arg("row"), py::arg("inputs"), py::arg("given"), py::arg("outputs"), py::arg("rows"),
           "Applies what was recorded for one row to many rows: `given` has the rows of the `inputs` along the first axis. "
           "Returns the rows of each of the outputs, and the conditions of the recorded path.");
}

}  // namespace agrad::python
