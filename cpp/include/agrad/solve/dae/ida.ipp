// Definitions of solve/dae/ida.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/base/progress.hpp>
#include <agrad/solve/dae/ida.hpp>

namespace agrad::sundials {

AGRAD_INLINE std::string ida_code_name(int code) {
  const std::unique_ptr<char, void (*)(void*)> name(IDAGetReturnFlagName(code), std::free);
  return name ? name.get() : std::to_string(code);
}

AGRAD_INLINE void expect_ida(int code, const std::string& function, const char* call) {
  expect_success(code, function, call, ida_code_name);
}

}  // namespace agrad::sundials

namespace agrad::detail {

AGRAD_INLINE ode_pass_statistics read_ida_statistics(void* memory) {
  ode_pass_statistics s;
  IDAGetNumSteps(memory, &s.steps);
  IDAGetNumResEvals(memory, &s.rhs_evaluations);
  IDAGetNumJacEvals(memory, &s.jacobian_evaluations);
  IDAGetNumLinSolvSetups(memory, &s.factorizations);
  IDAGetNumErrTestFails(memory, &s.error_test_failures);
  IDAGetNumStepSolveFails(memory, &s.convergence_failures);
  return s;
}

AGRAD_INLINE double ida_time(void* memory) {
  double now = 0;
  IDAGetCurrentTime(memory, &now);
  return now;
}

AGRAD_INLINE void report_progress(double t) {
  if (progress_listener* listener = progress_listener::current()) listener->at(t);
}

AGRAD_INLINE chosen_algebra dense_algebra(Eigen::Index n) {
  chosen_algebra how;
  how.states = static_cast<std::size_t>(n);
  return how;
}

AGRAD_INLINE void throw_ida_stopped(void* memory, const sundials::vector_handle& like, ode_stop stop, const ode_fault& fault,
                                    const std::string& advice) {
  long steps = 0;
  double h = 0;
  IDAGetNumSteps(memory, &steps);
  IDAGetLastStep(memory, &h);
  stop.t += ida_time(memory), stop.steps += steps;
  stop.dominating = dominating_state(memory, like, IDAGetNumSteps, IDAGetErrWeights, IDAGetEstLocalErrors);
  const std::string step = stop.code == IDA_TOO_MUCH_WORK ? last_step(h) : "";
  throw_stopped(stop, fault, sundials::ida_code_name(stop.code), (advice.empty() ? advice_for(stop.code) : advice) + step);
}

}  // namespace agrad::detail
