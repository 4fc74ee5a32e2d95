// Progress: how a long computation tells how far it has come.
//
// A solver takes down who listens on its thread when it begins, and tells it the time that it has reached at each step; it is the
// listener that decides how often that is worth a look at the clock. Nobody listens unless a host has made someone listen: the Python
// module does, for `solve_ivp(..., progress=True)`. A computation inside of another one has listeners of its own, or none.
#pragma once

#include <memory>

namespace agrad {

/// Hears where a pass of a computation is. It may throw, which ends the pass.
class progress_listener {
 public:
  virtual ~progress_listener() = default;
  virtual void at(double t) = 0;
  /// The pass has succeeded, and ended there. A listener that goes without having heard that knows that it has not.
  virtual void done(double t) = 0;

  /// Who listens on this thread.
  static progress_listener* current() { return listening(); }

  /// Makes someone listen on this thread as long as it lives, or nobody.
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

/// Who wants to know about the passes of a computation; for all threads that run it.
class progress_host {
 public:
  virtual ~progress_host() = default;
  /// A pass begins on this thread.
  virtual std::unique_ptr<progress_listener> begin(bool backwards) const = 0;
};

/// Runs a pass, which returns the time that it has reached, for the host if there is one.
template <class Pass>
void run_pass(const progress_host* host, bool backwards, const Pass& pass) {
  const std::unique_ptr<progress_listener> listener = host == nullptr ? nullptr : host->begin(backwards);
  const progress_listener::scope listening(listener.get());
  const double reached = pass();
  if (listener != nullptr) listener->done(reached);
}

}  // namespace agrad
