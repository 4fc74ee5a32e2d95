// Mass matrix: the constant matrix M of a system M y' = f(t, y, p), singular or not.
//
// M is stored by its nonzero entries, so the same products serve dense, banded and sparse linear algebra. Where M is singular,
// the system is differential-algebraic (solve/algebra/constrained_state.hpp).
// Read next: solve/algebra/newton_matrix.hpp, which factorises matrices with M.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string_view>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad {

struct mass_matrix {
  csr_pattern pattern;         // n x n
  std::vector<double> values;  // in the pattern's order

  Eigen::MatrixXd dense() const;

  /// Add M x, or M' x, to `to`, for `width` vectors side by side.
  void add_product(const double* x, std::size_t width, double* to) const;
  void add_transposed_product(const double* x, std::size_t width, double* to) const;

  /// Calls use(i, j, value) for each entry, row after row.
  template <class Use>
  void each(const Use& use) const {
    for (std::size_t i = 0; i < pattern.rows(); ++i)
      for (std::size_t k = pattern.begin[i]; k < pattern.begin[i + 1]; ++k)
        use(i, static_cast<std::size_t>(pattern.col[k]), values[k]);
  }
};

/// Returns the mass matrix with the nonzero entries of a dense matrix.
mass_matrix mass_matrix_of(const Eigen::MatrixXd& dense);

/// Throws ShapeError or DomainError unless M is a matrix of finite numbers for n states.
void check_mass_matrix(std::string_view function, const mass_matrix& m, Eigen::Index n);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/mass_matrix.ipp>
#endif
