// Debugging recordings: the operation with the first nan and its line of the user's code, in the forward and the reverse pass;
// and further properties of recordings for Python (tapes, lines of comparisons).
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <agrad/program/machine/watch.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../lock.hpp"
#include "array.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// Raises FloatingPointError through `fail(what, index, value, operands, file, line)` at the first nan, or with `infinities`
/// also at the first infinity from finite numbers.
class nan_watch final : public operation_watch {
 public:
  nan_watch(const recording& of, bool infinities, py::function fail)
      : of_(of), infinities_(infinities), fail_(std::move(fail)) {}
  nan_watch(const nan_watch&) = delete;
  nan_watch& operator=(const nan_watch&) = delete;
  ~nan_watch() override {
    const lock_held locked;
    places_.clear();
    fail_ = py::function();
  }

  void after_input(const double* values, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i)
      if (std::isnan(values[i])) fail("input", "", i, n, values[i], {});
  }

  void after_forward(const operation& op, std::size_t index, const double* values) override {
    note_place(index);
    if (op.what == &kernels::gather) return;
    const double* y = values + op.result;
    for (std::uint32_t i = 0; i < op.count; ++i) {
      if (std::isfinite(y[i])) continue;
      if (std::isinf(y[i]) && (!infinities_ || !are_finite(op, values))) continue;
      fail("result", name_of(op), i, op.count, y[i], index, operands_of(op, i, values));
    }
  }

  void after_reverse(const operation& op, std::size_t index, const double* values, const double* adjoints) override {
    if (op.what == &kernels::gather) return;
    const bool from_finite =
        std::all_of(adjoints + op.result, adjoints + op.result + op.count, [](double x) { return std::isfinite(x); });
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const span& x = op.operands[k];
      if (!x.active) continue;
      for (std::uint32_t i = 0; i < x.count; ++i) {
        const double adjoint = adjoints[x.first + i];
        if (std::isfinite(adjoint) || (std::isinf(adjoint) && (!infinities_ || !from_finite))) continue;
        fail("adjoint", name_of(op), i, x.count, adjoint, index, operands_of(op, i, values), static_cast<int>(k));
      }
    }
  }

 private:
  // Operations recorded before the watch began have no place.
  void note_place(std::size_t index) {
    const lock_held locked;
    places_.resize(index);
    places_.push_back(user_place());
  }

  static bool are_finite(const operation& op, const double* values) {
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const span& x = op.operands[k];
      for (std::uint32_t i = 0; i < x.count; ++i)
        if (!std::isfinite(values[x.first + i])) return false;
    }
    return true;
  }

  std::string name_of(const operation& op) const {
    if (op.what != &kernels::external) return std::string(op.what->name);
    const program_code& code = of_.code.code();
    return std::string(code.externals[code.integers[op.data]]->name());
  }

  // Returns the operands of entry i of the result, if the operation works entry by entry.
  static std::vector<double> operands_of(const operation& op, std::uint32_t i, const double* values) {
    std::vector<double> operand_values;
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const span& x = op.operands[k];
      if (x.stride == 1 && x.count != op.count) return {};
      operand_values.push_back(values[x.first + i * x.stride]);
    }
    return operand_values;
  }

  [[noreturn]] void fail(const char* what, const std::string& name, std::size_t i, std::size_t count, double value,
                         std::size_t index, const std::vector<double>& operand_values, int operand = 0) {
    const lock_held locked;
    const source_place place = index < places_.size() ? places_[index] : source_place{};
    raise(what, name, i, count, value, operand_values, place, operand);
  }
  [[noreturn]] void fail(const char* what, const std::string& name, std::size_t i, std::size_t count, double value,
                         const std::vector<double>& operand_values) {
    const lock_held locked;
    raise(what, name, i, count, value, operand_values, user_place(), 0);
  }
  [[noreturn]] void raise(const char* what, const std::string& name, std::size_t i, std::size_t count, double value,
                          const std::vector<double>& operand_values, const source_place& place, int operand) {
    fail_(of_.function, what, name, operand, i, count, value, operand_values, place.file(), place.line);
    throw std::logic_error("debug_nans: `fail` returned, but must raise");
  }

  const recording& of_;
  bool infinities_;
  py::function fail_;
  std::vector<source_place> places_;  // by operation
};

}  // namespace

void register_debug(py::module_& m) {
  auto type = py::reinterpret_borrow<py::class_<recording, std::shared_ptr<recording>>>(m.attr("Recording"));
  type.def(
          "watch",
          [](recording& r, bool infinities, py::function fail) {
            r.watching = std::make_shared<nan_watch>(r, infinities, std::move(fail));
            r.code.watch(r.watching.get());
          },
          py::arg("infinities"), py::arg("fail"), "Calls `fail` at the first operation that makes a nan, or an infinity.")
      .def(
          "become_tape", [](recording& r) { r.is_tape = r.captures = true; },
          "Makes this recording a tape: from now on arrays of outer tapes become inputs of this tape.")
      .def_property_readonly("is_tape", [](const recording& r) { return r.is_tape; })
      .def_property_readonly("is_open", [](const recording& r) { return r.is_open; })
      .def_property_readonly(
          "captured_inputs",
          [](const std::shared_ptr<recording>& r) {
            std::vector<array> inputs;
            for (std::size_t i = 0; i < r->captured.size(); ++i)
              inputs.emplace_back(r, r->captured[i].shape(), r->captured_at[i]);
            return inputs;
          },
          "The inputs that stand for the captured arrays.")
      .def_property_readonly(
          "comparisons", [](const recording& r) { return r.comparisons.tallies(); },
          "For each line with comparisons: file, line, times true, times false.");
}

}  // namespace agrad::python
