// Profile: the times of a program's operations in the forward and the reverse pass.
//
// The program is run many times with a clock reading around each operation; an operation's time is the median, less the time of
// a clock reading. Steps of straight code are too short for the clock: a sequence is timed as a whole, and its time is divided
// among its steps in proportion to the time of each kind of step alone.
// Read first: program/machine/unrolled.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agrad/program/inspect/summary.hpp>

namespace agrad {

/// An operation or step, and its nanoseconds per run.
struct profiled_operation {
  std::string name;
  slot result = 0;
  std::uint32_t count = 0;
  slot first_read = 0;  // the first slot read, 0 if there is none
  double forward = 0, backward = 0;
  std::vector<slot> reads = {};  // first slots of the operands that are ranges
};

struct program_profile {
  double forward = 0, backward = 0;  // nanoseconds of a run and of a reverse pass, without clock readings in between
  std::size_t repeats = 0;
  std::vector<profiled_operation> operations;
};

namespace detail {

double nanoseconds_since(std::chrono::steady_clock::time_point begin);

double median_of(std::vector<double>& x);

class profiler {
 public:
  profiler(const program& f, workspace& w, const double* x, const double* y_adjoint, std::size_t repeats);
  program_profile result() { return std::move(result_); }

 private:
  using clock = std::chrono::steady_clock;

  void time_all();

  /// Computes the medians of all operations, for both passes.
  void time_operations();

  struct step_time {
    double forward = 0, backward = 0;
  };

  void split_kernels();

  void append(const operation& op, double forward, double backward);

  /// Returns the time of a step of this kind alone, measured once for each kind, with the operands of its first step.
  step_time time_of(const instruction& step);

  step_time measured(const instruction& step);

  const program& f_;
  workspace& w_;
  const double *x_, *y_adjoint_;
  std::size_t repeats_;
  std::vector<double> y_, x_adjoint_, forward_, backward_;
  std::vector<double> values_, adjoints_;  // memory for measured steps
  std::unordered_map<const straight_steps*, step_time> steps_;
  program_profile result_;
};

}  // namespace detail

/// Measures the times of `repeats` runs at x, and of reverse passes with the seed y_adjoint. Throws kernels::path_left if a
/// comparison differs from the recording.
program_profile profile(const program& f, workspace& w, const double* x, const double* y_adjoint, std::size_t repeats);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/inspect/profile.ipp>
#endif
