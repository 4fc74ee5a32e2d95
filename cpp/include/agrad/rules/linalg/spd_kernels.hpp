// Kernels for symmetric positive definite matrices: the Cholesky factor in place, and the inverse from the factor.
//
// Everything is a function of the symmetric part (a + a') / 2: so the value depends on both triangles alike, differences and
// derivatives agree entry by entry, and gradients are symmetric. The inverse costs twice the factorisation, as in
// LAPACK's dpotri; substituting the columns of the identity, as Eigen does, would cost six times as much.
#pragma once

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include <agrad/rules/linalg/triangular_kernels.hpp>

namespace agrad::linalg {

/// The lower triangle of (a + a') / 2, by panels of columns, so that rows are read while they are in the cache.
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

/// The first pivot that is not positive, found by the textbook's algorithm once Eigen's has failed.
template <class In>
AGRAD_COLD void fail_indefinite(std::string_view function, const In& a) {
  MatrixXd l(a.rows(), a.rows());
  copy_symmetric_part(a, l);
  for (Index j = 0; j < a.rows(); ++j) {
    const double pivot = l(j, j) - l.row(j).head(j).squaredNorm();
    if (!(pivot > 0 && pivot <= std::numeric_limits<double>::max()))
      fail_pivot(function, "not positive definite", "positive definite", j, pivot);
    l(j, j) = std::sqrt(pivot);
    const Index below = a.rows() - 1 - j;
    l.col(j).tail(below) -= l.block(j + 1, 0, below, j) * l.row(j).head(j).transpose();
    l.col(j).tail(below) /= l(j, j);
  }
  fail_pivot(function, "not positive definite", "positive definite", a.rows() - 1, quiet_nan);
}

/// The Cholesky factor in the lower triangle; the upper one is undefined.
template <class Room, class In>
kept_matrix factor_spd(std::string_view function, Room& room, const In& a) {
  kept_matrix l = room.matrix(a.rows(), a.rows());
  if (a.rows() == 0) return l;
  copy_symmetric_part(a, l);
  block place(l);
  const Eigen::LLT<block> decomposition(place);
  if (AGRAD_UNLIKELY(decomposition.info() != Eigen::Success || !std::isfinite(l.diagonal().sum())))
    fail_indefinite(function, a);
  return l;
}

/// The inverse of a matrix from its Cholesky factor, in the lower triangle.
template <class Factor>
MatrixXd spd_inverse(const Factor& l) {
  MatrixXd y(l.rows(), l.rows());
  y.template triangularView<Eigen::Lower>() = l;
  invert_lower<block>(y);
  square_lower<block>(y);
  return y;
}

/// sum += factor s for a symmetric s given by its lower triangle.
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

/// l^-T s l^-1 for a triangular l and a symmetric s, given by its lower triangle: how the adjoint of a factor reaches the matrix.
template <int Mode, class Factor>
MatrixXd between_inverses(const Factor& l, const MatrixXd& p) {
  MatrixXd s = p.template selfadjointView<Eigen::Lower>();
  l.template triangularView<Mode>().transpose().solveInPlace(s);
  l.template triangularView<Mode>().template solveInPlace<Eigen::OnTheRight>(s);
  return s;
}

}  // namespace agrad::linalg
