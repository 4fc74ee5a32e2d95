// IDA: a handle of IDAS' memory, names of IDAS' return codes, statistics, and the SolverError of a stopped integration.
//
// Return codes for which agrad has advice have the same numbers as in CVODES, so solve/sundials/fault.hpp serves both.
// Read next: solve/dae/ida_forward.hpp, solve/dae/ida_backward.hpp.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include <idas/idas.h>

#include <agrad/solve/solver/statistics.hpp>
#include <agrad/solve/sundials/fault.hpp>
#include <agrad/solve/sundials/linear.hpp>

namespace agrad::sundials {

static_assert(IDA_SUCCESS == CV_SUCCESS && IDA_TOO_MUCH_WORK == CV_TOO_MUCH_WORK && IDA_TOO_MUCH_ACC == CV_TOO_MUCH_ACC &&
              IDA_ERR_FAIL == CV_ERR_FAILURE && IDA_CONV_FAIL == CV_CONV_FAILURE && IDA_LSETUP_FAIL == CV_LSETUP_FAIL &&
              IDA_LSOLVE_FAIL == CV_LSOLVE_FAIL);

struct free_ida {
  void operator()(void* memory) const { IDAFree(&memory); }
};
using ida_handle = handle<void*, free_ida>;

/// Returns the name of an IDAS return code, as "IDA_TOO_MUCH_WORK".
AGRAD_COLD std::string ida_code_name(int code);

void expect_ida(int code, const std::string& function, const char* call);

}  // namespace agrad::sundials

namespace agrad::detail {

ode_pass_statistics read_ida_statistics(void* memory);

double ida_time(void* memory);

/// Tells the listener of this thread, if any, the time reached.
void report_progress(double t);

/// Returns dense matrices and factors for n states; transposed factors solve with the transposed matrix.
chosen_algebra dense_algebra(Eigen::Index n);

/// Throws the SolverError for `stop`, after adding IDAS' time and number of steps. stop.t: the time at which IDAS' clock is
/// zero. advice: empty for the usual advice.
[[noreturn]] AGRAD_COLD void throw_ida_stopped(void* memory, const sundials::vector_handle& like, ode_stop stop,
                                               const ode_fault& fault, const std::string& advice);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/ida.ipp>
#endif
