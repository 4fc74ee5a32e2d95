// Many solves, in Python: differential equations of one right-hand side, side by side in threads.
#include <agrad/program/parallel.hpp>
#include <agrad/solve/event_operation.hpp>
#include <agrad/solve/ode_operation.hpp>

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "array.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

using solve_type = std::variant<std::shared_ptr<ode_operation>, std::shared_ptr<event_operation>>;
using part_type = std::pair<solve_type, std::vector<std::uint32_t>>;

std::shared_ptr<parallel_operation> made(const std::string& name, const std::vector<part_type>& parts, std::size_t threads) {
  std::vector<parallel_operation::part> all;
  for (const part_type& each : parts)
    std::visit([&](const auto& what) { all.push_back({what, each.second, what->output_size()}); }, each.first);
  return std::make_shared<parallel_operation>(name, std::move(all), threads);
}

/// All states of all solves, one after the other, recorded on the entries of x.
array record(const std::shared_ptr<const parallel_operation>& f, const array& x) {
  const span argument = x.as_dense();
  recording& in = *x.owner();
  slot first = 0;
  {
    const py::gil_scoped_release unlocked;
    first = in.code.apply(f, argument, f->output_size(), in.keeps_adjoints);
  }
  return {x.owner(), {static_cast<py::ssize_t>(f->output_size())}, first};
}

/// The same at once.
py::array_t<double> solve(const parallel_operation& f, const doubles& x) {
  py::array_t<double> y(static_cast<py::ssize_t>(f.output_size()));
  const double* from = x.data();
  double* to = y.mutable_data();
  const auto state = f.make_state();
  const py::gil_scoped_release unlocked;
  f.forward(*state, from, to, false);
  return y;
}

}  // namespace

void register_solve_many(py::module_& m) {
  py::class_<parallel_operation, std::shared_ptr<parallel_operation>>(m, "ManyOperation", "Solves side by side, in threads.")
      .def(py::init(&made), py::arg("name"), py::arg("parts"), py::arg("threads"))
      .def("record", &record)
      .def("solve", &solve);
}

}  // namespace agrad::python
