#include "plain_function.hpp"

#include <pybind11/numpy.h>

#include <agrad/base/finite.hpp>
#include <agrad/base/interrupt.hpp>
#include <agrad/program/machine/structure.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "../programs/run.hpp"
#include "../python_call.hpp"

namespace py = pybind11;

namespace agrad::python {

namespace {

/// How long a call waits for the interpreter lock where it needs Python. Whoever holds the lock may wait for the call.
constexpr std::chrono::seconds patience(5);

/// Lets a thread compute without the host and with a stop request in the scope, or as usual.
class run_conditions {
 public:
  run_conditions(bool without_host, const std::atomic<bool>* stop)
      : without_host_(std::exchange(is_without_host, without_host)), stop_(std::exchange(stop_requested, stop)) {}
  run_conditions(const run_conditions&) = delete;
  run_conditions& operator=(const run_conditions&) = delete;
  ~run_conditions() {
    is_without_host = without_host_;
    stop_requested = stop_;
  }

 private:
  bool without_host_;
  const std::atomic<bool>* stop_;
};

/// Thrown where no recorded path holds for x.
struct no_path {};

/// Returns the result that an error in Python stands for.
outcome outcome_of(const py::error_already_set& error) {
  const py::module_ core = py::module_::import("agrad._core");
  if (error.matches(core.attr("DomainError"))) return outcome::outside;
  if (error.matches(core.attr("SolverError"))) return outcome::unsolved;
  if (!error.matches(PyExc_KeyboardInterrupt)) return outcome::failed;
  PyErr_SetInterrupt();  // raises it again in the main thread's Python code
  return outcome::cancelled;
}

}  // namespace

/// A value and gradient that Python computed, or the error.
struct plain_function::answer {
  outcome what = outcome::done;
  double value = 0;
  std::vector<double> gradient;
  std::string text;

  /// Asks the owner. Needs the interpreter lock.
  void get(const guarded_object& owner, const double* x, std::size_t n) {
    const py::error_scope pending;
    const run_conditions usual(false, nullptr);
    try {
      const py::object alive = owner.get()();
      if (alive.is_none()) throw std::runtime_error("c_function: the object in Python was deleted, but must live longer");
      const auto pair = calling_python([&] { return py::object(alive.attr("answer")(to_numpy(x, n))).cast<py::tuple>(); });
      value = pair[0].cast<double>();
      const auto found = pair[1].cast<doubles>();
      gradient.assign(found.data(), found.data() + found.size());
    } catch (const py::error_already_set& error) {
      what = outcome_of(error);
      text = py::str(error.value());
    } catch (const std::exception& error) {
      what = outcome::failed;
      text = error.what();
    }
  }
};

/// A point for which another thread asks Python. Whoever comes last destroys it.
struct plain_function::question {
  question(std::shared_ptr<const guarded_object> of, const double* x, std::size_t n) : owner(std::move(of)), at(x, x + n) {}

  std::shared_ptr<const guarded_object> owner;
  std::vector<double> at;
  answer given;
  std::mutex mutex;
  std::condition_variable changed;
  bool has_lock = false, is_given = false, is_abandoned = false;

  void answer_in_thread() {
    const lock_held locked;
    {
      const std::lock_guard<std::mutex> own(mutex);
      if (is_abandoned) return;
      has_lock = true;
      changed.notify_one();
    }
    given.get(*owner, at.data(), at.size());
    const std::lock_guard<std::mutex> own(mutex);
    is_given = true;
    changed.notify_one();
  }

  /// Waits for the answer; returns whether there is one. Gives up where the thread does not get the interpreter lock.
  bool wait(const std::atomic<bool>& is_cancelled) {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock<std::mutex> own(mutex);
    while (!changed.wait_for(own, std::chrono::milliseconds(50), [&] { return is_given; })) {
      is_abandoned = is_cancelled || (!has_lock && std::chrono::steady_clock::now() - begin > patience);
      if (is_cancelled) throw stopped();
      if (is_abandoned) return false;
    }
    return true;
  }
};

void plain_function::add_path(std::shared_ptr<const pooled_program> program, std::string place) {
  const std::size_t n = count_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < n; ++i)
    if (paths_[i].program == program) return;
  if (n == most_paths) return;
  if (program->code->input_size() != inputs_.size() || program->code->output_size() != 1)
    throw ShapeError("c_function: program has other inputs or results than the first one");
  paths_[n] = {std::move(program), std::move(place)};
  count_.store(n + 1, std::memory_order_release);
}

outcome plain_function::call(std::size_t n, const double* x, double* gradient, double* value) noexcept {
  const run_conditions own(true, &is_cancelled_);
  try {
    return named([&] { return computed(n, x, gradient, value); });
  } catch (const std::exception& error) {
    return ended(outcome::failed, error.what());
  } catch (...) {
    return ended(outcome::failed, "c_function: unknown error");
  }
}

outcome plain_function::call_from_python(std::size_t n, const double* x, double* gradient, double* value) {
  return named([&] { return computed(n, x, gradient, value); });
}

