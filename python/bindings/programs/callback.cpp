// Callbacks: Python functions as operations of programs, and the operations of derivatives by hand.
//
// A callback is called with plain values whenever the program runs, in the forward and in the reverse pass, under the
// interpreter lock. The structure of the arguments is handled in python/agrad/_transforms/custom_functions.py; here a callback
// is a function of one vector.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <agrad/program/machine/custom.hpp>
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../arrays/array.hpp"
#include "../errors.hpp"
#include "../guarded_object.hpp"
#include "../python_call.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

class callback_operation final : public external_operation {
 public:
  /// forward(x, with_adjoint) returns (y, residuals); reverse(residuals, y_adjoint) returns x_adjoint.
  callback_operation(std::string name, py::object forward, py::object reverse, std::size_t arguments)
      : name_(std::move(name)), forward_(std::move(forward)), reverse_(std::move(reverse)), arguments_(arguments) {}

  std::string_view name() const override { return name_; }
  std::unique_ptr<external_operation::state> make_state() const override { return std::make_unique<kept>(); }

  void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override {
    const lock_held_in_run locked;
    py::object result = std::exchange(first_.get(), py::object());
    if (!result) result = calling_user([&] { return call(x, with_adjoint); });
    const auto pair = result.cast<py::tuple>();
    const auto values = pair[0].cast<doubles>();
    if (static_cast<std::size_t>(values.size()) != results_)
      throw ShapeError(name_ + ": result has another size than in the first call, but must have the same");
    std::copy_n(values.data(), results_, y);
    static_cast<kept&>(s).residuals.get() = pair[1];
  }

  void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override {
    if (std::all_of(y_adjoint, y_adjoint + results_, [](double seed) { return seed == 0; })) return;
    const lock_held_in_run locked;
    const auto back = calling_user(
        [&] { return reverse_.get()(static_cast<kept&>(s).residuals.get(), to_numpy(y_adjoint, results_)).cast<doubles>(); });
    if (static_cast<std::size_t>(back.size()) != arguments_)
      throw ShapeError(name_ + ": cotangent has another size than x, but must have the same");
    for (std::size_t i = 0; i < arguments_; ++i) x_adjoint[i] += back.data()[i];
  }

  /// Calls the function at recording to get the size of its result; the next run uses this result.
  std::size_t prepare(const double* x, bool with_adjoint) {
    first_.get() = calling_user([&] { return call(x, with_adjoint); });
    results_ = static_cast<std::size_t>(first_.get().cast<py::tuple>()[0].cast<doubles>().size());
    return results_;
  }

 private:
  struct kept final : external_operation::state {
    guarded_object residuals;
  };

  py::object call(const double* x, bool with_adjoint) const { return forward_.get()(to_numpy(x, arguments_), with_adjoint); }

  std::string name_;
  guarded_object forward_, reverse_;
  mutable guarded_object first_;  // used by the recording thread, before other threads know the operation
  std::size_t arguments_, results_ = 0;
};

/// Records a callback of the entries of x and returns its result, a vector.
array record_callback(const std::string& name, py::object forward, py::object reverse, const array& x) {
  check_open(name.c_str(), *x.owner());
  recording& in = *x.owner();
  const span argument = x.as_dense();
  const auto f = std::make_shared<callback_operation>(name, std::move(forward), std::move(reverse), x.size());
  std::vector<double> values(x.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = in.code.value(x.at(i));
  const std::size_t count = f->prepare(values.data(), in.stores_adjoints);
  const slot first = in.code.apply(f, argument, count, in.stores_adjoints);
  return array(x.owner(), {static_cast<py::ssize_t>(count)}, first);
}

array record_unary(const kernel& what, const array& x) {
  check_open(std::string(what.name).c_str(), *x.owner());
  const span argument = x.as_span();
  return array(x.owner(), x.shape(), x.owner()->code.apply(what, x.size(), &argument, 1))
      .mark(x.is_condition() && &what != &kernels::perturbation);
}

/// The position in a recording: the numbers of operations, slots and captured arrays.
using position = std::tuple<std::size_t, std::size_t, std::size_t>;

position position_of(const recording& r) { return {r.code.code().operations.size(), r.code.size(), r.captured.size()}; }

/// Returns whether operations since `begin` have derivatives with respect to values recorded before or captured since.
/// stop_gradient, hold and perturbation, with which a derivative by hand begins, do not count, and their results are inside.
bool reaches_before(const recording& r, const position& begin) {
  const auto [first, slots, captured] = begin;
  if (r.captured.size() > captured) return true;
  std::vector<bool> is_copy(r.code.size() - slots, false);  // copies of outside values by a gather
  const auto is_outside = [&, slots = slots](slot s) { return s < slots ? r.code.is_active(s) : is_copy[s - slots]; };
  const program_code& code = r.code.code();
  for (std::size_t n = first; n < code.operations.size(); ++n) {
    const operation& op = code.operations[n];
    if (op.what == &kernels::stop_gradient || op.what == &kernels::hold || op.what == &kernels::perturbation) continue;
    if (op.what == &kernels::gather) {
      for (std::uint32_t i = 0; i < op.count; ++i) is_copy[op.result + i - slots] = is_outside(code.integers[op.data + i]);
      continue;
    }
    for (std::uint32_t k = 0; k < op.arity; ++k)
      for (std::uint32_t i = 0; i < op.operands[k].count; ++i)
        if (is_outside(op.operands[k].first + i)) return true;
  }
  return false;
}

array record_with_derivative(const array& value, const array& forwards, const array& backwards) {
  check_open("with_derivative", *value.owner());
  for (const array* each : {&forwards, &backwards})
    if (each->owner() != value.owner() || each->shape() != value.shape())
      throw ShapeError("with_derivative: forwards and backwards must have the shape and recording of value");
  const span operands[] = {value.as_span(), forwards.as_span(), backwards.as_span()};
  const slot first = value.owner()->code.apply(kernels::with_derivative, value.size(), operands, 3);
  return array(value.owner(), value.shape(), first);
}

}  // namespace

void register_callback(py::module_& m) {
  m.def("record_callback", &record_callback, py::arg("name"), py::arg("forward"), py::arg("reverse"), py::arg("x"),
        "Records a Python function of the entries of x, and its derivative, as one operation.");
  py::reinterpret_borrow<py::class_<recording, std::shared_ptr<recording>>>(m.attr("Recording"))
      .def_property_readonly("position", &position_of, "The number of operations recorded so far, for `reaches_before`.")
      .def("reaches_before", &reaches_before, py::arg("position"),
           "Whether operations since `position` have derivatives with respect to what was recorded before.");
  m.def(
      "stop_gradient", [](const array& x) { return record_unary(kernels::stop_gradient, x); },
      "The same values, which are constants in every derivative.");
  m.def(
      "hold", [](const array& x) { return record_unary(kernels::hold, x); },
      "The same values and tangents, which are constants in the reverse pass.");
  m.def(
      "perturbation", [](const array& x) { return record_unary(kernels::perturbation, x); },
      "Zeros that have the derivatives of x.");
  m.def("with_derivative", &record_with_derivative, py::arg("value"), py::arg("forwards"), py::arg("backwards"),
        "The values of `value`, with the tangents of `forwards`; adjoints are passed to `backwards`.");
}

}  // namespace agrad::python
