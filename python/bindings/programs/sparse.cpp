// Sparse Jacobians and Hessians of programs in Python: analysed once for a program, computed at many points.
//
// An analysis does not own its program, so that both can be stored together and destroyed together; each call gets the program
// as an argument.
#include <agrad/program/sparse/sparse.hpp>

#include <pybind11/stl.h>

#include "../arrays/array.hpp"
#include "pool.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

using places = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

std::vector<std::uint32_t> required_of(const pooled_program& f, const places& required) {
  std::vector<std::uint32_t> list(required.data(), required.data() + required.size());
  for (const std::uint32_t j : list)
    if (j >= f.code->input_size()) throw ShapeError("sparse: wanted must be indices of the program's inputs");
  return list;
}

template <class Derivative>
Derivative analysed(const pooled_program& f, const places& required) {
  std::vector<std::uint32_t> list = required_of(f, required);
  const lock_left unlocked;
  return Derivative(*f.code, std::move(list));
}

/// Returns indices as int32, which SciPy uses for matrices of this size.
template <class Numbers>
py::array_t<std::int32_t> indices_of(const Numbers& numbers) {
  py::array_t<std::int32_t> result(static_cast<py::ssize_t>(numbers.size()));
  std::transform(numbers.begin(), numbers.end(), result.mutable_data(), [](auto i) { return static_cast<std::int32_t>(i); });
  return result;
}

py::object jacobian_entries(const sparse_jacobian& j, const pooled_program& f, const std::vector<doubles>& inputs) {
  const std::vector<double> x = joined(*f.code, inputs);
  py::array_t<double> entries(static_cast<py::ssize_t>(j.pattern().size()));
  double* to = entries.mutable_data();
  const bool done = on_path([&] {
    std::vector<double> y(f.code->output_size());
    const auto w = f.workspaces.acquire();
    j(*f.code, *w, x.data(), y.data(), to);
  });
  return done ? py::object(std::move(entries)) : py::none();
}

py::object hessian_entries(const sparse_hessian& h, const pooled_program& f, const std::vector<doubles>& inputs) {
  const std::vector<double> x = joined(*f.code, inputs);
  py::array_t<double> entries(static_cast<py::ssize_t>(h.pattern().size()));
  double* to = entries.mutable_data();
  const bool done = on_path([&] {
    std::vector<double> y(f.code->output_size()), gradient(x.size());
    const std::vector<double> seeds(f.code->output_size(), 1.0);
    const auto w = f.workspaces.acquire();
    h(*f.code, *w, x.data(), seeds.data(), y.data(), gradient.data(), to);
  });
  return done ? py::object(std::move(entries)) : py::none();
}

template <class Derivative>
py::class_<Derivative> register_derivative(py::module_& m, const char* name, const char* text) {
  return py::class_<Derivative>(m, name, text)
      .def(py::init(&analysed<Derivative>), py::arg("program"), py::arg("required"))
      .def_property_readonly("shape", [](const Derivative& d) { return py::make_tuple(d.pattern().rows(), d.pattern().cols); })
      .def_property_readonly("indptr", [](const Derivative& d) { return indices_of(d.pattern().begin); })
      .def_property_readonly("indices", [](const Derivative& d) { return indices_of(d.pattern().col); })
      .def_property_readonly("colours", [](const Derivative& d) { return d.colours().count; })
      .def_property_readonly(
          "groups", [](const Derivative& d) { return indices_of(d.colours().colour); },
          "The colour of each column, or row; -1 where there is no entry.");
}

}  // namespace

void register_sparse(py::module_& m) {
  register_derivative<sparse_jacobian>(m, "SparseJacobian", "The pattern and colouring of a program's Jacobian.")
      .def_property_readonly("by_rows", &sparse_jacobian::by_rows)
      .def("entries", &jacobian_entries, py::arg("program"), py::arg("inputs"),
           "The entries of the pattern; None if a comparison had another result than at recording.");
  register_derivative<sparse_hessian>(m, "SparseHessian", "The pattern and star colouring of the Hessian of a program's sum.")
      .def("entries", &hessian_entries, py::arg("program"), py::arg("inputs"),
           "The entries of the pattern; None if a comparison had another result than at recording.");
}

}  // namespace agrad::python
