// Sparse pattern: the places of a sparse symmetric matrix's entries, analysed once for any values.
//
// The analysis orders rows by minimum degree (Eigen's) and finds the places of entries in the Cholesky factor L; a
// factorisation with new values only computes. Values are one number for each entry of the lower triangle, column after column;
// a value off the diagonal is the entry at both places. Read next: rules/linalg/sparse.hpp, the operations.
#pragma once

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agrad/rules/linalg/rule.hpp>

namespace agrad {

class sparse_pattern {
 public:
  using index = Eigen::Index;

  /// The pattern of the stored entries in the lower triangle of a (n x n); the diagonal is always part of it.
  template <class Derived>
  explicit sparse_pattern(const Eigen::SparseMatrixBase<Derived>& a) : data_(analysed(Eigen::SparseMatrix<double>(a))) {}

  /// Return n of the n x n matrix, and the number of values.
  index size() const { return data_->n; }
  index values() const { return static_cast<index>(data_->row.size()); }
  /// Return the row and the column (row >= column) of a value.
  index row(index v) const { return data_->row[at(v)]; }
  index col(index v) const { return data_->col[at(v)]; }
  /// Returns the number of entries of the Cholesky factor.
  index factor_values() const { return static_cast<index>(data_->factor_row.size()); }

  /// Returns the beginning of a column of the factor; the diagonal entry comes first.
  index factor_column(index j) const { return data_->factor_begin[at(j)]; }

  /// Returns the values of a matrix with this pattern: zero for entries that the matrix does not store. The matrix must not
  /// have entries outside of the pattern.
  template <class Derived>
  Eigen::VectorXd values_of(const Eigen::SparseMatrixBase<Derived>& a) const {
    const Eigen::SparseMatrix<double> given = Eigen::SparseMatrix<double>(a).triangularView<Eigen::Lower>();
    if (given.rows() != size() || given.cols() != size())
      linalg::fail_shape("values_of", "a", {given.rows(), given.cols()},
                         "of the pattern's " + linalg::to_text({size(), size()}));
    Eigen::VectorXd result = Eigen::VectorXd::Zero(values());
    index v = 0;
    for (index j = 0; j < size(); ++j) {
      for (Eigen::SparseMatrix<double>::InnerIterator entry(given, j); entry; ++entry) {
        while (v < values() && (col(v) < j || (col(v) == j && row(v) < entry.row()))) ++v;
        if (AGRAD_UNLIKELY(v == values() || col(v) != j || row(v) != entry.row()))
          throw ShapeError("values_of: a has an entry at (" + std::to_string(entry.row()) + ", " + std::to_string(j) +
                           "), but must be zero outside of the pattern");
        result[v] = entry.value();
      }
    }
    return result;
  }

  /// Computes the Cholesky factor of the matrix with these values, in the pattern of the factor. Throws DomainError unless the
  /// matrix is positive definite.
  void factor(std::string_view function, const double* values, double* factor) const;
  /// Computes x := A^-1 x from the factor, for one column.
  void solve(const double* factor, double* x) const;
  /// Computes the entries of A^-1 within the pattern of the factor (Takahashi, Fagan & Chen 1973).
  void inverse_entries(const double* factor, double* inverse) const;
  /// Returns the place of a value's entry in the factor's pattern.
  index place(index v) const { return data_->place[at(v)]; }

 private:
  struct data {
    index n = 0;
    std::vector<index> row, col, place;                   // of each value
    std::vector<index> order;                             // row i of A is row order[i] of the permuted matrix
    std::vector<index> factor_begin, factor_row;          // columns of L, diagonal first, rows ascending
    std::vector<index> left_begin, left_col, left_entry;  // for each row of L its entries left of the diagonal
  };
  static std::size_t at(index i) { return static_cast<std::size_t>(i); }

  template <class Sparse>
  static std::shared_ptr<const data> analysed(const Sparse& a);

