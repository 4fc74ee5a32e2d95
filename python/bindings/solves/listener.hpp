// Listeners in Python: report the progress of a pass at intervals.
//
// `make(pass, begin, end)` returns a function of the time reached, which is closed at the end. A listener is made only after
// `patience` has passed, so a short solve shows nothing; then the function is called at most ten times a second, and once at
// the end of a successful pass. Only these calls take the interpreter lock.
#pragma once

#include <agrad/base/progress.hpp>

#include <pybind11/pybind11.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "../guarded_object.hpp"

namespace agrad::python {

/// The data from which listeners are made.
struct listeners {
  guarded_object make;
  double patience;  // in seconds
};

class python_listener final : public progress_listener {
 public:
  python_listener(std::shared_ptr<const listeners> from, std::string pass, double begin, double end)
      : from_(std::move(from)), pass_(std::move(pass)), begin_(begin), end_(end) {}
  python_listener(const python_listener&) = delete;
  python_listener& operator=(const python_listener&) = delete;
  ~python_listener() override {
    if (!callback_) return;
    const lock_held locked;
    try {
      callback_.attr("close")();
    } catch (pybind11::error_already_set& error) {
      error.discard_as_unraisable("close of the progress callable");
    }
    callback_ = pybind11::object();
  }

  void at(double t) override {
    if (++calls_ < skip_) return;
    calls_ = 0;
    const auto now = clock::now();
    skip_ = now - polled_ < std::chrono::milliseconds(1) ? std::min(2 * skip_, 16L) : 1;
    polled_ = now;
    poll(t);
  }

  /// Does the same as `at`, for infrequent calls.
  void poll(double t) {
    const auto now = clock::now();
    if (now - last_ < std::chrono::milliseconds(100) || !is_long(now)) return;
    report(t);
    last_ = clock::now();
  }

  void done(double t) override {
    if (is_long(clock::now())) report(t);
  }

 private:
  using clock = std::chrono::steady_clock;

  bool is_long(clock::time_point now) const { return std::chrono::duration<double>(now - started_).count() >= from_->patience; }

  void report(double t) {
    const lock_held_in_run locked;
    if (!callback_) callback_ = from_->make.get()(pass_, begin_, end_);
    callback_(t);
  }

  std::shared_ptr<const listeners> from_;
  std::string pass_;
  double begin_, end_;
  pybind11::object callback_;
  clock::time_point started_ = clock::now(), last_ = started_, polled_ = started_;
  long calls_ = 0, skip_ = 1;  // calls since the last clock reading, and calls per reading
};

/// The listeners of one solve's passes, from `begin` to `end` and back.
class solve_progress final : public progress_host {
 public:
  solve_progress(pybind11::object make, double patience, double begin, double end)
      : from_(new listeners{guarded_object(std::move(make)), patience}), begin_(begin), end_(end) {}

  std::unique_ptr<progress_listener> begin(bool backwards) const override {
    return backwards ? std::make_unique<python_listener>(from_, "backward", end_, begin_)
                     : std::make_unique<python_listener>(from_, "forward", begin_, end_);
  }

  const std::shared_ptr<const listeners>& from() const { return from_; }

 private:
  std::shared_ptr<const listeners> from_;
  double begin_, end_;
};

/// Reports the number of finished parts. Parts count in any thread; only the calling thread reads the clock, when it checks for
/// Ctrl-C.
class parts_listener {
 public:
  parts_listener(std::shared_ptr<const listeners> from, bool backwards, std::size_t parts)
      : parts_(parts),
        listener_(std::move(from), backwards ? "backward" : "forward", 0.0, static_cast<double>(parts)),
        around_(std::exchange(listening(), this)) {}
  parts_listener(const parts_listener&) = delete;
  parts_listener& operator=(const parts_listener&) = delete;
  ~parts_listener() { listening() = around_; }

  void count() { ++done_; }
  void poll() { listener_.poll(static_cast<double>(done_.load())); }
  void done() { listener_.done(static_cast<double>(parts_)); }

  /// Returns the listener of this thread.
  static parts_listener* current() { return listening(); }

 private:
  static parts_listener*& listening() {
    static thread_local parts_listener* who = nullptr;
    return who;
  }

  std::size_t parts_;
  std::atomic<std::size_t> done_{0};
  python_listener listener_;
  parts_listener* around_;
};

}  // namespace agrad::python
