// Kernels for triangular matrices in place: the inverse, and the product with its own transposed.
//
// Eigen has neither: substitution of the columns of the identity costs three times as much. Both kernels halve the matrix until
// it is small, so that Eigen's blocked products and substitutions do most of the work.
#pragma once

#include <agrad/rules/linalg/rule.hpp>

namespace agrad::linalg {

// Below these sizes plain loops are faster (measured with AVX2).
inline constexpr Index small_inverse = 16, small_square = 32;

/// Computes l := l^-1, lower triangle.
template <class Block>
void invert_lower(Block l) {
  const Index n = l.rows();
  if (n <= small_inverse) {
    for (Index j = n - 1; j >= 0; --j) {
      const double inverse = 1 / l(j, j);
      l(j, j) = inverse;
      for (Index k = n - 1; k > j; --k) {  // the column below the diagonal times the inverse of the block below and right
        const double x = -inverse * l(k, j);
        l(k, j) = x * l(k, k);
        for (Index i = k + 1; i < n; ++i) l(i, j) += x * l(i, k);
      }
    }
    return;
  }
  const Index half = n / 2;
  Block top = l.topLeftCorner(half, half), bottom = l.bottomRightCorner(n - half, n - half),
        corner = l.bottomLeftCorner(n - half, half);
  invert_lower<Block>(top);
  invert_lower<Block>(bottom);  // then products, which Eigen computes at 1.5 times the speed of substitutions
  const MatrixXd right = corner * top.template triangularView<Eigen::Lower>();
  corner.noalias() = bottom.template triangularView<Eigen::Lower>() * (-right);
}

/// Computes l := l' l, lower triangle.
template <class Block>
void square_lower(Block l) {
  const Index n = l.rows();
  if (n <= small_square) {
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < n; ++i) l(i, j) = l.col(i).tail(n - i).dot(l.col(j).tail(n - i));
    return;
  }
  const Index half = n / 2;
  Block top = l.topLeftCorner(half, half), bottom = l.bottomRightCorner(n - half, n - half),
        corner = l.bottomLeftCorner(n - half, half);
  square_lower<Block>(top);
  top.template selfadjointView<Eigen::Lower>().rankUpdate(corner.transpose());
  const MatrixXd product = bottom.template triangularView<Eigen::Lower>().transpose() * corner;
  corner = product;
  square_lower<Block>(bottom);
}

}  // namespace agrad::linalg
