// Newton matrix: factorises M = shift I + scale J, with J dense or on a pattern, and M dense, banded or sparse.
//
// The factors are stored in the caller's memory, `kept()` numbers, so that the record of a step can hold the factors for the
// reverse pass. Sparse factors cannot be stored there: the record then has the entries of J, and `prepare_transposed`
// factorises again, on the pattern that was analysed once. Every kind reports a singular matrix by its result, not by nan.
// Read first: solve/algebra/pattern.hpp, the choice of the kind; solve/algebra/band_lu.hpp.
#pragma once

#include <Eigen/LU>
#include <Eigen/SparseLU>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/solve/algebra/band_lu.hpp>
#include <agrad/solve/algebra/pattern.hpp>

namespace agrad {

class newton_matrix {
 public:
  explicit newton_matrix(chosen_algebra how) : how_(std::move(how)), n_(how_.states), right_(n_) {
    const bool has_bands = how_.kind == ode_algebra_kind::banded;
    if (has_bands) band_ = {n_, how_.lower, how_.upper};
    if (how_.kind == ode_algebra_kind::sparse) {
      sparse_ = std::make_unique<sparse_factors>(*how_.pattern);
    } else if (how_.pattern) {
      for (std::size_t i = 0; i < n_; ++i)
        for (const auto j : how_.pattern->row(i)) place_.push_back(has_bands ? band_.place(i, j) : j * n_ + i);
    }
  }

  const chosen_algebra& how() const { return how_; }

  /// Number of entries of J: all, column after column, or those of the pattern, in its order.
  std::size_t entries() const { return how_.pattern ? how_.pattern->size() : n_ * n_; }

  /// Number of doubles of stored factors.
  std::size_t kept() const {
    if (sparse_) return entries();
    return how_.kind == ode_algebra_kind::banded ? band_.size() : n_ * n_ + n_;
  }

  /// Factorises shift I + scale J. Returns false when the matrix is singular.
  bool factorise(double shift, double scale, const double* jacobian, double* kept) {
    if (sparse_) {
      std::copy_n(jacobian, entries(), kept);
      return sparse_->factorise(sparse_->plain, shift, scale, kept);
    }
    if (how_.kind == ode_algebra_kind::banded) {
      std::fill_n(kept, band_.n * band_.stride(), 0.0);
      scatter(scale, jacobian, kept);
      for (std::size_t i = 0; i < n_; ++i) kept[band_.place(i, i)] += shift;
      return band_.factorise(kept);
    }
    if (how_.pattern) {
      std::fill_n(kept, n_ * n_, 0.0);
      scatter(scale, jacobian, kept);
    } else {
      for (std::size_t k = 0; k < n_ * n_; ++k) kept[k] = scale * jacobian[k];
    }
    for (std::size_t i = 0; i < n_; ++i) kept[i * (n_ + 1)] += shift;
    return n_ <= few ? factorise_few(kept) : factorise_many(kept);
  }

  /// Does the same for later calls of `solve_transposed` only.
  bool factorise_transposed(double shift, double scale, const double* jacobian, double* kept) {
    if (!sparse_) return factorise(shift, scale, jacobian, kept);
    std::copy_n(jacobian, entries(), kept);
    return sparse_->factorise(sparse_->transposed, shift, scale, kept);
  }

  /// Prepares `solve_transposed` for the output of `factorise` with the same shift and scale.
  bool prepare_transposed(double shift, double scale, const double* kept) {
    return !sparse_ || sparse_->factorise(sparse_->transposed, shift, scale, kept);
  }

  /// Replaces x by M^-1 x. A sparse matrix uses the last factorisation.
  void solve(const double* kept, double* x) {
    if (sparse_) return sparse_->solve(sparse_->plain, x);
    if (how_.kind == ode_algebra_kind::banded) return band_.solve(kept, x);
    exchange(kept, x);
    if (n_ > few) {
      lu(kept).triangularView<Eigen::UnitLower>().solveInPlace(right_map());
      lu(kept).triangularView<Eigen::Upper>().solveInPlace(right_map());
    } else {
      for (std::size_t j = 0; j < n_; ++j)
        for (std::size_t i = j + 1; i < n_; ++i) right_[i] -= kept[j * n_ + i] * right_[j];
      for (std::size_t j = n_; j-- > 0;) {
        right_[j] *= kept[j * (n_ + 1)];
        for (std::size_t i = 0; i < j; ++i) right_[i] -= kept[j * n_ + i] * right_[j];
      }
    }
    std::copy(right_.begin(), right_.end(), x);
  }

  /// Does the same with the transposed matrix.
  void solve_transposed(const double* kept, double* x) {
    if (sparse_) return sparse_->solve(sparse_->transposed, x);
    if (how_.kind == ode_algebra_kind::banded) return band_.solve_transposed(kept, x);
    std::copy_n(x, n_, right_.begin());
    if (n_ > few) {
      lu(kept).transpose().triangularView<Eigen::Lower>().solveInPlace(right_map());
      lu(kept).transpose().triangularView<Eigen::UnitUpper>().solveInPlace(right_map());
    } else {
      for (std::size_t j = 0; j < n_; ++j) {
        for (std::size_t i = 0; i < j; ++i) right_[j] -= kept[j * n_ + i] * right_[i];
        right_[j] *= kept[j * (n_ + 1)];
      }
      for (std::size_t j = n_; j-- > 0;)
        for (std::size_t i = j + 1; i < n_; ++i) right_[j] -= kept[j * n_ + i] * right_[i];
    }
    for (std::size_t i = 0; i < n_; ++i) x[i] = right_[place_of_row(kept, i)];
  }

 private:
  static constexpr std::size_t few = 24;  // most states for which plain loops are faster than Eigen's blocks

