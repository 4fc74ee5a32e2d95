// DAE iteration: Newton's iteration of IDAS, which ends by a rate of convergence measured in the same step.
//
// IDAS measures the rate where a step takes two iterations, and from then on accepts single iterations by that rate. While the
// step size is constant IDAS keeps the matrix, too, and where the derivatives of F change by orders of magnitude, the matrix
// corrects ever less: a residual exp(-t) (y' - 2 y) had a solution that was wrong by 70 % at a relative tolerance of 1e-3
// (SUNDIALS 7.9). Here each step takes a second iteration, unless the first correction is far below the tolerance.
// Source: Hindmarsh and Serban, User Documentation for IDAS, section 2.2.
// Read next: solve/dae/ida_forward.hpp, solve/dae/ida_backward.hpp.
#pragma once

#include <string>

#include <agrad/solve/dae/ida.hpp>

namespace agrad::sundials {

struct free_nonlinear_solver {
  void operator()(SUNNonlinearSolver s) const { SUNNonlinSolFree(s); }
};
using nonlinear_solver_handle = handle<SUNNonlinearSolver, free_nonlinear_solver>;

}  // namespace agrad::sundials

namespace agrad::detail {

class dae_iteration {
 public:
  /// Makes the iteration for vectors like `like` or, with `count` > 0, for that many sensitivities after the states.
  dae_iteration(const sundials::context_handle& context, const sundials::vector_handle& like, int count,
                const std::string& function);
  dae_iteration(const dae_iteration&) = delete;
  dae_iteration& operator=(const dae_iteration&) = delete;

  /// Gives the iteration to IDAS, whose memory must not outlive the iteration.
  void attach(void* memory);

 private:
  static int test(SUNNonlinearSolver by, N_Vector, N_Vector correction, double tolerance, N_Vector weights, void* data);

  const std::string& function_;
  bool is_of_sensitivities_;
  double first_ = 0;  // size of the step's first correction
  sundials::nonlinear_solver_handle solver_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/iteration.ipp>
#endif
