// Definitions of solve/dae/iteration.hpp.
#pragma once

#include <cmath>

#include <sunnonlinsol/sunnonlinsol_newton.h>

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/iteration.hpp>

namespace agrad::detail {

AGRAD_INLINE dae_iteration::dae_iteration(const sundials::context_handle& context, const sundials::vector_handle& like,
                                          int count, const std::string& function)
    : function_(function), is_of_sensitivities_(count > 0) {
  SUNNonlinearSolver made =
      count > 0 ? SUNNonlinSol_NewtonSens(count, like.get(), context.get()) : SUNNonlinSol_Newton(like.get(), context.get());
  solver_ = sundials::expect_object<sundials::nonlinear_solver_handle>(made, function, "SUNNonlinSol_Newton");
}

AGRAD_INLINE void dae_iteration::attach(void* memory) {
  if (is_of_sensitivities_)
    sundials::expect_ida(IDASetNonlinearSolverSensStg(memory, solver_.get()), function_, "IDASetNonlinearSolverSensStg");
  else
    sundials::expect_ida(IDASetNonlinearSolver(memory, solver_.get()), function_, "IDASetNonlinearSolver");
  sundials::expect_ida(SUNNonlinSolSetConvTestFn(solver_.get(), test, this), function_, "SUNNonlinSolSetConvTestFn");
}

AGRAD_INLINE int dae_iteration::test(SUNNonlinearSolver by, N_Vector, N_Vector correction, double tolerance, N_Vector weights,
                                     void* data) {
  auto& self = *static_cast<dae_iteration*>(data);
  const double size = N_VWrmsNorm(correction, weights);
  int iteration = 0;
  SUNNonlinSolGetCurIter(by, &iteration);
  if (iteration == 0) {
    self.first_ = size;
    return size <= 1e-4 * tolerance ? SUN_SUCCESS : SUN_NLS_CONTINUE;
  }
  const double rate = std::pow(size / self.first_, 1.0 / iteration);
  if (!(rate <= 0.9)) return size <= 0.1 * tolerance ? SUN_SUCCESS : SUN_NLS_CONV_RECVR;  // small corrections are rounding
  return rate / (1 - rate) * size <= tolerance ? SUN_SUCCESS : SUN_NLS_CONTINUE;
}

}  // namespace agrad::detail
