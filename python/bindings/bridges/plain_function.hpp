// Plain function: a compiled value and gradient of a vector that C code calls, in any thread, without Python.
//
// Samplers and optimizers call a C function with a context (c_function.cpp), most often in threads of their own and sometimes
// while a thread that waits for them holds the interpreter lock. So a call never waits for that lock: programs run with
// `is_without_host` and with a stop request of their own. What needs Python, such as a path that was not recorded, is asked of
// the owner in Python (python/agrad/_bridges/c_function.py): in this thread if it has the lock, else in a thread that may wait
// for the lock, while the caller waits for a limited time.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "../guarded_object.hpp"
#include "../programs/pool.hpp"

namespace agrad::python {

/// The result of a call. After a positive one a caller may go on with another point; after a negative one it must end, because
/// the function's value at the point is not known.
enum class outcome : int {
  done = 0,
  outside = 1,        // DomainError
  unsolved = 2,       // SolverError
  not_finite = 3,     // the value or an entry of the gradient
  wrong_length = -1,  // of x
  out_of_reach = -2,  // Python is needed and cannot be had
  failed = -3,        // any other error
  cancelled = -4,
};

class plain_function {
 public:
  /// first, size: the place of x among the inputs of the programs; `inputs` has the others. may_catch: whether the function's
  /// code may catch a DomainError, so that Python must tell whether one is the result. owner.answer(x): (value, gradient).
  plain_function(std::size_t first, std::size_t size, std::vector<double> inputs, bool may_catch, const pybind11::object& owner)
      : first_(first),
        size_(size),
        inputs_(std::move(inputs)),
        may_catch_(may_catch),
        owner_(std::make_shared<guarded_object>(pybind11::weakref(owner))) {}

  /// Adds the program of a path, unless there are too many; `place` is the text of a comparison. Needs the interpreter lock.
  void add_path(std::shared_ptr<const pooled_program> program, std::string place);

  /// Computes the value and the gradient (size numbers; null: not wanted) at x, as a C function: without Python, if possible.
  outcome call(std::size_t n, const double* x, double* gradient, double* value) noexcept;
  /// Does the same for a caller in Python that has left the interpreter lock: Ctrl-C ends the run, and throws its error.
  outcome call_from_python(std::size_t n, const double* x, double* gradient, double* value);

  std::size_t size() const { return size_; }
  std::size_t paths() const { return count_.load(std::memory_order_acquire); }
  /// The number of calls, and that of the calls with a result other than `done`.
  std::uint64_t calls() const { return calls_; }
  std::uint64_t count_of(outcome what) const { return counts_[index_of(what)]; }
  /// The sentence of the last call with a result other than `done`, in whichever thread; empty if there is none.
  std::string last_error() const;
  /// Ends the runs in progress; later calls end at once, until `reset`.
  void cancel() { is_cancelled_ = true; }
  /// Takes calls again, and counts from zero.
  void reset();

 private:
  struct path {
    std::shared_ptr<const pooled_program> program;
    std::string place;
  };
  struct answer;
  struct question;
  static constexpr std::size_t most_paths = 64, kinds = 8;
  static constexpr std::size_t index_of(outcome what) { return static_cast<std::size_t>(static_cast<int>(what) + 4); }

  template <class Compute>
  outcome named(const Compute& compute);
  outcome computed(std::size_t n, const double* x, double* gradient, double* value);
  void compute(const double* x, double* gradient, double* value) const;
  bool run(const pooled_program& f, const double* x, double* gradient, double* value) const;
  outcome found(const double* gradient, const double* value);
  outcome ask(const double* x, double* gradient, double* value);
  outcome ended(outcome what, std::string_view text) noexcept;
  std::string places() const;

  const std::size_t first_, size_;
  const std::vector<double> inputs_;
  const bool may_catch_;
  const std::shared_ptr<guarded_object> owner_;
  std::array<path, most_paths> paths_;  // complete up to count_, and never changed again
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> is_cancelled_{false};
  std::atomic<std::uint64_t> calls_{0};
  std::array<std::atomic<std::uint64_t>, kinds> counts_{};
  mutable fork_safe_mutex mutex_;  // of the text
  std::string last_error_;
};

}  // namespace agrad::python
