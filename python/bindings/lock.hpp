// Lock: the interpreter lock, left and taken again by threads that may outlive the interpreter.
//
// CPython up to 3.13 ends a daemon thread that asks for the lock while the interpreter ends, by unwinding its stack through C++'s
// destructors, which aborts the process. Such a thread stays where it is instead, as it does in later versions.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <thread>

namespace agrad::python {

/// While it is armed, a thread that is being ended sleeps until the process ends.
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

/// Takes the lock again; a function of its own, so that its frame is the first one to be unwound.
[[gnu::noinline]] inline void take_lock_again(PyThreadState* thread) {
  hung_at_exit hang;
  PyEval_RestoreThread(thread);
  hang.disarm();
}

/// Runs without the interpreter lock.
class lock_left {
 public:
  lock_left() : thread_(PyEval_SaveThread()) {}
  lock_left(const lock_left&) = delete;
  lock_left& operator=(const lock_left&) = delete;
  ~lock_left() { take_lock_again(thread_); }

 private:
  PyThreadState* thread_;
};

/// Holds the interpreter lock, which the thread may hold already.
class lock_held {
 public:
  lock_held() { hang_.disarm(); }

 private:
  hung_at_exit hang_;  // before the lock, which may not come
  pybind11::gil_scoped_acquire lock_;
};

}  // namespace agrad::python
