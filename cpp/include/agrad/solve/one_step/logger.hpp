// Step logger: writes the step log of a one-step solver.
//
// Read first: solve/solver/step_log.hpp, the contents of a log.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <agrad/solve/solver/fault.hpp>
#include <agrad/solve/solver/step_log.hpp>

namespace agrad::detail {

/// A step's first state, last state and error.
struct logged_vectors {
  const double *first, *last, *error;
};

class step_logger {
 public:
  void attach(step_log* log) { log_ = log; }
  bool is_on() const { return log_ != nullptr; }
  /// Returns what ends the present integration.
  step_limit at_end() const { return log_->at_end; }
  /// Sets what limits the present step, other than the step's own error.
  void limit(step_limit by) { limit_ = by; }

  AGRAD_COLD void reject(double t, const std::vector<double>& error, const Eigen::VectorXd& scale, bool by_error) {
    log_->rejected.push_back({t, static_cast<std::int32_t>(largest(error, scale)), by_error});
  }

  /// Logs an accepted step: start, size and error, and the state with the largest error relative to the scale.
  AGRAD_COLD void accept(const step_entry& of, const logged_vectors& at, const Eigen::VectorXd& scale,
                         const Eigen::VectorXd& absolute, int order) {
    entry_ = of, entry_.order = order, entry_.is_stiff = log_->is_stiff;
    entry_.state = static_cast<std::int32_t>(
        largest(std::vector<double>(at.error, at.error + static_cast<std::size_t>(scale.size())), scale));
    if (entry_.state < 0) return;
    const auto i = static_cast<std::size_t>(entry_.state);
    entry_.size = std::max(std::abs(at.first[i]), std::abs(at.last[i]));
    entry_.by_absolute = absolute[entry_.state] / scale[entry_.state];
  }
  /// Logs where the step ended, whether an event ended the step, and whether the derivatives' error exceeded the states' error.
  /// system: for the damping; null with a mass matrix, where the Jacobian alone does not tell it.
  AGRAD_COLD void finish(ode_system* system, double end, const double* last, bool has_event, bool by_derivatives) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    entry_.damping = system == nullptr ? unknown : entry_.h * damping_.rate(*system, end, last);
    const step_limit by_error = by_derivatives ? step_limit::derivatives : step_log::by_error(entry_.error);
    entry_.limit = has_event ? step_limit::event : limit_ != step_limit::error ? limit_ : by_error;
    log_->steps.push_back(entry_);
  }

 private:
  step_log* log_ = nullptr;
  step_limit limit_ = step_limit::error;  // of the present step
  step_entry entry_;
  damping_probe damping_;
};

}  // namespace agrad::detail
