// Newton matrix: factorises shift M + scale J, with J dense or on a pattern, M the identity or a mass matrix on the same
// pattern, and the sum dense, banded or sparse.
//
// The factors are stored in the caller's memory, `factor_size()` numbers, so that the record of a step can hold the factors for
// the reverse pass. Sparse factors cannot be stored there: the record then has the entries of J, and `prepare_transposed`
// factorises again, with the pivots of before. Every kind reports a singular matrix by its result, not by nan.
// Read first: solve/algebra/pattern.hpp, the choice of the kind; solve/algebra/band_lu.hpp; solve/algebra/sparse_lu.hpp.
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/solve/algebra/band_lu.hpp>
#include <agrad/solve/algebra/pattern.hpp>
#include <agrad/solve/algebra/sparse_lu.hpp>

namespace agrad {

class newton_matrix {
 public:
  /// mass: the mass matrix M, whose entries the algebra's pattern has; null for the identity.
  explicit newton_matrix(chosen_algebra how, const mass_matrix* mass = nullptr);

  const chosen_algebra& how() const { return how_; }

  /// Returns the number of entries of J: all, column after column, or those of the pattern, in its order.
  std::size_t entries() const { return how_.pattern ? how_.pattern->size() : n_ * n_; }

  /// Returns the number of doubles of stored factors.
  std::size_t factor_size() const;

  /// Factorises shift M + scale J. Returns false when the matrix is singular.
  bool factorise(double shift, double scale, const double* jacobian, double* factors);

  /// Makes the next factorisation independent of those before, whose pivots a sparse matrix keeps.
  void forget() {
    if (sparse_) sparse_->forget();
  }

  /// Prepares `solve_transposed` for the output of `factorise` with the same shift and scale.
  bool prepare_transposed(double shift, double scale, const double* factors);

  /// Replaces x by the solution of the equations with right-hand side x. A sparse matrix uses the last factorisation.
  void solve(const double* factors, double* x);

  /// Does the same with the transposed matrix.
  void solve_transposed(const double* factors, double* x);

 private:
  static constexpr std::size_t few = 24;  // most states for which plain loops are faster than Eigen's blocks

  bool factorise_sparse(double shift, double scale, const double* jacobian);
  void scatter(double scale, const double* jacobian, double* to) const;
  /// Adds shift M.
  void add_mass(double shift, double* to) const {
    for (const auto& [place, value] : mass_) to[place] += shift * value;
  }
  /// Returns the index of entry (i, j) in the sum.
  std::size_t place_of(std::size_t i, std::size_t j) const;

  // ---- dense: the factors in place of the matrix, then the new index of each row

  Eigen::Map<const Eigen::MatrixXd> lu(const double* factors) const;
  Eigen::Map<Eigen::VectorXd> right_map() { return {right_.data(), static_cast<Eigen::Index>(n_)}; }
  std::size_t place_of_row(const double* factors, std::size_t i) const {
    return static_cast<std::size_t>(factors[n_ * n_ + i]);
  }
  void exchange(const double* factors, const double* x);

  /// Factorises with plain loops; U's diagonal is inverted.
  bool factorise_few(double* a);

  bool factorise_many(double* a);

  chosen_algebra how_;
  std::size_t n_;
  detail::band_lu band_;
  std::vector<std::pair<std::size_t, double>> mass_;  // the entries of M: index in the sum, and value
  std::vector<std::size_t> place_;                    // index of each entry of the pattern in the sum, dense or banded
  std::vector<double> right_;
  std::unique_ptr<detail::sparse_lu> sparse_;
  std::vector<double> sparse_matrix_;  // the sum, for `sparse_`
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/algebra/newton_matrix.ipp>
#endif