  std::shared_ptr<const data> data_;
};

template <class Sparse>
std::shared_ptr<const sparse_pattern::data> sparse_pattern::analysed(const Sparse& a) {
  linalg::check_square("sparse_pattern", "a", {a.rows(), a.cols()});
  auto d = std::make_shared<data>();
  const index n = d->n = a.rows();
  // A matrix with the pattern that is surely positive definite. Its factor has all entries that any factor may have.
  std::vector<Eigen::Triplet<double>> entries;
  for (index j = 0; j < n; ++j) {
    entries.emplace_back(j, j, 1.0);
    for (typename Sparse::InnerIterator entry(a, j); entry; ++entry)
      if (entry.row() > j) entries.emplace_back(entry.row(), j, 0.5 / static_cast<double>(n));
  }
  Sparse sample(n, n);
  sample.setFromTriplets(entries.begin(), entries.end());
  Eigen::SimplicialLLT<Sparse> decomposition;
  if (n > 0) decomposition.compute(sample);
  for (index i = 0; i < n; ++i)
    d->order.push_back(decomposition.permutationP().size() == 0 ? i : decomposition.permutationP().indices()[i]);
  d->factor_begin.push_back(0);
  std::vector<std::vector<std::pair<index, index>>> left(at(n));
  const Sparse l = n > 0 ? Sparse(decomposition.matrixL()) : Sparse(0, 0);
  for (index j = 0; j < n; ++j) {
    for (typename Sparse::InnerIterator entry(l, j); entry; ++entry) {
      if (entry.row() > j) left[at(entry.row())].emplace_back(j, static_cast<index>(d->factor_row.size()));
      d->factor_row.push_back(entry.row());
    }
    d->factor_begin.push_back(static_cast<index>(d->factor_row.size()));
  }
  for (index i = 0; i < n; ++i) {
    d->left_begin.push_back(static_cast<index>(d->left_col.size()));
    for (const auto& [col, entry] : left[at(i)]) d->left_col.push_back(col), d->left_entry.push_back(entry);
  }
  d->left_begin.push_back(static_cast<index>(d->left_col.size()));
  for (index j = 0; j < n; ++j) {
    for (typename Sparse::InnerIterator entry(sample, j); entry; ++entry) {
      const index p = d->order[at(entry.row())], q = d->order[at(j)];
      const auto first = d->factor_row.begin() + d->factor_begin[at(std::min(p, q))];
      const auto last = d->factor_row.begin() + d->factor_begin[at(std::min(p, q) + 1)];
      d->place.push_back(std::lower_bound(first, last, std::max(p, q)) - d->factor_row.begin());
      d->row.push_back(entry.row());
      d->col.push_back(j);
    }
  }
  return d;
}

// Column after column; each column subtracts the products with the columns to its left that have an entry in its row.
inline void sparse_pattern::factor(std::string_view function, const double* values, double* factor) const {
  const data& d = *data_;
  std::fill(factor, factor + factor_values(), 0.0);
  for (index v = 0; v < this->values(); ++v) factor[d.place[at(v)]] += values[v];
  std::vector<double> column(at(d.n));
  for (index j = 0; j < d.n; ++j) {
    const index begin = d.factor_begin[at(j)], end = d.factor_begin[at(j + 1)];
    for (index e = begin; e < end; ++e) column[at(d.factor_row[at(e)])] = factor[e];
    for (index k = d.left_begin[at(j)]; k < d.left_begin[at(j + 1)]; ++k) {
      const double x = factor[d.left_entry[at(k)]];
      for (index e = d.left_entry[at(k)]; e < d.factor_begin[at(d.left_col[at(k)] + 1)]; ++e)
        column[at(d.factor_row[at(e)])] -= x * factor[e];
    }
    const double pivot = column[at(j)];
    if (AGRAD_UNLIKELY(!(pivot > 0 && pivot <= std::numeric_limits<double>::max()))) {
      const index original = std::find(d.order.begin(), d.order.end(), j) - d.order.begin();
      linalg::fail_pivot(function, "not positive definite", "positive definite", original, pivot);
    }
    const double diagonal = std::sqrt(pivot);
    factor[begin] = diagonal;
    for (index e = begin + 1; e < end; ++e) factor[e] = column[at(d.factor_row[at(e)])] / diagonal;
  }
}

inline void sparse_pattern::solve(const double* factor, double* x) const {
  const data& d = *data_;
  std::vector<double> y(at(d.n));
  for (index i = 0; i < d.n; ++i) y[at(d.order[at(i)])] = x[i];
  for (index j = 0; j < d.n; ++j) {
    const double entry = y[at(j)] /= factor[d.factor_begin[at(j)]];
    for (index e = d.factor_begin[at(j)] + 1; e < d.factor_begin[at(j + 1)]; ++e)
      y[at(d.factor_row[at(e)])] -= factor[e] * entry;
  }
  for (index j = d.n - 1; j >= 0; --j) {
    double sum = y[at(j)];
    for (index e = d.factor_begin[at(j)] + 1; e < d.factor_begin[at(j + 1)]; ++e) sum -= factor[e] * y[at(d.factor_row[at(e)])];
    y[at(j)] = sum / factor[d.factor_begin[at(j)]];
  }
  for (index i = 0; i < d.n; ++i) x[i] = y[at(d.order[at(i)])];
}

// Z = L^-T D^-1 + (1 - L^-T) Z in the scaling of L L': column j of Z follows from the columns to the right, which have all
// entries (i, k) for i and k in column j of L, because the factor's pattern is closed under elimination.
inline void sparse_pattern::inverse_entries(const double* factor, double* inverse) const {
  const data& d = *data_;
  std::vector<index> position(at(d.n), -1);
  std::vector<double> sum;
  for (index j = d.n - 1; j >= 0; --j) {
    const index begin = d.factor_begin[at(j)], end = d.factor_begin[at(j + 1)], below = end - begin - 1;
    sum.assign(at(below), 0.0);
    for (index a = 0; a < below; ++a) position[at(d.factor_row[at(begin + 1 + a)])] = a;
    for (index a = 0; a < below; ++a) {
      const index k = d.factor_row[at(begin + 1 + a)];
      for (index e = d.factor_begin[at(k)]; e < d.factor_begin[at(k + 1)]; ++e) {
        const index b = position[at(d.factor_row[at(e)])];
        if (b < 0) continue;
        sum[at(b)] += inverse[e] * factor[begin + 1 + a];
        if (b != a) sum[at(a)] += inverse[e] * factor[begin + 1 + b];
      }
    }
    const double diagonal = factor[begin];
    double last = 1 / diagonal;
    for (index a = 0; a < below; ++a) {
      position[at(d.factor_row[at(begin + 1 + a)])] = -1;
      inverse[begin + 1 + a] = -sum[at(a)] / diagonal;
      last -= inverse[begin + 1 + a] * factor[begin + 1 + a];
    }
    inverse[begin] = last / diagonal;
  }
}

}  // namespace agrad
