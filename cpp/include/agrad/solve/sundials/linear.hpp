// SUNDIALS linear: gives CVODES matrices and linear solvers made of agrad's, for each kind of linear algebra.
//
// A matrix of CVODES here holds the entries of a Jacobian, all or those of a pattern; CVODES only copies and scales the matrix
// and adds the identity. The linear solver is a `newton_matrix`, dense, banded or sparse. The backward problem has the
// transposed matrix, so the matrix holds the same entries and the solver uses the transposed factors. GMRES has products
// instead of a matrix.
// Read next: solve/cvodes/callbacks.hpp, which fills the matrices.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sunlinsol/sunlinsol_spgmr.h>

#include <agrad/solve/algebra/newton_matrix.hpp>
#include <agrad/solve/sundials/handles.hpp>

namespace agrad::sundials {

/// The entries of a Jacobian, and the indices of the diagonal among the entries.
struct numbers {
  std::shared_ptr<const std::vector<std::size_t>> diagonal;
  std::vector<double> values;

  static numbers& of(SUNMatrix m) { return *static_cast<numbers*>(m->content); }
};

/// The operations of CVODES on a matrix. C calls these functions, so the functions must not throw.
struct numbers_matrix {
  static SUNMatrix make(SUNContext context, std::shared_ptr<const std::vector<std::size_t>> diagonal,
                        std::size_t size) noexcept;
};

/// Factors of a `numbers_matrix`, for a vector of n states or for several such vectors, one after the other.
struct factors {
  newton_matrix matrix;
  std::vector<double> stored_factors;
  bool transposed;

  static factors& of(SUNLinearSolver s) { return *static_cast<factors*>(s->content); }

  static SUNLinearSolver make(SUNContext context, const chosen_algebra& how, bool transposed);

 private:
  int setup(const double* values) noexcept;
  int solve(N_Vector x, N_Vector b) noexcept;
};

/// The matrix and the linear solver of one CVODES problem.
struct newton {
  matrix_handle matrix;  // null for GMRES
  linear_solver_handle solver;

  newton(const context_handle& context, const vector_handle& like, const chosen_algebra& how, bool transposed,
         const std::string& function);

  /// Makes the next factorisation independent of those before.
  void forget() const {
    if (matrix) factors::of(solver.get()).matrix.forget();
  }

 private:
  static std::size_t place_of_diagonal(const chosen_algebra& how, std::size_t i);
};

}  // namespace agrad::sundials

#ifndef AGRAD_COMPILED
#include <agrad/solve/sundials/linear.ipp>
#endif
