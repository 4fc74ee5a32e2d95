// Kernels for symmetric positive definite matrices: the Cholesky factor in place, its adjoint, the inverse from the factor.
//
// All kernels compute functions of the symmetric part (a + a') / 2: the value then depends on both triangles alike, differences
// and derivatives agree entry by entry, and gradients are symmetric. The inverse costs twice the factorisation, as in LAPACK's
// dpotri; substitution of the columns of the identity, as in Eigen, would cost six times as much.
#pragma once

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include <agrad/rules/linalg/apply.hpp>
#include <agrad/rules/linalg/triangular_kernels.hpp>

namespace agrad::linalg {

/// Copies the lower triangle of (a + a') / 2 by panels of columns, so that rows are read while they are in the cache.
template <class In, class Out>
void copy_symmetric_part(const In& a, Out& l) {
  constexpr Index width = 16;
  const Index n = a.rows();
  for (Index from = 0; from < n; from += width) {
    const Index to = std::min(from + width, n);
    for (Index j = from; j < to; ++j)
      for (Index i = j; i < to; ++i) l(i, j) = 0.5 * (a(i, j) + a(j, i));
    for (Index panel = to; panel < n; panel += width) {
      const Index end = std::min(panel + width, n);
      for (Index j = from; j < to; ++j)
        for (Index i = panel; i < end; ++i) l(i, j) = 0.5 * (a(i, j) + a(j, i));
    }
  }
}

/// Finds the first pivot that is not positive, by the textbook's algorithm, after Eigen's algorithm has failed.
template <class In>
AGRAD_COLD void fail_indefinite(std::string_view function, const In& a, std::string_view argument = "a") {
  MatrixXd l(a.rows(), a.rows());
  copy_symmetric_part(a, l);
  for (Index j = 0; j < a.rows(); ++j) {
    const double pivot = l(j, j) - l.row(j).head(j).squaredNorm();
    if (!(pivot > 0 && pivot <= std::numeric_limits<double>::max()))
      fail_pivot(function, "not positive definite", "positive definite", j, pivot, argument);
    l(j, j) = std::sqrt(pivot);
    const Index below = a.rows() - 1 - j;
    l.col(j).tail(below) -= l.block(j + 1, 0, below, j) * l.row(j).head(j).transpose();
    l.col(j).tail(below) /= l(j, j);
  }
  fail_pivot(function, "not positive definite", "positive definite", a.rows() - 1, quiet_nan, argument);
}

/// Returns the Cholesky factor in the lower triangle; the upper triangle is undefined.
template <class Room, class In>
matrix_map factor_spd(std::string_view function, Room& room, const In& a) {
  matrix_map l = room.matrix(a.rows(), a.rows());
  if (is_filled<Room> || a.rows() == 0) return l;
  copy_symmetric_part(a, l);
  block place(l);
  const Eigen::LLT<block> decomposition(place);
  if (AGRAD_UNLIKELY(decomposition.info() != Eigen::Success || !std::isfinite(l.diagonal().sum())))
    fail_indefinite(function, a);
  return l;
}

/// Returns the inverse of a matrix from its Cholesky factor, in the lower triangle.
template <class Factor>
MatrixXd spd_inverse(const Factor& l) {
  MatrixXd y(l.rows(), l.rows());
  y.template triangularView<Eigen::Lower>() = l;
  invert_lower<block>(y);
  square_lower<block>(y);
  return y;
}

/// Computes sum += factor s for a symmetric s given by its lower triangle.
template <class In, class Out>
void add_symmetric(Out& sum, double factor, const In& s) {
  constexpr Index width = 16;
  const Index n = s.rows();
  for (Index from = 0; from < n; from += width) {
    const Index to = std::min(from + width, n);
    for (Index j = from; j < to; ++j) {
      sum(j, j) += factor * s(j, j);
      for (Index i = j + 1; i < to; ++i) {
        sum(i, j) += factor * s(i, j);
        sum(j, i) += factor * s(i, j);
      }
    }
    for (Index panel = to; panel < n; panel += width) {
      const Index end = std::min(panel + width, n);
      for (Index j = from; j < to; ++j)
        for (Index i = panel; i < end; ++i) sum(i, j) += factor * s(i, j);
      for (Index i = panel; i < end; ++i)
        for (Index j = from; j < to; ++j) sum(j, i) += factor * s(i, j);
    }
  }
}

// Below this size plain loops are faster (measured with AVX-512).
inline constexpr Index small_cholesky = 24;

/// Computes the adjoint of the factorisation in place: h is the adjoint of the factor l and becomes twice the adjoint of the
/// symmetric matrix, both in lower triangles. Column after column from the last, as in Murray 2016, section 4.1.
template <class Factor, class Block>
void reverse_cholesky_columns(const Factor& l, Block& h) {
  for (Index j = l.rows() - 1; j >= 0; --j) {
    const Index below = l.rows() - 1 - j;
    auto column = h.col(j).tail(below);
    column /= l(j, j);
    const double pivot = (h(j, j) - column.dot(l.col(j).tail(below))) / l(j, j);
    h(j, j) = pivot;
    for (Index k = 0; k < j; ++k) {
      h(j, k) -= column.dot(l.col(k).tail(below)) + pivot * l(j, k);
      h.col(k).tail(below) -= l(j, k) * column;
    }
  }
}

/// Does the same by halves, a22 = l21 l21' + l22 l22' before a21 = l21 l11', so that Eigen's products do most of the work: the
/// cost is less than twice that of the factorisation.
template <int = 0>  // instantiated only by users
void reverse_cholesky(const const_block& l, block h) {
  const Index n = l.rows();
  if (n <= small_cholesky) return reverse_cholesky_columns(l, h);
  const Index half = (n / 2 + 7) / 8 * 8, rest = n - half;
  const const_block top = l.topLeftCorner(half, half), corner = l.bottomLeftCorner(rest, half);
  block h_top = h.topLeftCorner(half, half), h_corner = h.bottomLeftCorner(rest, half),
        h_rest = h.bottomRightCorner(rest, rest);
  reverse_cholesky<>(l.bottomRightCorner(rest, rest), h_rest);
  h_corner.noalias() -= h_rest.selfadjointView<Eigen::Lower>() * corner;
  top.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(h_corner);
  h_top.triangularView<Eigen::Lower>() -= h_corner.transpose() * corner;
  reverse_cholesky<>(top, h_top);
}

/// Returns l^-T s l^-1 for a triangular l and a symmetric s, given by its lower triangle: propagates a factor's adjoint to the
/// matrix.
template <int Mode, class Factor>
MatrixXd between_inverses(const Factor& l, const MatrixXd& p) {
  MatrixXd s = p.template selfadjointView<Eigen::Lower>();
  l.template triangularView<Mode>().transpose().solveInPlace(s);
  l.template triangularView<Mode>().template solveInPlace<Eigen::OnTheRight>(s);
  return s;
}

}  // namespace agrad::linalg