  /// M and the transposed M on one pattern: rows of M are columns of the transposed.
  struct sparse_factors {
    using matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
    struct side {
      matrix m;
      std::vector<std::size_t> place;     // index of each entry of the pattern among the values of m
      std::vector<std::size_t> diagonal;  // index of each diagonal entry among the values of m
      std::unique_ptr<Eigen::SparseLU<matrix, Eigen::COLAMDOrdering<int>>> lu;
    };
    side plain, transposed;
    Eigen::VectorXd solution;

    explicit sparse_factors(const csr_pattern& p) {
      set_up(transposed, p);
      const csr_pattern by_columns = transposed_pattern(p);
      set_up(plain, by_columns);
      transposed.place.resize(p.size());
      plain.place.resize(p.size());
      std::vector<std::size_t> next(by_columns.begin.begin(), by_columns.begin.end() - 1);
      for (std::size_t k = 0; k < p.size(); ++k) {
        transposed.place[k] = k;
        plain.place[k] = next[p.col[k]]++;
      }
    }

    static void set_up(side& s, const csr_pattern& by_columns) {
      const auto n = static_cast<Eigen::Index>(by_columns.rows());
      s.m.resize(n, n);
      s.m.resizeNonZeros(static_cast<Eigen::Index>(by_columns.size()));
      for (std::size_t j = 0; j <= by_columns.rows(); ++j) s.m.outerIndexPtr()[j] = static_cast<int>(by_columns.begin[j]);
      for (std::size_t k = 0; k < by_columns.size(); ++k) {
        s.m.innerIndexPtr()[k] = static_cast<int>(by_columns.col[k]);
        s.m.valuePtr()[k] = 1;
      }
      for (std::size_t j = 0; j < by_columns.rows(); ++j)
        for (std::size_t k = by_columns.begin[j]; k < by_columns.begin[j + 1]; ++k)
          if (by_columns.col[k] == j) s.diagonal.push_back(k);
    }

    static bool factorise(side& s, double shift, double scale, const double* jacobian) {
      if (!s.lu) {
        s.lu = std::make_unique<Eigen::SparseLU<matrix, Eigen::COLAMDOrdering<int>>>();
        s.lu->analyzePattern(s.m);
      }
      bool is_finite = true;
      for (std::size_t k = 0; k < s.place.size(); ++k) {
        s.m.valuePtr()[s.place[k]] = scale * jacobian[k];
        is_finite = is_finite && std::isfinite(jacobian[k]);
      }
      for (const std::size_t k : s.diagonal) s.m.valuePtr()[k] += shift;
      if (!is_finite) return false;
      s.lu->factorize(s.m);
      return s.lu->info() == Eigen::Success;
    }

    void solve(const side& s, double* x) {
      Eigen::Map<Eigen::VectorXd> right(x, s.m.rows());
      solution = s.lu->solve(right);
      right = solution;
    }
  };

  void scatter(double scale, const double* jacobian, double* to) const {
    for (std::size_t k = 0; k < place_.size(); ++k) to[place_[k]] = scale * jacobian[k];
  }

  // ---- dense: the factors in place of the matrix, then the new index of each row

  Eigen::Map<const Eigen::MatrixXd> lu(const double* kept) const {
    return {kept, static_cast<Eigen::Index>(n_), static_cast<Eigen::Index>(n_)};
  }
  Eigen::Map<Eigen::VectorXd> right_map() { return {right_.data(), static_cast<Eigen::Index>(n_)}; }
  std::size_t place_of_row(const double* kept, std::size_t i) const { return static_cast<std::size_t>(kept[n_ * n_ + i]); }
  void exchange(const double* kept, const double* x) {
    for (std::size_t i = 0; i < n_; ++i) right_[place_of_row(kept, i)] = x[i];
  }

  /// Factorises with plain loops; U's diagonal is inverted.
  bool factorise_few(double* a) {
    std::size_t row[few];  // row of the matrix that is now at each index
    for (std::size_t i = 0; i < n_; ++i) row[i] = i;
    for (std::size_t j = 0; j < n_; ++j) {
      double* column = a + j * n_;
      std::size_t k = j;
      for (std::size_t i = j + 1; i < n_; ++i)
        if (std::abs(column[i]) > std::abs(column[k])) k = i;
      if (!(std::abs(column[k]) > 0)) return false;
      if (k != j) {
        std::swap(row[j], row[k]);
        for (std::size_t c = 0; c < n_; ++c) std::swap(a[c * n_ + j], a[c * n_ + k]);
      }
      const double inverse = column[j] = 1 / column[j];
      for (std::size_t i = j + 1; i < n_; ++i) column[i] *= inverse;
      for (std::size_t c = j + 1; c < n_; ++c) {
        const double factor = a[c * n_ + j];
        for (std::size_t i = j + 1; i < n_; ++i) a[c * n_ + i] -= factor * column[i];
      }
    }
    for (std::size_t i = 0; i < n_; ++i) a[n_ * n_ + row[i]] = static_cast<double>(i);
    return true;
  }

  bool factorise_many(double* a) {
    const auto n = static_cast<Eigen::Index>(n_);
    Eigen::Map<Eigen::MatrixXd> m(a, n, n);
    const Eigen::PartialPivLU<Eigen::Ref<Eigen::MatrixXd>> in_place(m);
    const auto& order = in_place.permutationP().indices();
    for (Eigen::Index i = 0; i < n; ++i) a[n * n + i] = order[i];
    return !(m.diagonal().array() == 0).any();
  }

  chosen_algebra how_;
  std::size_t n_;
  detail::band_lu band_;
  std::vector<std::size_t> place_;  // index of each entry of the pattern in M
  std::vector<double> right_;
  std::unique_ptr<sparse_factors> sparse_;
};

}  // namespace agrad
