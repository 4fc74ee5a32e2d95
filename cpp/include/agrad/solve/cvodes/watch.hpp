// CVODES watch: looks for events in each step of CVODES, and evaluates the solution inside a step.
//
// An event is located on CVODES' own polynomial of the step, so the state there is as accurate as at an output time.
// Read next: solve/solver/event_watch.hpp; solve/cvodes/adjoint.hpp, which uses this class.
#pragma once

#include <Eigen/Core>
#include <limits>

#include <agrad/solve/solver/event_watch.hpp>
#include <agrad/solve/sundials/handles.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

class cvodes_watch {
 public:
  void set(event_watch* events) { events_ = events; }
  explicit operator bool() const { return events_ != nullptr; }

  /// Starts an integration. CVODES' clock is zero at t0; all times below are by this clock.
  void start(ode_system& system, double t0, const double* y, const sundials::vector_handle& like) {
    if (!buffer_) buffer_ = sundials::vector_handle(N_VClone(like.get()));
    events_->rewind();
    system.rhs(t0, y, sundials::map(buffer_).data());
    events_->begin(0, y, sundials::map(buffer_).data(), t0);
    begin_ = 0, event_ = std::numeric_limits<double>::infinity();
  }

  /// Looks for events in the step just taken to (t, y).
  void find_event(void* memory, double t, const sundials::vector_handle& y) {
    CVodeGetDky(memory, t, 1, buffer_.get());
    if (events_->sees(t, sundials::map(y).data(), sundials::map(buffer_).data())) {
      const double begin = begin_;
      const double h = events_->locate(t - begin, [&](double part) { return state_at(memory, begin + part); });
      if (!events_->fired().empty()) event_ = h < t - begin ? begin + h : t;
    }
    begin_ = t;
  }

  /// Returns the time of the first event, or infinity.
  double event() const { return event_; }

 private:
  const double* state_at(void* memory, double t) {
    CVodeGetDky(memory, t, 0, buffer_.get());
    return sundials::map(buffer_).data();
  }

  event_watch* events_ = nullptr;
  sundials::vector_handle buffer_;
  double begin_ = 0, event_ = 0;
};

}  // namespace agrad::detail
