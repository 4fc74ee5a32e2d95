// Step log: records what limited each step of an integration, to explain how many steps were taken.
//
// A solver with a log writes an entry for each step and for each rejected attempt; without a log it writes nothing.
// Read next: solve/one_step/logger.hpp and solve/cvodes/log.hpp, the writers; python/agrad/_ode/explain.py, the reader.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

/// What limited a step: its error; the growth of step sizes; Newton's method; max_step; an output time; the end of the
/// interval; a dose or a stop; an event; the error of derivatives.
enum class step_limit : std::uint8_t { error, growth, convergence, largest, output, end, stop, event, derivatives };

/// Errors below this fraction of the allowed error do not limit a step.
inline constexpr double idle_error = 1e-3;

struct step_entry {
  double t = 0, h = 0;      // start and size
  double error = 0;         // of all states together, where 1 is allowed
  std::int32_t state = -1;  // index of the state with the largest error relative to its tolerance
  double size = 0;          // of that state
  double by_absolute = 0;   // share of the absolute tolerance in that state's tolerance
  /// h times the estimated decay rate of the fastest mode. Accuracy alone keeps this product near 1, and explicit methods are
  /// unstable beyond about 3 (6 for order 8).
  double damping = 0;
  std::int32_t order = 0;
  bool is_stiff = false;  // taken by the stiff method of a switching solver
  step_limit limit = step_limit::error;
};

/// A rejected attempt of a step.
struct rejected_entry {
  double t = 0;
  std::int32_t state = -1;
  bool by_error = true;  // else Newton's method did not converge, or a number was not finite
};

struct step_log {
  std::vector<step_entry> steps;
  std::vector<rejected_entry> rejected;
  step_limit at_end = step_limit::end;  // what ends the present integration
  bool is_stiff = false;                // whether the stiff method of a switching solver takes the steps

  /// Returns what limited a step that only errors can have limited: the step's own error, or the growth after an earlier error.
  static step_limit by_error(double error) { return error < idle_error ? step_limit::growth : step_limit::error; }
};

/// Estimates the decay rate of a system's fastest mode by a power iteration that continues from step to step.
class damping_probe {
 public:
  /// Returns the decay rate at (t, y); 0 if the mode does not decay.
  double rate(ode_system& system, double t, const double* y) {
    const Eigen::Index n = system.states();
    if (direction_.size() != n) start(n);
    image_.resize(n);
    system.jvp(t, y, direction_.data(), image_.data());
    const double decay = -direction_.dot(image_), length = image_.norm();
    if (!std::isfinite(length) || length == 0) {
      start(n);
      return 0;
    }
    direction_ = image_ / length;
    return std::max(decay, 0.0);
  }

 private:
  void start(Eigen::Index n) {
    direction_.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) direction_[i] = std::cos(static_cast<double>(i + 1));  // along no mode
    direction_.normalize();
  }
  Eigen::VectorXd direction_, image_;
};

}  // namespace agrad::detail
