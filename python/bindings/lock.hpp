// Lock: releases and acquires the interpreter lock, in threads that may outlive the interpreter.
//
// CPython up to 3.13 ends a daemon thread that asks for the lock while the interpreter ends, by unwinding its stack through
// C++'s destructors, which aborts the process. Here such a thread sleeps instead, as in later versions of CPython.
#pragma once

#include <pybind11/pybind11.h>

#include <agrad/base/error.hpp>
#include <agrad/base/interrupt.hpp>
#include <chrono>
#include <thread>

namespace agrad::python {

/// A thread that is unwound while this object is armed sleeps until the process ends.
class hung_at_exit {
 public:
  hung_at_exit() = default;
  hung_at_exit(const hung_at_exit&) = delete;
  hung_at_exit& operator=(const hung_at_exit&) = delete;
  ~hung_at_exit() {
    while (is_armed_) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  void disarm() { is_armed_ = false; }

 private:
  bool is_armed_ = true;
};

/// Acquires the lock again; a separate function, so that its frame is unwound first.
[[gnu::noinline]] inline void acquire_lock_again(PyThreadState* thread) {
  hung_at_exit hang;
  PyEval_RestoreThread(thread);
  hang.disarm();
}

/// Releases the interpreter lock in its scope.
class lock_left {
 public:
  lock_left() : thread_(PyEval_SaveThread()) {}
  lock_left(const lock_left&) = delete;
  lock_left& operator=(const lock_left&) = delete;
  ~lock_left() { acquire_lock_again(thread_); }

 private:
  PyThreadState* thread_;
};

/// Holds the interpreter lock in its scope; the thread may hold the lock already.
class lock_held {
 public:
  lock_held() { hang_.disarm(); }

 private:
  /// Lets a thread sleep until the process ends if the interpreter has ended already.
  struct interpreter_lives {
    interpreter_lives() {
      hung_at_exit hang;
      if (Py_IsInitialized() != 0) hang.disarm();
    }
  };
  interpreter_lives lives_;  // pybind11 would make a thread state of an interpreter that has ended
  hung_at_exit hang_;        // before the lock, which may never be acquired
  pybind11::gil_scoped_acquire lock_;
};

/// Thrown where a run needs Python and must do without (is_without_host, agrad/base/interrupt.hpp).
struct python_needed {};

/// Holds the interpreter lock in its scope, in a run; throws python_needed in one that must do without Python.
class lock_held_in_run {
 public:
  lock_held_in_run() = default;

 private:
  struct python_allowed {
    python_allowed() {
      if (AGRAD_UNLIKELY(is_without_host)) throw python_needed();
    }
  };
  python_allowed allowed_;  // before the lock
  lock_held locked_;
};

}  // namespace agrad::python
