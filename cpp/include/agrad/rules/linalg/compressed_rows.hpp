// Sparse matrices by compressed rows, under Stan's names: values w that may have derivatives, on a fixed pattern (v, u).
//
// A matrix of m rows and n columns has values w row by row, their columns v, and for each row the place u of its first value in
// w; u has m + 1 entries, the last of which is the number of values. Columns and places count from 0, where Stan's count from
// 1. Read next: rules/linalg/sparse.hpp, products with constant matrices of Eigen and equations.
#pragma once

#include <Eigen/SparseCore>
#include <string>
#include <string_view>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/rules/array.hpp>
#include <agrad/rules/arrays/reduce.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

/// The entries of a sparse matrix by compressed rows, as `csr_extract` returns them.
struct csr_entries {
  Eigen::VectorXd w;
  std::vector<int> v, u;
};

/// Returns the entries of a matrix of numbers that are not zero. A matrix with derivatives does not compile, because the
/// entries that are zero would lose theirs.
template <class A>
csr_entries csr_extract(const Eigen::MatrixBase<A>& a) {
  static_assert(std::is_arithmetic_v<typename A::Scalar>,
                "csr_extract: the matrix must be of numbers, because its values decide which entries there are");
  const Eigen::MatrixXd x = a.template cast<double>();
  const Eigen::Index count = (x.array() != 0).count();
  csr_entries found{Eigen::VectorXd(count), {}, {0}};
  found.v.reserve(static_cast<std::size_t>(count));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      if (x(i, j) == 0) continue;
      found.w[static_cast<Eigen::Index>(found.v.size())] = x(i, j);
      found.v.push_back(static_cast<int>(j));
    }
    found.u.push_back(static_cast<int>(found.v.size()));
  }
  return found;
}

/// Returns the stored entries of a sparse matrix of numbers, row by row, zeros among them.
template <class S>
csr_entries csr_extract(const Eigen::SparseMatrixBase<S>& a) {
  Eigen::SparseMatrix<double, Eigen::RowMajor> x(a);
  x.makeCompressed();
  return {Eigen::Map<const Eigen::VectorXd>(x.valuePtr(), x.nonZeros()),
          {x.innerIndexPtr(), x.innerIndexPtr() + x.nonZeros()},
          {x.outerIndexPtr(), x.outerIndexPtr() + x.rows() + 1}};
}

/// Returns the values of `csr_extract`.
template <class A>
Eigen::VectorXd csr_extract_w(const Eigen::EigenBase<A>& a) {
  return csr_extract(a.derived()).w;
}

/// Returns the columns of the values of `csr_extract`.
template <class A>
std::vector<int> csr_extract_v(const Eigen::EigenBase<A>& a) {
  return csr_extract(a.derived()).v;
}

/// Returns the places of the rows' first values of `csr_extract`.
template <class A>
std::vector<int> csr_extract_u(const Eigen::EigenBase<A>& a) {
  return csr_extract(a.derived()).u;
}

namespace detail {

inline void check_compressed_rows(std::string_view function, int m, int n, Eigen::Index values, const std::vector<int>& v,
                                  const std::vector<int>& u) {
  check(function, "m", m, must_be::nonnegative);
  check(function, "n", n, must_be::nonnegative);
  check_size(function, "v", v.size(), static_cast<std::size_t>(values), "the length of w");
  check_size(function, "u", u.size(), static_cast<std::size_t>(m) + 1, "one more than the rows");
  for (std::size_t k = 0; k < v.size(); ++k)
    if (AGRAD_UNLIKELY(v[k] < 0 || v[k] >= n))
      throw DomainError(sentence(function, "v", static_cast<long>(k), v[k], "a column, 0 to " + std::to_string(n - 1),
                                 "columns count from 0"));
  if (AGRAD_UNLIKELY(u.front() != 0 || u.back() != values))
    throw DomainError(sentence(function, "u", -1, "from " + std::to_string(u.front()) + " to " + std::to_string(u.back()),
                               "from 0 to " + std::to_string(values) + ", the number of values"));
  for (std::size_t k = 1; k < u.size(); ++k)
    if (AGRAD_UNLIKELY(u[k] < u[k - 1]))
      throw DomainError(sentence(function, "u", static_cast<long>(k), u[k],
                                 "at least u[" + std::to_string(k - 1) + "] = " + std::to_string(u[k - 1])));
}

}  // namespace detail

/// Returns the product of a sparse matrix and a vector, of the common scalar of w and b.
///
/// m, n: the numbers of rows and columns. w: the values, v: their columns, u: the places of the rows' first values, and their
/// number. b: a vector of n. w and b are vectors of numbers, variables or duals. Throws ShapeError where lengths do not fit,
/// DomainError where a column or a place is out of range. For a constant matrix `sparse_product` is cheaper.
template <class W, class B>
vector_of<promoted_t<W, B>> csr_matrix_times_vector(int m, int n, const Eigen::MatrixBase<W>& w, const std::vector<int>& v,
                                                    const std::vector<int>& u, const Eigen::MatrixBase<B>& b) {
  static_assert(W::IsVectorAtCompileTime && B::IsVectorAtCompileTime, "w and b must be vectors");
  constexpr std::string_view name = "csr_matrix_times_vector";
  detail::check_compressed_rows(name, m, n, w.size(), v, u);
  check_size(name, "b", static_cast<std::size_t>(b.size()), static_cast<std::size_t>(n), "the number of columns");
  const typename W::PlainObject values = w;
  const typename B::PlainObject factors = b;
  vector_of<promoted_t<W, B>> result(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    const int first = u[static_cast<std::size_t>(i)], count = u[static_cast<std::size_t>(i) + 1] - first;
    vector_of<typename W::Scalar> row(count);
    vector_of<typename B::Scalar> met(count);
    for (int k = 0; k < count; ++k) {
      row[k] = values[first + k];
      met[k] = factors[v[static_cast<std::size_t>(first + k)]];
    }
    result[i] = dot(row, met);
  }
  return result;
}

/// Returns a sparse matrix with its zeros, m x n; values at one place are added. Arguments and exceptions are those of
/// `csr_matrix_times_vector`.
template <class W>
matrix_of<typename W::Scalar> csr_to_dense_matrix(int m, int n, const Eigen::MatrixBase<W>& w, const std::vector<int>& v,
                                                  const std::vector<int>& u) {
  static_assert(W::IsVectorAtCompileTime, "w must be a vector");
  detail::check_compressed_rows("csr_to_dense_matrix", m, n, w.size(), v, u);
  using T = typename W::Scalar;
  const typename W::PlainObject values = w;
  matrix_of<T> result = matrix_of<T>::Constant(m, n, T(0.0));
  for (int i = 0; i < m; ++i)
    for (int k = u[static_cast<std::size_t>(i)]; k < u[static_cast<std::size_t>(i) + 1]; ++k)
      result(i, v[static_cast<std::size_t>(k)]) += values[k];
  return result;
}

}  // namespace agrad
