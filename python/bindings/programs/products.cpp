// Products of a program's derivatives with vectors, in Python: methods of the class Program.
#include <agrad/program/products.hpp>

#include <pybind11/stl.h>

#include "../arrays/array.hpp"
#include "pool.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

py::array_t<double> vector_of(std::size_t n) { return py::array_t<double>(static_cast<py::ssize_t>(n)); }

py::array_t<double> rows_of(std::size_t rows, std::size_t n) {
  return py::array_t<double>({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(n)});
}

/// Returns the number of rows of a matrix; throws ShapeError if the matrix does not have n columns.
std::size_t rows_in(const char* function, const doubles& matrix, std::size_t n) {
  if (matrix.ndim() == 2 && static_cast<std::size_t>(matrix.shape(1)) == n) return static_cast<std::size_t>(matrix.shape(0));
  throw ShapeError(std::string(function) + ": argument must be a matrix of " + std::to_string(n) + " columns");
}

std::string name_of_first_without_tangents(const program& f, int order) {
  const external_operation* external = f.first_without_tangents(order);
  return external == nullptr ? std::string() : std::string(external->name());
}

py::object call_jacobian_products(const pooled_program& f, const std::vector<doubles>& inputs, const doubles& directions) {
  const std::vector<double> x = joined(*f.code, inputs);
  const std::size_t count = rows_in("jacobian_products", directions, x.size());
  auto y = vector_of(f.code->output_size()), products = rows_of(count, f.code->output_size());
  double *values = y.mutable_data(), *to = products.mutable_data();
  const double* from = directions.data();
  const bool done = on_path([&] {
    const auto w = f.workspaces.acquire();
    jacobian_products(*f.code, *w, x.data(), from, count, values, to);
  });
  return done ? py::object(py::make_tuple(y, products)) : py::none();
}

py::object call_adjoint_products(const pooled_program& f, const std::vector<doubles>& inputs, const doubles& adjoints) {
  const std::vector<double> x = joined(*f.code, inputs);
  const std::size_t count = rows_in("adjoint_products", adjoints, f.code->output_size());
  auto y = vector_of(f.code->output_size()), products = rows_of(count, x.size());
  double *values = y.mutable_data(), *to = products.mutable_data();
  const double* from = adjoints.data();
  const bool done = on_path([&] {
    const auto w = f.workspaces.acquire();
    adjoint_products(*f.code, *w, x.data(), from, count, values, to);
  });
  return done ? py::object(py::make_tuple(y, products)) : py::none();
}

py::object call_hessian_products(const pooled_program& f, const std::vector<doubles>& inputs, const doubles& y_adjoint,
                                 const doubles& directions) {
  const std::vector<double> x = joined(*f.code, inputs);
  const std::size_t count = rows_in("hessian_products", directions, x.size());
  if (static_cast<std::size_t>(y_adjoint.size()) != f.code->output_size())
    throw ShapeError("hessian_products: y_adjoint must have one entry for each output");
  auto y = vector_of(f.code->output_size()), gradient = vector_of(x.size()), products = rows_of(count, x.size());
  double *values = y.mutable_data(), *slope = gradient.mutable_data(), *to = products.mutable_data();
  const double *seeds = y_adjoint.data(), *from = directions.data();
  const bool done = on_path([&] {
    const auto w = f.workspaces.acquire();
    hessian_products(*f.code, *w, x.data(), seeds, from, count, values, slope, to);
  });
  return done ? py::object(py::make_tuple(y, gradient, products)) : py::none();
}

}  // namespace

void register_products(py::module_& m) {
  auto type = py::reinterpret_borrow<py::class_<pooled_program, std::shared_ptr<pooled_program>>>(m.attr("Program"));
  type.def(
          "first_without_tangents",
          [](const pooled_program& f, int order) { return name_of_first_without_tangents(*f.code, order); }, py::arg("order"),
          "The name of an operation without forward mode (order 1), without second derivatives (2), or whose forward mode "
          "agrees with reverse mode within tolerances only (0); empty if there is none.")
      .def("jacobian_products", &call_jacobian_products, py::arg("inputs"), py::arg("directions"),
           "Outputs, and the Jacobian times each row of directions; None if a comparison had another result than at recording.")
      .def("adjoint_products", &call_adjoint_products, py::arg("inputs"), py::arg("adjoints"),
           "Outputs, and the transposed Jacobian times each row of adjoints; or None as above.")
      .def("hessian_products", &call_hessian_products, py::arg("inputs"), py::arg("y_adjoint"), py::arg("directions"),
           "Outputs, the gradient of y_adjoint . outputs, and its Hessian times each row of directions; or None as above.");
}

}  // namespace agrad::python
