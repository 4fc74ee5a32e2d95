// SUNDIALS handles: owns SUNDIALS' objects as C++ values, makes contexts that do not print, and names return codes.
//
// A unique_ptr owns each object of SUNDIALS from the line where the object is made, so every exit from a solver frees the
// object. Errors become exceptions (solve/sundials/fault.hpp), so nothing is ever printed.
#pragma once

#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_version.h>

#include <Eigen/Core>

#include <agrad/base/error.hpp>

#if SUNDIALS_VERSION_MAJOR < 7
#error "agrad needs SUNDIALS 7 or newer"
#endif
#if !defined(SUNDIALS_DOUBLE_PRECISION)
#error "agrad needs SUNDIALS built for double precision"
#endif

namespace agrad::sundials {

struct free_context {
  void operator()(SUNContext c) const { SUNContext_Free(&c); }
};
struct free_vector {
  void operator()(N_Vector v) const { N_VDestroy(v); }
};
struct free_matrix {
  void operator()(SUNMatrix m) const { SUNMatDestroy(m); }
};
struct free_linear_solver {
  void operator()(SUNLinearSolver s) const { SUNLinSolFree(s); }
};
struct free_cvodes {
  void operator()(void* memory) const { CVodeFree(&memory); }
};

template <class Pointer, class Free>
using handle = std::unique_ptr<std::remove_pointer_t<Pointer>, Free>;
using context_handle = handle<SUNContext, free_context>;
using vector_handle = handle<N_Vector, free_vector>;
using matrix_handle = handle<SUNMatrix, free_matrix>;
using linear_solver_handle = handle<SUNLinearSolver, free_linear_solver>;
using cvodes_handle = handle<void*, free_cvodes>;

/// Returns the name of a CVODES return code, as "CV_TOO_MUCH_WORK".
AGRAD_COLD inline std::string code_name(int code) {
  const std::unique_ptr<char, void (*)(void*)> name(CVodeGetReturnFlagName(code), std::free);
  return name ? name.get() : std::to_string(code);
}

/// Throws SolverError when a set-up call fails. Arguments have been checked before, so the cause is lack of memory or a defect.
inline void expect_success(int code, const std::string& function, const char* call, std::string (*name_of)(int) = code_name) {
  if (AGRAD_UNLIKELY(code != CV_SUCCESS)) {
    const std::string name = name_of(code);
    throw SolverError(function + ": " + call + " returned " + name, std::numeric_limits<double>::quiet_NaN(), 0, name, "");
  }
}

/// Does the same for calls that return a new object.
template <class Handle, class Pointer>
Handle expect_object(Pointer object, const std::string& function, const char* call) {
  if (AGRAD_UNLIKELY(object == nullptr)) expect_success(CV_MEM_FAIL, function, call);
  return Handle(object);
}

/// Makes a context without error handlers and logger, because both would print.
inline context_handle make_context(const std::string& function) {
  SUNContext raw_context = nullptr;
  SUNContext_Create(SUN_COMM_NULL, &raw_context);
  context_handle context = expect_object<context_handle>(raw_context, function, "SUNContext_Create");
  SUNContext_ClearErrHandlers(context.get());
  SUNContext_SetLogger(context.get(), nullptr);
  return context;
}

inline vector_handle make_vector(const context_handle& context, Eigen::Index n, const std::string& function) {
  return expect_object<vector_handle>(N_VNew_Serial(n, context.get()), function, "N_VNew_Serial");
}

inline Eigen::Map<Eigen::VectorXd> map(const vector_handle& v) {
  const Eigen::Index n = N_VGetLength(v.get());
  return {N_VGetArrayPointer(v.get()), n};
}

}  // namespace agrad::sundials
