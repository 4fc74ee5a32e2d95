#include "call.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <agrad/program/machine/second_order.hpp>
#include <agrad/program/machine/spaces.hpp>

#include "run.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

struct many_numbers {
  space all;
  void clear() { all.clear(); }
  std::size_t bytes() const { return all.capacity() * sizeof(double); }
};

/// Numbers on the stack; if there are many, on the heap, in memory that the thread uses again.
class room {
 public:
  explicit room(std::size_t n) : is_large_(n > few) {
    if (!is_large_) return;
    many_ = memory_pool<many_numbers>::acquire();
    many_.all.resize(n);
  }
  ~room() {
    if (is_large_) memory_pool<many_numbers>::release(many_);
  }
  room(const room&) = delete;
  double* data() { return is_large_ ? many_.all.data() : few_.data(); }

 private:
  bool is_large_;
  std::array<double, few> few_;
  many_numbers many_;
};

/// Where a run writes the numbers of a result: to the large arrays of the result, and to a room from which the rest is built.
class destination {
 public:
  /// in_place: whether large arrays of the result are written to; else all is in the room.
  destination(const tree_node& node, PyObject* earlier, std::size_t n, bool in_place)
      : node_(node), earlier_(earlier), room_(n) {
    if (!in_place || n <= few) return;
    add_arrays(node, earlier, written_);
    add_rest(written_.parts, room_.data(), n);
  }
  /// Calls use(where) with the parts of the result, or with the room if the result is small.
  template <class Use>
  void with_place(const Use& use) {
    written_.parts.empty() ? use(room_.data()) : use(written_.parts);
  }
  double* data() { return room_.data(); }
  py::object result() {
    return earlier_ == nullptr ? build(node_, room_.data(), written_) : rebuild(node_, earlier_, room_.data(), written_);
  }

 private:
  const tree_node& node_;
  PyObject* earlier_;
  room room_;
  result_arrays written_;
};

/// The adjoint of the only result of a function with a gradient.
constexpr double unit_seed = 1;

/// Returns whether a program is short, so that its run ends before another thread could have been woken.
bool is_short(const program& f) { return f.size() < 256 && f.code().externals.empty(); }

/// Computes the Hessian at x times the vector behind x.
void multiply_hessian(const program& f, workspace& w, const double* x, double* y, double* product) {
  {
    const second_ahead ahead;
    f.forward_for_tangents(w, x, y);
  }
  room gradient(f.input_size());
  f.tangent<1>(w, x + f.input_size(), y);
  f.second<1>(w, &unit_seed, gradient.data(), product);
}

template <class Call>
bool runs_through(const program& f, const Call& call) {
  if (!is_short(f)) return on_path(call);
  try {
    call();
  } catch (const kernels::path_left&) {
    return false;
  }
  return true;
}

}  // namespace

py::object call_plan::run(const path& p, const numbers_of_call& x, PyObject* earlier) const {
  const program& f = *p.program->code;
  if (what_ == result_kind::values) {
    destination y(p.result, earlier, f.output_size(), true);
    const bool done = runs_through(f, [&] {
      const auto w = p.program->workspaces.acquire();
      y.with_place([&](const auto& to) { x.with_place([&](const auto& from) { f.forward(*w, from, to, false); }); });
    });
    return done ? y.result() : py::object();
  }
  const bool has_value = what_ == result_kind::value_and_gradient;
  const bool is_product = what_ == result_kind::hessian_product;
  destination back(p.result, has_value && earlier != nullptr ? PyTuple_GET_ITEM(earlier, 1) : earlier, inputs_, !is_product);
  room y(f.output_size());
  const bool done = runs_through(f, [&] {
    const auto w = p.program->workspaces.acquire();
    if (is_product) return multiply_hessian(f, *w, x.data, y.data(), back.data());
    back.with_place([&](const auto& to) {
      x.with_place([&](const auto& from) { f.forward_and_reverse(*w, from, y.data(), &unit_seed, to); });
    });
  });
  if (!done) return {};
  return has_value ? py::make_tuple(py::float_(*y.data()), back.result()) : back.result();
}

