// States of events: the solve of a problem without doses, stops and events by the solver for problems with events, as a
// function with the argument and the result of solve/posed/ode.hpp.
//
// The right-hand side has held comparisons, whose crossings are such events. The argument is that of the events; the result is
// the first part of theirs, the states at the output times.
// Read first: solve/posed/events.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <agrad/solve/posed/events.hpp>

namespace agrad {

class states_of_events final : public posed_solve {
 public:
  states_of_events(event_setup setup, bool differentiated) : of_(std::move(setup), differentiated) {
    argument_ = of_.argument();
    result_.add("states", of_.result().at("states").size);
  }

  void solve(const double* x) override { of_.solve(x); }
  void read(double* y) const override {
    std::vector<double> all(of_.result().size());
    of_.read(all.data());
    std::copy_n(all.begin(), result_.size(), y);
  }
  double begin() const override { return of_.begin(); }
  double end() const override { return of_.end(); }

  void reverse(const double* y_adjoint, double* x_adjoint) override { of_.reverse(widened(y_adjoint, 1).data(), x_adjoint); }

  tangent_kind tangents() const override { return of_.tangents(); }
  void tangent(int width, const double* x_tangent, double* y_tangent) override {
    const auto w = static_cast<std::size_t>(width);
    std::vector<double> all(of_.result().size() * w);
    of_.tangent(width, x_tangent, all.data());
    std::copy_n(all.begin(), result_.size() * w, y_tangent);
  }
  void second(int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
              double* x_adjoint_tangent) override {
    of_.second(width, widened(y_adjoint, 1).data(), widened(y_adjoint_tangent, static_cast<std::size_t>(width)).data(),
               x_adjoint, x_adjoint_tangent);
  }

  ode_statistics statistics() const override { return of_.statistics(); }
  bool log_steps(detail::step_log* log) override { return of_.log_steps(log); }

 private:
  /// Returns adjoints of the states, `width` side by side, with zeros for the other results.
  std::vector<double> widened(const double* of_states, std::size_t width) const {
    std::vector<double> all(of_states, of_states + result_.size() * width);
    all.resize(of_.result().size() * width, 0.0);
    return all;
  }

  posed_events of_;
};

}  // namespace agrad
