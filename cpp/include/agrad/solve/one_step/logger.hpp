// Step logger: writes the step log of a one-step solver.
//
// Read first: solve/solver/step_log.hpp, what a log holds.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <agrad/solve/solver/fault.hpp>
#include <agrad/solve/solver/step_log.hpp>

namespace agrad::detail {

/// A step's first state, its last state and its error.
struct logged_vectors {
  const double *first, *last, *error;
};

class step_logger {
 public:
  void attach(step_log* log) { log_ = log; }
  bool is_on() const { return log_ != nullptr; }
  /// What the last time of the integration under way is.
  step_limit at_end() const { return log_->at_end; }
  /// What keeps the step under way from being longer, unless it is its own error.
  void limit(step_limit by) { limit_ = by; }

  AGRAD_COLD void reject(double t, const std::vector<double>& error, const Eigen::VectorXd& scale, bool by_error) {
    log_->rejected.push_back({t, static_cast<std::int32_t>(largest(error, scale)), by_error});
  }

  /// A step that was accepted: its begin, size and error, and whose error is largest against the scale.
  AGRAD_COLD void accept(const step_row& of, const logged_vectors& at, const Eigen::VectorXd& scale,
                         const Eigen::VectorXd& absolute, int order) {
    row_ = of, row_.order = order, row_.is_stiff = log_->is_stiff;
    row_.state = static_cast<std::int32_t>(
        largest(std::vector<double>(at.error, at.error + static_cast<std::size_t>(scale.size())), scale));
    if (row_.state < 0) return;
    const auto i = static_cast<std::size_t>(row_.state);
    row_.size = std::max(std::abs(at.first[i]), std::abs(at.last[i]));
    row_.by_absolute = absolute[row_.state] / scale[row_.state];
  }
  /// Where the step ended, whether an event ended it, and whether the derivatives' error was larger than the states'.
  AGRAD_COLD void finish(ode_system& system, double end, const double* last, bool has_event, bool by_derivatives) {
    row_.damping = row_.h * damping_.rate(system, end, last);
    const step_limit by_error = by_derivatives ? step_limit::derivatives : step_log::by_error(row_.error);
    row_.limit = has_event ? step_limit::event : limit_ != step_limit::error ? limit_ : by_error;
    log_->steps.push_back(row_);
  }

 private:
  step_log* log_ = nullptr;
  step_limit limit_ = step_limit::error;  // of the step under way
  step_row row_;
  damping_probe damping_;
};

}  // namespace agrad::detail
