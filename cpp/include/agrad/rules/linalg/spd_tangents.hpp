// Tangents of the Cholesky factorisation and of its adjoint, in place and by halves.
//
// Each formula of the factorisation and of its reverse pass is differentiated separately, so that a direction costs twice as
// much as the formula, and Eigen's products do most of the work. Read first: rules/linalg/spd_kernels.hpp.
#pragma once

#include <agrad/rules/linalg/spd_kernels.hpp>

namespace agrad::linalg {

/// d is the lower triangle of a symmetric matrix's tangent and becomes the tangent of the factor l, column after column.
template <class Factor, class Block>
void propagate_cholesky_columns(const Factor& l, Block& d) {
  const Index n = l.rows();
  for (Index j = 0; j < n; ++j) {
    const Index below = n - 1 - j;
    for (Index k = 0; k < j; ++k)  // subtracts the products of earlier columns, as in the factorisation
      d.col(j).tail(below + 1) -= l(j, k) * d.col(k).tail(below + 1) + d(j, k) * l.col(k).tail(below + 1);
    d(j, j) /= 2 * l(j, j);
    d.col(j).tail(below) = (d.col(j).tail(below) - d(j, j) * l.col(j).tail(below)) / l(j, j);
  }
}

/// Does the same by halves.
template <int = 0>  // instantiated only by users
void propagate_cholesky(const const_block& l, block d) {
  const Index n = l.rows();
  if (n <= small_cholesky) return propagate_cholesky_columns(l, d);
  const Index half = (n / 2 + 7) / 8 * 8, rest = n - half;
  const const_block top = l.topLeftCorner(half, half), corner = l.bottomLeftCorner(rest, half);
  block d_top = d.topLeftCorner(half, half), d_corner = d.bottomLeftCorner(rest, half),
        d_rest = d.bottomRightCorner(rest, rest);
  propagate_cholesky<>(top, d_top);
  d_corner.noalias() -= corner * d_top.triangularView<Eigen::Lower>().transpose();
  top.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(d_corner);
  d_rest.triangularView<Eigen::Lower>() -= d_corner * corner.transpose();
  d_rest.triangularView<Eigen::Lower>() -= corner * d_corner.transpose();
  propagate_cholesky<>(l.bottomRightCorner(rest, rest), d_rest);
}

/// Computes the tangent of the result h of reverse_cholesky: d is the tangent of the factor's adjoint and becomes the tangent
/// of h, where dl is the tangent of l. All matrices are lower triangles.
template <class Factor, class Reversed, class Block>
void propagate_reverse_cholesky_columns(const Factor& l, const Factor& dl, const Reversed& h, Block& d) {
  for (Index j = l.rows() - 1; j >= 0; --j) {
    const Index below = l.rows() - 1 - j;
    const auto column = h.col(j).tail(below);
    const double pivot = h(j, j);
    auto d_column = d.col(j).tail(below);
    d_column = (d_column - dl(j, j) * column) / l(j, j);
    const double sum = d_column.dot(l.col(j).tail(below)) + column.dot(dl.col(j).tail(below)) + pivot * dl(j, j);
    const double d_pivot = d(j, j) = (d(j, j) - sum) / l(j, j);
    for (Index k = 0; k < j; ++k) {
      d(j, k) -= d_column.dot(l.col(k).tail(below)) + column.dot(dl.col(k).tail(below)) + d_pivot * l(j, k) + pivot * dl(j, k);
      d.col(k).tail(below) -= l(j, k) * d_column + dl(j, k) * column;
    }
  }
}

/// Does the same by halves.
template <int = 0>  // instantiated only by users
void propagate_reverse_cholesky(const const_block& l, const const_block& dl, const const_block& h, block d) {
  const Index n = l.rows();
  if (n <= small_cholesky) return propagate_reverse_cholesky_columns(l, dl, h, d);
  const Index half = (n / 2 + 7) / 8 * 8, rest = n - half;
  const const_block top = l.topLeftCorner(half, half), corner = l.bottomLeftCorner(rest, half),
                    d_corner = dl.bottomLeftCorner(rest, half), h_corner = h.bottomLeftCorner(rest, half);
  block to_top = d.topLeftCorner(half, half), to_corner = d.bottomLeftCorner(rest, half),
        to_rest = d.bottomRightCorner(rest, rest);
  propagate_reverse_cholesky<>(l.bottomRightCorner(rest, rest), dl.bottomRightCorner(rest, rest),
                               h.bottomRightCorner(rest, rest), to_rest);
  to_corner.noalias() -= to_rest.selfadjointView<Eigen::Lower>() * corner;
  to_corner.noalias() -= h.bottomRightCorner(rest, rest).selfadjointView<Eigen::Lower>() * d_corner;
  to_corner.noalias() -= h_corner * dl.topLeftCorner(half, half).triangularView<Eigen::Lower>();
  top.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(to_corner);
  to_top.triangularView<Eigen::Lower>() -= to_corner.transpose() * corner;
  to_top.triangularView<Eigen::Lower>() -= h_corner.transpose() * d_corner;
  propagate_reverse_cholesky<>(top, dl.topLeftCorner(half, half), h.topLeftCorner(half, half), to_top);
}

}  // namespace agrad::linalg
