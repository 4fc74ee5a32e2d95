// Step log: of each step of an integration, what limited it, for those who ask why there are so many.
//
// A solver that is given a log writes a row for each step and for each attempt that failed; without one it writes nothing.
// Read next: solve/one_step/logger.hpp and solve/cvodes/log.hpp, who write; python/agrad/_ode/explain.py, who reads.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

/// What kept a step from being longer: its error; how fast sizes may grow; Newton's method; max_step; an output time; the end of
/// the interval; a dose or a stop; an event; the error of derivatives.
enum class step_limit : std::uint8_t { error, growth, convergence, largest, output, end, stop, event, derivatives };

/// Errors below this part of what is allowed do not hold a step back.
inline constexpr double idle_error = 1e-3;

struct step_row {
  double t = 0, h = 0;      // its begin and its size
  double error = 0;         // of all states together, 1 being what is allowed
  std::int32_t state = -1;  // whose error is largest against its tolerance
  double size = 0;          // of that state
  double by_absolute = 0;   // the part of its tolerance that is the absolute one
  /// h times the rate at which the fastest mode decays, roughly. Accuracy alone keeps it at 1 or so, and explicit methods are
  /// unstable beyond 3 or so (6 for order 8).
  double damping = 0;
  std::int32_t order = 0;
  bool is_stiff = false;  // made by the method that a switching one went on with
  step_limit limit = step_limit::error;
};

/// An attempt that was given up for a shorter one.
struct rejected_row {
  double t = 0;
  std::int32_t state = -1;
  bool by_error = true;  // else Newton's method did not converge, or something was not finite
};

struct step_log {
  std::vector<step_row> steps;
  std::vector<rejected_row> rejected;
  step_limit at_end = step_limit::end;  // what the last time of the integration under way is
  bool is_stiff = false;                // whether it is that of the method that a switching one goes on with

  /// A step that nothing but its error, or another one's, can have held back.
  static step_limit by_error(double error) { return error < idle_error ? step_limit::growth : step_limit::error; }
};

/// How fast the fastest mode of a system decays: a power iteration that goes on from step to step.
class damping_probe {
 public:
  /// The rate at (t, y); 0 where the mode does not decay.
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
