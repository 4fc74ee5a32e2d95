// Range: a basis of the columns of a tall matrix, with which its pseudoinverse is applied, of full or deficient rank.
//
// a = Q R by Householder reflections. Where R may be singular, singular values of at most `cutoff` times the largest one count
// as zero, as in NumPy and LAPACK, and singular vectors take the place of Q and R.
// Read next: rules/spectra/least_squares.hpp, the rules.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include <agrad/rules/linalg/householder.hpp>
#include <agrad/rules/spectra/svd.hpp>

namespace agrad::linalg {

/// Factors of a tall matrix: a = left R of full rank, else a = left diag(s) right' with the reciprocals of s, which are 0 where
/// s counts as zero.
struct range_factors {
  matrix_map left, right, reciprocals;  // `right` is R of full rank
  matrix_map first_dropped;             // the largest value that counts as zero, relative to the smallest that does not; -1
                                        // of full rank

  bool is_full() const { return first_dropped(0, 0) < 0; }

  /// Returns a^+ b.
  template <class In>
  MatrixXd solve(const In& b) const {
    MatrixXd x = left.transpose() * b;
    if (!is_full()) return right * (reciprocals.col(0).asDiagonal() * x);
    right.triangularView<Eigen::Upper>().solveInPlace(x);
    return x;
  }
  /// Returns (a^+)' v.
  template <class In>
  MatrixXd solve_left(const In& v) const {
    if (!is_full()) return left * (reciprocals.col(0).asDiagonal() * (right.transpose() * v));
    MatrixXd x = v;
    right.triangularView<Eigen::Upper>().transpose().solveInPlace(x);
    return left * x;
  }
  /// Returns (a' a)^+ v.
  template <class In>
  MatrixXd solve_gram(const In& v) const {
    if (!is_full()) return right * (reciprocals.col(0).cwiseAbs2().asDiagonal() * (right.transpose() * v));
    MatrixXd x = v;
    right.triangularView<Eigen::Upper>().transpose().solveInPlace(x);
    right.triangularView<Eigen::Upper>().solveInPlace(x);
    return x;
  }
  /// Returns a a^+ v.
  template <class In>
  MatrixXd in_columns(const In& v) const {
    if (is_full()) return left * (left.transpose() * v);
    return left * (kept() * (left.transpose() * v));
  }
  /// Returns v - a^+ a v.
  template <class In>
  MatrixXd outside_rows(const In& v) const {
    if (is_full()) return MatrixXd::Zero(v.rows(), v.cols());
    return v - right * (kept() * (right.transpose() * v));
  }
  /// Throws unless what counts as zero is so small that a formula in which it is zero has its digits.
  void check_dropped(std::string_view function) const {
    const double ratio = first_dropped(0, 0);
    if (AGRAD_UNLIKELY(ratio > recognised_zero))
      throw LinAlgError(agrad::detail::sentence(
          function, "a", -1, "of a rank that the cutoff chooses",
          "of a rank that shows in its singular values, to have derivatives",
          "the first value that counts as zero is " + agrad::detail::to_text(ratio) + " of the one before it"));
  }

 private:
  Eigen::DiagonalMatrix<double, Eigen::Dynamic> kept() const {
    return (reciprocals.col(0).array() != 0).cast<double>().matrix().asDiagonal();
  }
};

/// Returns whether singular values of a matrix with the triangular factor R are all more than `cutoff` times the largest one,
/// by Frobenius norms, which bound the ratio.
template <class R>
bool is_surely_regular(const R& r, double cutoff) {
  MatrixXd inverse = MatrixXd::Identity(r.rows(), r.cols());
  r.template triangularView<Eigen::Upper>().solveInPlace(inverse);
  return r.norm() * inverse.norm() * cutoff < 1;
}

/// Replaces the factors Q and R by singular vectors where singular values count as zero.
template <class Factors>
void find_rank(std::string_view function, const Factors& f, double cutoff) {
  heap_room room;
  const svd_factors svd = factor_svd(function, room, const_block(f.right));
  const Index n = svd.s.rows(), rank = (svd.s.col(0).array() > cutoff * svd.s(0, 0)).count();
  if (rank == n) return;
  const double last = rank == 0 ? 0 : svd.s(rank - 1, 0), dropped = svd.s(rank, 0);
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * static_cast<double>(f.left.rows()) * svd.s(0, 0);
  matrix_map left(f.left), right(f.right), reciprocals(f.reciprocals), first_dropped(f.first_dropped);
  first_dropped(0, 0) = dropped <= rounding ? 0 : dropped / last;
  left = MatrixXd(f.left * svd.u);
  right = svd.v;
  reciprocals.setZero();
  reciprocals.topRows(rank) = svd.s.topRows(rank).cwiseInverse();
}

template <class Room, class In>
range_factors factor_range(std::string_view function, Room& room, const In& a, const In& cutoff) {
  const Index n = a.cols();
  const range_factors f{room.matrix(a.rows(), n), room.matrix(n, n), room.matrix(n, 1), room.matrix(1, 1)};
  if (is_filled<Room>) return f;
  matrix_map left(f.left), right(f.right), reciprocals(f.reciprocals), first_dropped(f.first_dropped);
  first_dropped(0, 0) = -1;
  if (n == 0) return f;
  const scaled_householder<> decomposition(a);
  decomposition.write_q(left);
  right = decomposition.r();
  reciprocals.setZero();
  if (!is_surely_regular(decomposition.scaled_r(), cutoff(0, 0))) find_rank(function, f, cutoff(0, 0));
  return f;
}

}  // namespace agrad::linalg
