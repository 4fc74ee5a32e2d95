// Many solves in Python: problems of one right-hand side, side by side in threads.
#include <agrad/program/loops/parallel.hpp>
#include <agrad/solve/record/solve_operation.hpp>

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../arrays/apply.hpp"
#include "../arrays/array.hpp"
#include "../programs/run.hpp"
#include "listener.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

using part_type = std::pair<std::shared_ptr<solve_operation>, std::vector<std::uint32_t>>;

/// Another operation, with additional work around each of its passes.
class wrapped_operation : public external_operation {
 public:
  explicit wrapped_operation(std::shared_ptr<const external_operation> what) : what_(std::move(what)) {}

  std::string_view name() const override { return what_->name(); }
  bool is_linear() const override { return what_->is_linear(); }
  bool has_tangents() const override { return what_->has_tangents(); }
  bool has_first_tangents() const override { return what_->has_first_tangents(); }
  const external_operation* first_without_tangents(int order) const override { return what_->first_without_tangents(order); }

 protected:
  std::shared_ptr<const external_operation> what_;
};

/// A part that is counted when it is done. The listener is in the state, because the same part may be in several runs.
class counted_part final : public wrapped_operation {
 public:
  using wrapped_operation::wrapped_operation;

  struct counted final : state {
    std::unique_ptr<state> of;
    mutable parts_listener* listener = nullptr;
  };
  std::unique_ptr<state> make_state() const override {
    auto result = std::make_unique<counted>();
    result->of = what_->make_state();
    return result;
  }

  void forward(state& s, const double* x, double* y, bool with_adjoint) const override {
    what_->forward(*of(s).of, x, y, with_adjoint);
    count(s);
  }
  void reverse(state& s, const double* y_adjoint, double* x_adjoint) const override {
    what_->reverse(*of(s).of, y_adjoint, x_adjoint);
    count(s);
  }
  void tangent(state& s, int width, const double* x_tangent, double* y_tangent) const override {
    what_->tangent(*of(s).of, width, x_tangent, y_tangent);
  }
  void second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
              double* x_adjoint_tangent) const override {
    what_->second(*of(s).of, width, y_adjoint, y_adjoint_tangent, x_adjoint, x_adjoint_tangent);
  }

 private:
  static counted& of(state& s) { return static_cast<counted&>(s); }
  static void count(state& s) {
    if (of(s).listener != nullptr) of(s).listener->count();
  }
};

/// All parts side by side, with a listener for each pass that reports the number of finished parts.
class reporting_operation final : public wrapped_operation {
 public:
  reporting_operation(std::shared_ptr<const parallel_operation> what, std::size_t parts, std::shared_ptr<const listeners> from)
      : wrapped_operation(std::move(what)), parts_(parts), from_(std::move(from)) {}

  std::unique_ptr<state> make_state() const override { return what_->make_state(); }

  void forward(state& s, const double* x, double* y, bool with_adjoint) const override {
    with_listener(s, false, [&] { what_->forward(s, x, y, with_adjoint); });
  }
  void reverse(state& s, const double* y_adjoint, double* x_adjoint) const override {
    with_listener(s, true, [&] { what_->reverse(s, y_adjoint, x_adjoint); });
  }
  void tangent(state& s, int width, const double* x_tangent, double* y_tangent) const override {
    what_->tangent(s, width, x_tangent, y_tangent);
  }
  void second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
              double* x_adjoint_tangent) const override {
    what_->second(s, width, y_adjoint, y_adjoint_tangent, x_adjoint, x_adjoint_tangent);
  }

 private:
  template <class Pass>
  void with_listener(state& s, bool backwards, const Pass& pass) const {
    parts_listener listener(from_, backwards, parts_);
    set(s, &listener);
    try {
      pass();
      listener.done();
    } catch (...) {
      set(s, nullptr);
      throw;
    }
    set(s, nullptr);
  }
  void set(state& s, parts_listener* listener) const {
    for (std::size_t i = 0; i < parts_; ++i)
      static_cast<const counted_part::counted&>(parallel_operation::state_of(s, i)).listener = listener;
  }

  std::size_t parts_;
  std::shared_ptr<const listeners> from_;
};

/// The operation of all parts, and the length of its result.
struct many_solves {
  std::shared_ptr<const external_operation> what;
  std::size_t results;
};

many_solves make_many(const std::string& name, const std::vector<part_type>& parts, std::size_t threads,
                      const solve_progress* progress) {
  std::vector<parallel_operation::part> all;
  for (const auto& [what, inputs] : parts) all.push_back({what, inputs, what->output_size()});
  if (progress != nullptr)
    for (parallel_operation::part& each : all) each.what = std::make_shared<counted_part>(std::move(each.what));
  const auto together = std::make_shared<const parallel_operation>(name, std::move(all), threads);
  if (progress == nullptr) return {together, together->output_size()};
  return {std::make_shared<reporting_operation>(together, parts.size(), progress->from()), together->output_size()};
}

/// Records the solves on the entries of x; returns all states of all problems, one after the other.
array record_many(const many_solves& f, const array& x) {
  return applied(f.what, x, shape_type{static_cast<py::ssize_t>(f.results)});
}

/// Solves at once; returns the same.
py::array_t<double> solve_many(const many_solves& f, const doubles& x) {
  py::array_t<double> y(static_cast<py::ssize_t>(f.results));
  const double* from = x.data();
  double* to = y.mutable_data();
  const auto state = f.what->make_state();
  const lock_left unlocked;
  f.what->forward(*state, from, to, false);
  return y;
}

}  // namespace

void register_solve_many(py::module_& m) {
  py::class_<many_solves>(m, "ManyOperation", "Solves side by side, in threads.")
      .def(py::init(&make_many), py::arg("name"), py::arg("parts"), py::arg("threads"), py::arg("progress") = py::none())
      .def("record", &record_many, py::arg("x"))
      .def("solve", &solve_many, py::arg("x"));
}

}  // namespace agrad::python