/// Returns the result of a computation, or that of its error; passes errors on that are none of agrad's.
template <class Compute>
outcome plain_function::named(const Compute& compute) {
  calls_.fetch_add(1, std::memory_order_relaxed);
  try {
    return compute();
  } catch (const stopped&) {
    return ended(outcome::cancelled, "c_function: the run was cancelled");
  } catch (const DomainError& error) {
    return ended(outcome::outside, error.what());
  } catch (const SolverError& error) {
    return ended(outcome::unsolved, error.what());
  } catch (const std::bad_alloc&) {
    return ended(outcome::failed, "c_function: there is not enough memory");
  }
}

outcome plain_function::computed(std::size_t n, const double* x, double* gradient, double* value) {
  if (AGRAD_UNLIKELY(n != size_))
    return ended(outcome::wrong_length,
                 "c_function: size of x is " + std::to_string(n) + ", but must be " + std::to_string(size_));
  const auto check = [this] {
    if (AGRAD_UNLIKELY(is_cancelled_.load(std::memory_order_relaxed))) throw stopped();
  };
  check();
  try {
    compute(x, gradient, value);
    check();  // parts that other threads computed may be missing
    return found(gradient, value);
  } catch (const no_path&) {
  } catch (const python_needed&) {
  } catch (const DomainError&) {
    if (!may_catch_) throw;
  }
  return ask(x, gradient, value);
}

/// Runs the first path that holds for x; throws no_path if there is none.
void plain_function::compute(const double* x, double* gradient, double* value) const {
  const std::size_t n = paths();
  for (std::size_t i = 0; i < n; ++i)
    if (run(*paths_[i].program, x, gradient, value)) return;
  throw no_path();
}

/// Runs a program; returns whether its path holds for x.
bool plain_function::run(const pooled_program& f, const double* x, double* gradient, double* value) const {
  constexpr double unit_seed = 1;
  const auto with = [&](const auto& from, auto&& to) {
    const auto w = f.workspaces.acquire();
    if (gradient == nullptr)
      f.code->forward(*w, from, value, true);  // as with the gradient: solves without derivatives take other steps
    else
      f.code->forward_and_reverse(*w, from, value, &unit_seed, to);
  };
  try {
    if (inputs_.size() == size_) {
      with(x, gradient);
      return true;
    }
    const std::size_t end = first_ + size_;
    with(list_sources{{inputs_.data(), 0, first_}, {x, first_, size_}, {inputs_.data() + end, end, inputs_.size() - end}},
         list_targets{{gradient, first_, size_}});
    return true;
  } catch (const kernels::path_left&) {
    return false;
  }
}

/// Returns the result of a computation that has come to its end.
outcome plain_function::found(const double* gradient, const double* value) {
  if (AGRAD_UNLIKELY(!detail::are_finite(value, 1)))
    return ended(outcome::not_finite, "c_function: value is " + detail::to_text(*value) + ", but must be finite");
  if (AGRAD_UNLIKELY(gradient != nullptr && !detail::are_finite(gradient, size_)))
    for (std::size_t i = 0; i < size_; ++i)
      if (!detail::are_finite(gradient + i, 1))
        return ended(outcome::not_finite, "c_function: gradient[" + std::to_string(i) + "] is " + detail::to_text(gradient[i]) +
                                              ", but must be finite");
  return outcome::done;
}

/// Asks the owner in Python for the value and gradient at x.
outcome plain_function::ask(const double* x, double* gradient, double* value) {
  answer here;
  const auto asked = std::make_shared<question>(owner_, x, size_);
  answer* given = &here;
  if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) {
    here.get(*owner_, x, size_);
  } else {
    std::thread([asked] { asked->answer_in_thread(); }).detach();
    if (!asked->wait(is_cancelled_))
      return ended(outcome::out_of_reach, "c_function: x needs Python, whose lock was not to be had in " +
                                              std::to_string(patience.count()) +
                                              " s, because its path is not recorded or it warns" + places() +
                                              "; call the function at such a point first");
    given = &asked->given;
  }
  if (given->what != outcome::done) return ended(given->what, given->text);
  *value = given->value;
  if (gradient != nullptr) std::copy_n(given->gradient.data(), size_, gradient);
  return found(gradient, value);
}

outcome plain_function::ended(outcome what, std::string_view text) noexcept {
  counts_[index_of(what)].fetch_add(1, std::memory_order_relaxed);
  try {
    const std::lock_guard<fork_safe_mutex> own(mutex_);
    last_error_ = text;
  } catch (...) {  // no memory for the text
  }
  return what;
}

std::string plain_function::places() const {
  const std::size_t n = paths();
  return n == 0 || paths_[n - 1].place.empty() ? "" : " (comparison at " + paths_[n - 1].place + ")";
}

std::string plain_function::last_error() const {
  const std::lock_guard<fork_safe_mutex> own(mutex_);
  return last_error_;
}

void plain_function::reset() {
  is_cancelled_ = false;
  calls_ = 0;
  for (auto& each : counts_) each = 0;
  const std::lock_guard<fork_safe_mutex> own(mutex_);
  last_error_.clear();
}

}  // namespace agrad::python
