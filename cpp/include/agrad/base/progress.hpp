// Progress: how a long computation reports its progress.
//
// A solver finds the listener of its thread at the start of a pass, and reports the time reached at each step; the listener
// decides how often to read the clock. There is no listener unless a host has set one: the Python module does for
// `solve_ivp(..., progress=True)`. A computation inside of another computation has listeners of its own, or none.
#pragma once

#include <memory>

namespace agrad {

/// Receives the time that a pass of a computation has reached. A listener may throw, which ends the pass.
class progress_listener {
 public:
  virtual ~progress_listener() = default;
  virtual void at(double t) = 0;
  /// Called when the pass has succeeded, at time t. A listener destroyed without this call knows that the pass has failed.
  virtual void done(double t) = 0;

  /// Returns the listener of this thread, or null.
  static progress_listener* current() { return listening(); }

  /// Sets the listener of this thread, or none, for the lifetime of the scope.
  class scope {
   public:
    explicit scope(progress_listener* who) : before_(listening()) { listening() = who; }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() { listening() = before_; }

   private:
    progress_listener* before_;
  };

 private:
  static progress_listener*& listening() {
    static thread_local progress_listener* who = nullptr;
    return who;
  }
};

/// Provides the listeners for the passes of a computation, in all threads.
class progress_host {
 public:
  virtual ~progress_host() = default;
  /// Returns the listener of a pass that begins on this thread.
  virtual std::unique_ptr<progress_listener> begin(bool backwards) const = 0;
};

/// Runs a pass, which returns the time reached, with the host's listener if there is a host.
template <class Pass>
void run_pass(const progress_host* host, bool backwards, const Pass& pass) {
  const std::unique_ptr<progress_listener> listener = host == nullptr ? nullptr : host->begin(backwards);
  const progress_listener::scope listening(listener.get());
  const double reached = pass();
  if (listener != nullptr) listener->done(reached);
}

}  // namespace agrad