py::object call_plan::call(PyObject* arguments, PyObject* earlier) const {
  room copy(numbers());
  std::fill(copy.data() + inputs_, copy.data() + numbers(), 0.0);  // for inputs without an entry in the vector
  numbers_of_call x{copy.data(), {}};
  const bool is_large = inputs_ > few && what_ != result_kind::hessian_product;
  if (!read(arguments_, arguments, copy.data(), is_large ? &x.parts : nullptr)) return {};
  if (!x.parts.empty()) add_rest<const double>(x.parts, copy.data(), inputs_);
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const std::shared_ptr<const path> each = paths_[i];  // another thread may add to the list meanwhile
    if (py::object result = run(*each, x, earlier)) return result;
  }
  return {};
}

namespace {

/// The plans of a compiled function.
class known_calls {
 public:
  void add(std::shared_ptr<call_plan> plan) { plans_.push_back(std::move(plan)); }
  void remove(const std::shared_ptr<call_plan>& plan) {
    plans_.erase(std::remove(plans_.begin(), plans_.end(), plan), plans_.end());
  }

  py::object call(const py::tuple& arguments) const {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const std::shared_ptr<call_plan> plan = plans_[i];  // another thread may change the list meanwhile
      if (py::object result = plan->call(arguments.ptr())) {
        plan->used();
        return result;
      }
    }
    return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  }

  /// Returns the plan that fits, and its first result.
  std::pair<std::shared_ptr<call_plan>, py::object> find(const py::tuple& arguments) const {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const std::shared_ptr<call_plan> plan = plans_[i];  // another thread may add to the list meanwhile
      if (py::object result = plan->call(arguments.ptr())) return {plan, std::move(result)};
    }
    throw py::value_error("bind: arguments fit no plan of the compiled function");
  }

 private:
  std::vector<std::shared_ptr<call_plan>> plans_;
};

/// Repeated calls with the same arguments, into the same arrays.
class bound_call {
 public:
  bound_call(const known_calls& of, py::tuple arguments, py::object otherwise)
      : arguments_(std::move(arguments)), otherwise_(std::move(otherwise)) {
    std::tie(plan_, result_) = of.find(arguments_);
  }

  py::object call() {
    py::object result = first_try();
    if (!result) {
      const py::object unstored = otherwise_();  // records the path of the present values, or raises their error
      if (!unstored.is_none()) return unstored;
      result = plan_->call(arguments_.ptr(), result_.ptr());
      if (!result)
        throw py::value_error("bind: an argument has another shape than at the call of bind, but must have the same");
    }
    return result;
  }

 private:
  py::object first_try() {
    try {
      return plan_->call(arguments_.ptr(), result_.ptr());
    } catch (const DomainError&) {
      otherwise_();  // raises the error with its line
      throw;
    }
  }

  std::shared_ptr<call_plan> plan_;
  py::tuple arguments_;
  py::object otherwise_, result_;
};

}  // namespace

void register_call(py::module_& m) {
  m.attr("LARGEST_WHOLE") = largest_whole;
  py::enum_<result_kind>(m, "ResultKind", "The form of the result of a compiled call.")
      .value("values", result_kind::values)
      .value("value_and_gradient", result_kind::value_and_gradient)
      .value("gradient", result_kind::gradient)
      .value("hessian_product", result_kind::hessian_product);
  py::class_<call_plan, std::shared_ptr<call_plan>>(
      m, "CallPlan", "The arguments, program and result of one signature of a compiled function.")
      .def(py::init<const py::tuple&, result_kind, std::size_t>(), py::arg("arguments"), py::arg("what"), py::arg("inputs"))
      .def("add_path", &call_plan::add_path, py::arg("program"), py::arg("result"))
      .def("used", &call_plan::used, "Marks the plan as used now.")
      .def_property_readonly("last_used", &call_plan::last_used, "A number that increases with each use of any plan.");
  py::class_<bound_call>(m, "BoundCall", "A compiled function with its arguments.")
      .def("__call__", &bound_call::call, "The result, in the same arrays at every call.");
  py::class_<known_calls>(m, "KnownCalls", "The plans of a compiled function.")
      .def(py::init<>())
      .def("add", &known_calls::add)
      .def("remove", &known_calls::remove, py::arg("plan"))
      .def(
          "bind",
          [](const known_calls& known, py::tuple arguments, py::object otherwise) {
            return std::make_unique<bound_call>(known, std::move(arguments), std::move(otherwise));
          },
          py::arg("arguments"), py::arg("otherwise"),
          "A call with these arguments; raises ValueError where no plan fits. `otherwise` is called where no path holds, and "
          "returns the result of a path that is not stored, or None.")
      .def("__call__", &known_calls::call, "The result for a tuple of arguments, or NotImplemented.");
}

}  // namespace agrad::python
