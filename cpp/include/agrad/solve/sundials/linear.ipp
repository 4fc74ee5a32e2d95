// Definitions of solve/sundials/linear.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/sundials/linear.hpp>

namespace agrad::sundials {

AGRAD_INLINE SUNMatrix numbers_matrix::make(SUNContext context, std::shared_ptr<const std::vector<std::size_t>> diagonal,
                                            std::size_t size) noexcept {
  SUNMatrix m = SUNMatNewEmpty(context);
  if (m == nullptr) return nullptr;
  m->ops->getid = [](SUNMatrix) { return SUNMATRIX_CUSTOM; };
  m->ops->clone = [](SUNMatrix a) { return make(a->sunctx, numbers::of(a).diagonal, numbers::of(a).values.size()); };
  m->ops->destroy = [](SUNMatrix a) {
    delete static_cast<numbers*>(a->content);
    a->content = nullptr;
    SUNMatFreeEmpty(a);
  };
  m->ops->zero = [](SUNMatrix a) -> SUNErrCode {
    std::fill(numbers::of(a).values.begin(), numbers::of(a).values.end(), 0.0);
    return SUN_SUCCESS;
  };
  m->ops->copy = [](SUNMatrix from, SUNMatrix to) -> SUNErrCode {
    std::copy(numbers::of(from).values.begin(), numbers::of(from).values.end(), numbers::of(to).values.begin());
    return SUN_SUCCESS;
  };
  m->ops->scaleaddi = [](sunrealtype scale, SUNMatrix a) -> SUNErrCode {
    for (double& x : numbers::of(a).values) x *= scale;
    for (const std::size_t k : *numbers::of(a).diagonal) numbers::of(a).values[k] += 1;
    return SUN_SUCCESS;
  };
  try {
    m->content = new numbers{std::move(diagonal), std::vector<double>(size)};
    return m;
  } catch (...) {
    SUNMatFreeEmpty(m);
    return nullptr;
  }
}

AGRAD_INLINE SUNLinearSolver factors::make(SUNContext context, const chosen_algebra& how, bool transposed) {
  auto own = std::make_unique<factors>(factors{newton_matrix(how), {}, transposed});
  own->stored_factors.resize(own->matrix.factor_size());
  SUNLinearSolver s = SUNLinSolNewEmpty(context);
  if (s == nullptr) return nullptr;
  s->ops->gettype = [](SUNLinearSolver) { return SUNLINEARSOLVER_DIRECT; };
  s->ops->getid = [](SUNLinearSolver) { return SUNLINEARSOLVER_CUSTOM; };
  s->ops->initialize = [](SUNLinearSolver) -> SUNErrCode { return SUN_SUCCESS; };
  s->ops->setup = [](SUNLinearSolver a, SUNMatrix m) { return of(a).setup(numbers::of(m).values.data()); };
  s->ops->solve = [](SUNLinearSolver a, SUNMatrix, N_Vector x, N_Vector b, sunrealtype) { return of(a).solve(x, b); };
  s->ops->free = [](SUNLinearSolver a) -> SUNErrCode {
    delete static_cast<factors*>(a->content);
    a->content = nullptr;
    SUNLinSolFreeEmpty(a);
    return SUN_SUCCESS;
  };
  s->content = own.release();
  return s;
}

AGRAD_INLINE int factors::setup(const double* values) noexcept {
  try {
    return matrix.factorise(0, 1, values, stored_factors.data()) ? SUN_SUCCESS : SUNLS_LUFACT_FAIL;
  } catch (...) {
    return -1;  // out of memory
  }
}

AGRAD_INLINE int factors::solve(N_Vector x, N_Vector b) noexcept {
  try {
    N_VScale(1.0, b, x);
    double* values = N_VGetArrayPointer(x);
    const auto n = static_cast<sunindextype>(matrix.how().states);
    for (sunindextype first = 0; first < N_VGetLength(x); first += n)
      transposed ? matrix.solve_transposed(stored_factors.data(), values + first)
                 : matrix.solve(stored_factors.data(), values + first);
    return SUN_SUCCESS;
  } catch (...) {
    return -1;
  }
}

AGRAD_INLINE newton::newton(const context_handle& context, const vector_handle& like, const chosen_algebra& how,
                            bool transposed, const std::string& function) {
  if (how.kind == ode_algebra_kind::gmres) {
    const int directions = static_cast<int>(std::min<std::size_t>(how.states, 30));
    solver = expect_object<linear_solver_handle>(SUNLinSol_SPGMR(like.get(), SUN_PREC_NONE, directions, context.get()),
                                                 function, "SUNLinSol_SPGMR");
    return;
  }
  auto diagonal = std::make_shared<std::vector<std::size_t>>();
  for (std::size_t i = 0; i < how.states; ++i) diagonal->push_back(place_of_diagonal(how, i));
  const std::size_t size = how.pattern ? how.pattern->size() : how.states * how.states;
  matrix =
      expect_object<matrix_handle>(numbers_matrix::make(context.get(), std::move(diagonal), size), function, "SUNMatNewEmpty");
  solver = expect_object<linear_solver_handle>(factors::make(context.get(), how, transposed), function, "SUNLinSolNewEmpty");
}

AGRAD_INLINE std::size_t newton::place_of_diagonal(const chosen_algebra& how, std::size_t i) {
  if (!how.pattern) return i * (how.states + 1);
  const auto row = how.pattern->row(i);
  return how.pattern->begin[i] +
         static_cast<std::size_t>(std::lower_bound(row.begin(), row.end(), static_cast<csr_pattern::index>(i)) - row.begin());
}

}  // namespace agrad::sundials
