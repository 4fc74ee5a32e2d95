// Stan's names of decompositions, of inverses and of solutions from the right.
//
// Each function is one of agrad's under another name: the rules, their derivatives and their errors are those of eigen.hpp,
// qr.hpp, svd.hpp, least_squares.hpp and triangular.hpp, which document the conditions. A function that returns a part of a
// decomposition computes all of it; where several parts are wanted, the function that returns them all is cheaper. Factors of
// `qr_*` and `svd_*` are thin; Stan's full factors (qr_Q, qr_R) are not here.
#pragma once

#include <utility>

#include <agrad/rules/linalg/eigen.hpp>
#include <agrad/rules/linalg/least_squares.hpp>
#include <agrad/rules/linalg/qr.hpp>
#include <agrad/rules/linalg/svd.hpp>
#include <agrad/rules/linalg/triangular.hpp>

namespace agrad {

/// Eigenvalues of a symmetric matrix (n x n), ascending: `symmetric_eigenvalues`, a function of the symmetric part (a + a') / 2,
/// where Stan rejects a matrix that is not symmetric. Throws ShapeError unless a is square, DomainError unless it is finite.
template <class A, class = linalg::if_matrices<A>>
auto eigenvalues_sym(const A& a) {
  return symmetric_eigenvalues(a);
}

/// Eigenvectors of a symmetric matrix as columns, in the order of `eigenvalues_sym`. Their signs are arbitrary, and so is the
/// choice of vectors of equal values: `symmetric_eigen` says which functions of them have derivatives.
template <class A, class = linalg::if_matrices<A>>
auto eigenvectors_sym(const A& a) {
  return symmetric_eigen(a).vectors;
}

/// The results of `eigendecompose_sym`: `vectors` (n x n), `values` (n, ascending), in the order of Stan's tuple, which is not
/// that of `symmetric_eigen`.
template <class Matrix, class Vector>
struct eigendecompose_sym_result {
  Matrix vectors;
  Vector values;
};

/// Eigenvectors and eigenvalues of a symmetric matrix, by one decomposition.
template <class A, class = linalg::if_matrices<A>>
auto eigendecompose_sym(const A& a) {
  auto y = symmetric_eigen(a);
  return eigendecompose_sym_result<decltype(y.vectors), decltype(y.values)>{std::move(y.vectors), std::move(y.values)};
}

/// Thin QR factors `q` (m x k) and `r` (k x n, with a diagonal >= 0) of an m x n matrix, k = min(m, n).
template <class A, class = linalg::if_matrices<A>>
auto qr_thin(const A& a) {
  return qr(a);
}

/// The factor q of `qr_thin`.
template <class A, class = linalg::if_matrices<A>>
auto qr_thin_Q(const A& a) {
  return qr(a).q;
}

/// The factor r of `qr_thin`.
template <class A, class = linalg::if_matrices<A>>
auto qr_thin_R(const A& a) {
  return qr(a).r;
}

/// Left singular vectors (m x k, k = min(m, n)), in the order of the singular values, which is descending. A column of U and
/// the same column of V have one arbitrary sign together.
template <class A, class = linalg::if_matrices<A>>
auto svd_U(const A& a) {
  return svd(a).u;
}

/// Right singular vectors (n x k, k = min(m, n)) as columns.
template <class A, class = linalg::if_matrices<A>>
auto svd_V(const A& a) {
  return svd(a).v;
}

/// The pseudoinverse (n x m) of an m x n matrix of full rank. Throws DomainError where the rank is deficient.
template <class A, class = linalg::if_matrices<A>>
auto generalized_inverse(const A& a) {
  return pseudoinverse(a);
}

/// The solution x of x T = b, where T is the lower triangle of a: b T^-1.
///
/// b: m x n, or a row vector of n, of which the result has the shape; a: n x n, with a diagonal without zeros (else
/// DomainError). The rest of a is not read and has derivative zero. Throws ShapeError where the shapes do not fit.
template <class B, class A, class = linalg::if_matrices<B, A>>
auto mdivide_right_tri_low(const B& b, const A& a) {
  constexpr std::string_view name = "mdivide_right_tri_low";
  linalg::check_square(name, "a", {a.rows(), a.cols()});
  if (AGRAD_UNLIKELY(b.cols() != a.rows()))
    linalg::fail_shape(name, "b", {b.rows(), b.cols()}, "with " + std::to_string(a.rows()) + " columns, as many as a has rows");
  auto turned = linalg::solved_triangular<Eigen::Lower, true>(linalg::lift(a), linalg::transpose(linalg::lift(b)));
  if constexpr (linalg::any_handle<A, B>) {
    return linalg::transpose(turned);
  } else if constexpr (B::RowsAtCompileTime == 1) {
    const auto column = linalg::lower<1, A, B>(std::move(turned));
    return Eigen::Matrix<typename std::decay_t<decltype(column)>::Scalar, 1, Eigen::Dynamic>(column.transpose());
  } else {
    return linalg::lower<A, B>(linalg::transpose(turned));
  }
}

}  // namespace agrad
