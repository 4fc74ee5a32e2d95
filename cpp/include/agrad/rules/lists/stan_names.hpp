// Stan's names of decompositions, of inverses and of solutions from the right.
//
// Each function is one of agrad's under another name: the rules, their derivatives and their errors are those of eigen.hpp,
// general_eigen.hpp, qr.hpp, svd.hpp, least_squares.hpp and triangular.hpp, which document the conditions. A function that
// returns a part of a decomposition computes all of it; where several parts are wanted, the function that returns them all is
// cheaper. Factors of `qr_thin_*` and `svd_*` are thin. Complex results are `complex_parts` (rules/fourier/complex.hpp).
#pragma once

#include <utility>

#include <agrad/rules/fourier/complex.hpp>
#include <agrad/rules/linalg/qr.hpp>
#include <agrad/rules/linalg/triangular.hpp>
#include <agrad/rules/spectra/eigen.hpp>
#include <agrad/rules/spectra/general_eigen.hpp>
#include <agrad/rules/spectra/least_squares.hpp>
#include <agrad/rules/spectra/svd.hpp>

namespace agrad {

/// Eigenvalues of a symmetric matrix (n x n), ascending: `symmetric_eigenvalues`, a function of the symmetric part (a + a') /
/// 2, where Stan rejects a matrix that is not symmetric. Throws ShapeError unless a is square, DomainError unless it is finite.
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

namespace linalg {
/// A real or complex matrix as the argument of the rules of general_eigen.hpp.
template <class A, class = if_matrices<A>>
decltype(auto) lift_complex(const A& a) {
  return lift(a);
}
template <class A, class = if_matrices<A>>
auto lift_complex(const complex_parts<A>& a) {
  check_same("eigendecompose", {a.real.rows(), a.real.cols()}, {a.imag.rows(), a.imag.cols()});
  return beside(lift(a.real), lift(a.imag));
}
template <class A>
struct parts_of {
  using type = A;
};
template <class A>
struct parts_of<complex_parts<A>> {
  using type = A;
};
/// Returns the halves of a result of these rules, as real and imaginary parts for users.
template <class A, int Cols, class Z>
auto lower_complex(const Z& z) {
  using part = typename parts_of<A>::type;
  using lowered = decltype(lower<Cols, part>(real_half(z)));
  return complex_parts<lowered>{lower<Cols, part>(real_half(z)), lower<Cols, part>(imaginary_half(z))};
}
template <class A>
using if_complex_matrix = if_matrices<typename parts_of<A>::type>;
}  // namespace linalg

/// Eigenvalues (n, complex) of a general matrix (n x n, real or `complex_parts`), in no order; those of a real matrix that are
/// not real are neighbours of their conjugates. Throws ShapeError unless a is square, DomainError unless it is finite; the
/// reverse pass and tangents throw DomainError where a value's derivative has fewer than seven digits, as where a has no basis
/// of eigenvectors.
template <class A, class = linalg::if_complex_matrix<A>>
auto eigenvalues(const A& a) {
  return linalg::lower_complex<A, 1>(linalg::apply(linalg::general_eigenvalues_rule{}, linalg::lift_complex(a)));
}

/// The results of `eigendecompose`: `vectors` (n x n), `values` (n), both complex, in the order of Stan's tuple.
template <class Matrix, class Vector>
struct eigendecompose_result {
  complex_parts<Matrix> vectors;
  complex_parts<Vector> values;
};

/// Returns the eigenvectors, as columns, and eigenvalues of a general matrix, by one decomposition: a vectors = vectors
/// diag(values).
///
/// Vectors have norm 1 and a largest entry that is real and positive, and derivatives keep both. Other programs choose other
/// phases, so use functions that do not depend on the phase. Derivatives of vectors throw DomainError where values are equal or
/// so close that fewer than seven digits would be correct.
template <class A, class = linalg::if_complex_matrix<A>>
auto eigendecompose(const A& a) {
  auto y = linalg::apply(linalg::general_eigen_rule{}, linalg::lift_complex(a));
  auto vectors = linalg::lower_complex<A, Eigen::Dynamic>(y[1]);
  auto values = linalg::lower_complex<A, 1>(y[0]);
  return eigendecompose_result<decltype(vectors.real), decltype(values.real)>{std::move(vectors), std::move(values)};
}

/// Returns the vectors of `eigendecompose`.
template <class A, class = linalg::if_complex_matrix<A>>
auto eigenvectors(const A& a) {
  return eigendecompose(a).vectors;
}

/// Returns the factor Q (m x m, orthogonal) of an m x n matrix. For m > n its last m - n columns complete a basis, in one of
/// many ways: they have no derivatives, and the reverse pass throws DomainError if it reaches them, a tangent always.
template <class A, class = linalg::if_matrices<A>>
auto qr_Q(const A& a) {
  const auto x = linalg::lift(a);
  const auto q = linalg::qr_factors(x)[0];
  if (a.rows() <= a.cols()) return linalg::lower<A>(q);
  return linalg::lower<A>(linalg::beside(q, linalg::apply(linalg::completion_rule{}, x)));
}

/// Returns the factor R (m x n, upper triangular with a diagonal >= 0) of an m x n matrix, a = Q R. For m > n its last m - n
/// rows are zero.
template <class A, class = linalg::if_matrices<A>>
auto qr_R(const A& a) {
  const auto r = linalg::qr_factors(linalg::lift(a))[1];
  if (a.rows() <= a.cols()) return linalg::lower<A>(r);
  const linalg::MatrixXd zeros = linalg::MatrixXd::Zero(a.cols(), a.rows() - a.cols());
  return linalg::lower<A>(linalg::transpose(linalg::beside(linalg::transpose(r), zeros)));
}

/// Returns the thin QR factors `q` (m x k) and `r` (k x n, with a diagonal >= 0) of an m x n matrix, k = min(m, n).
template <class A, class = linalg::if_matrices<A>>
auto qr_thin(const A& a) {
  return qr(a);
}

/// Returns the factor q of `qr_thin`.
template <class A, class = linalg::if_matrices<A>>
auto qr_thin_Q(const A& a) {
  return qr(a).q;
}

/// Returns the factor r of `qr_thin`.
template <class A, class = linalg::if_matrices<A>>
auto qr_thin_R(const A& a) {
  return qr(a).r;
}

/// Returns the left singular vectors (m x k, k = min(m, n)), in the order of the singular values, which is descending. A column
/// of U and the same column of V have one arbitrary sign together.
template <class A, class = linalg::if_matrices<A>>
auto svd_U(const A& a) {
  return svd(a).u;
}

/// Returns the right singular vectors (n x k, k = min(m, n)) as columns.
template <class A, class = linalg::if_matrices<A>>
auto svd_V(const A& a) {
  return svd(a).v;
}

/// Returns the pseudoinverse (n x m) of an m x n matrix; of deficient rank with the derivative among matrices of this rank.
template <class A, class = linalg::if_matrices<A>>
auto generalized_inverse(const A& a) {
  return pseudoinverse(a);
}

/// Returns the solution x of x T = b, where T is the lower triangle of a: b T^-1.
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
