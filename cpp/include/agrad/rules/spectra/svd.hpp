// Singular values and vectors in thin form, by one-sided Jacobi rotations: accurate also for small singular values.
//
// In the basis of the singular vectors the derivative is a symmetric matrix divided by the gaps s_j - s_i, as for eigenvectors,
// and an antisymmetric matrix divided by the sums s_j + s_i.
#pragma once

#include <Eigen/SVD>
#include <algorithm>

#include <agrad/rules/linalg/householder.hpp>
#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/spectra/equal_values.hpp>
#include <agrad/rules/spectra/spectrum.hpp>

namespace agrad {
namespace linalg {

struct svd_factors {
  matrix_map u, s, v;
};

template <class Room, class In>
svd_factors factor_svd(std::string_view function, Room& room, const In& a) {
  const Index k = std::min(a.rows(), a.cols());
  const svd_factors f{room.matrix(a.rows(), k), room.matrix(k, 1), room.matrix(a.cols(), k)};
  if (is_filled<Room> || k == 0) return f;
  if (AGRAD_UNLIKELY(!a.allFinite())) throw LinAlgError(agrad::detail::sentence(function, "a", -1, "not finite", "finite"));
  const Eigen::JacobiSVD<MatrixXd> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  matrix_map(f.u) = svd.matrixU();
  matrix_map(f.s) = svd.singularValues();
  matrix_map(f.v) = svd.matrixV();
  return f;
}

struct svd_rule : rule<1, 3> {
  static constexpr std::string_view name = "svd", text = "Thin U, singular values s, descending, and V with U diag(s) V' = a.",
                                    source = "Townsend 2016, with the limits of rules/spectra/spectrum.hpp";
  shapes results_of(const shape& a) const {
    const Index k = std::min(a.rows, a.cols);
    return {{{a.rows, k}, {k, 1}, {a.cols, k}}};
  }
  template <class Room, class In>
  svd_factors prepare(Room& room, const In& a) const {
    return factor_svd(name, room, a);
  }
  template <class In, class Out>
  void value(const svd_factors& f, const In&, Out u, Out s, Out v) const {
    u = f.u;
    s = f.s;
    v = f.v;
  }
  template <class In>
  void adjoint(const svd_factors&, const In& a, const In& u, const In& s, const In& v, const In* u_bar, const In* s_bar,
               const In* v_bar, block* a_bar) const {
    add_adjoint(a, u, s, v, u_bar, s_bar, v_bar, a_bar, false);
  }
  template <class A, class U, class S, class V, class D>
  auto tangent(wrt<0>, const svd_factors&, const nothing&, const A& a, const U& u, const S& s, const V& v, const D& da) const {
    const auto inner = product<true>(u, product(da, v));
    const auto even = symmetric_part(inner), odd = linalg::apply(symmetric_part_rule(-1), inner);
    check_resolved(name, primal(even), primal(s), true);
    check_sums(primal(odd), primal(inner), primal(s));
    const auto over_gap = entrywise(reciprocal_gaps(s, -1), even), over_sum = entrywise(reciprocal_gaps(s, 1), odd);
    D du = product(u, plus(over_gap, over_sum)), dv = product(v, minus(over_gap, over_sum));
    const double smallest = s.rows() == 0 ? 1 : primal(s)(s.rows() - 1, 0);
    if (a.rows() != a.cols() && AGRAD_UNLIKELY(smallest <= smallest_gap(primal(s)))) fail_zero(s.rows() - 1, smallest);
    const auto inverse = linalg::apply(reciprocal_rule(0), s);
    if (a.rows() > a.cols()) du = plus(du, scaled_columns(minus(product(da, v), product(u, inner)), inverse));
    if (a.rows() < a.cols())
      dv = plus(dv, scaled_columns(minus(product<true>(da, u), product<false, true>(v, inner)), inverse));
    return std::array<D, 3>{du, diagonal(inner), dv};
  }
  [[noreturn]] AGRAD_COLD static void fail_zero(Index j, double value) {
    throw LinAlgError(agrad::detail::sentence(name, "a", -1, "of deficient rank",
                                              "of full rank where singular vectors are differentiated",
                                              "singular value " + std::to_string(j) + " is " + agrad::detail::to_text(value)));
  }
  /// Does the same as the function of `symmetric_eigen_rule`; quotients by sums and values are large near zero.
  template <class In>
  void check_second(const In& u, const In& s, const In& v, const In* u_bar, const In*, const In* v_bar, const MatrixXd& da,
                    const MatrixXd& a_bar_tangent, bool is_partial) const {
    const Index k = s.rows();
    MatrixXd of_u = MatrixXd::Zero(k, k), of_v = of_u;
    if (u_bar != nullptr) of_u.noalias() = u.transpose() * *u_bar;
    if (v_bar != nullptr) of_v.noalias() = v.transpose() * *v_bar;
    if (u_bar == nullptr && v_bar == nullptr) return;
    const MatrixXd p = u.transpose() * da * v, size = p.cwiseAbs() + p.cwiseAbs().transpose();
    check_second_order(name, of_u + of_v, size, s, a_bar_tangent, is_partial);
    check_second_order(name, of_u - of_v, size, s, a_bar_tangent, is_partial, 1);
  }

 protected:
  template <class In>
  static void add_adjoint(const In& a, const In& u, const In& s, const In& v, const In* u_bar, const In* s_bar, const In* v_bar,
                          block* a_bar, bool of_values) {
    const Index k = s.rows();
    Eigen::VectorXd weights = Eigen::VectorXd::Zero(k);
    if (s_bar != nullptr) weights = s_bar->col(0);
    MatrixXd of_u = MatrixXd::Zero(k, k), of_v = of_u, inner = weights.asDiagonal();
    if (u_bar != nullptr) of_u.noalias() = u.transpose() * *u_bar;
    if (v_bar != nullptr) of_v.noalias() = v.transpose() * *v_bar;
    if (u_bar != nullptr || v_bar != nullptr) {
      check_zeros(a.rows() != a.cols(), s, weights);
      inner = spectral_quotients(name, of_u + of_v, s, weights, true, of_values) + over_sums(of_u - of_v, s);
    }
    const MatrixXd half = u * inner;
    a_bar->noalias() += half * v.transpose();
    if (u_bar != nullptr && a.rows() > k) {
      const MatrixXd rest = *u_bar - u * of_u;
      a_bar->noalias() += over_values(rest, s) * v.transpose();
    }
    if (v_bar != nullptr && a.cols() > k) {
      const MatrixXd rest = *v_bar - v * of_v;
      a_bar->noalias() += u * over_values(rest, s).transpose();
    }
  }

 private:
  /// Throws where the adjoint of vectors is undefined: the adjoint of vectors whose singular values are zero is 0 / 0 where
  /// several of them can be chosen, unless the values have no adjoints either.
  template <class In>
  static void check_zeros(bool is_rectangular, const In& s, const Eigen::VectorXd& s_bar) {
    const double smallest = smallest_gap(s);
    const Index zeros = (s.col(0).array() <= smallest).count();
    if (zeros < (is_rectangular ? 1 : 2)) return;
    const double most = s_bar.tail(zeros).cwiseAbs().maxCoeff();
    if (AGRAD_UNLIKELY(most > recognised_zero * s_bar.cwiseAbs().maxCoeff())) fail_zero(s.rows() - 1, s(s.rows() - 1, 0));
  }
  /// Throws if a quotient by the sum of two zeros is not zero.
  template <class In>
  static void check_sums(const In& odd, const In& inner, const In& s) {
    const double smallest = smallest_gap(s), zero = inner.size() == 0 ? 0 : recognised_zero * inner.cwiseAbs().maxCoeff();
    for (Index j = 0; j < s.rows(); ++j)
      for (Index i = 0; i < j; ++i)
        if (AGRAD_UNLIKELY(s(i, 0) + s(j, 0) <= smallest && std::abs(odd(i, j)) > zero)) fail_zero(j, s(j, 0));
  }
  /// Returns (x - x') / 2 divided by the sums of two singular values.
  template <class In>
  static MatrixXd over_sums(const MatrixXd& x, const In& s) {
    MatrixXd y = MatrixXd::Zero(x.rows(), x.cols());
    const double most = x.cwiseAbs().maxCoeff(), zero = recognised_zero * most, smallest = smallest_gap(s);
    const spectral_scale scale(s);
    for (Index j = 0; j < x.cols(); ++j) {
      for (Index i = 0; i < j; ++i) {
        const double difference = x(i, j) - x(j, i), sum = s(i, 0) + s(j, 0);
        if (sum <= smallest) {
          if (AGRAD_UNLIKELY(std::abs(difference) > zero)) fail_zero(j, s(j, 0));
          continue;
        }
        y(i, j) = 0.5 * difference / sum;
        const double error = scale.noise * (x.col(i).norm() + x.col(j).norm()) / sum;
        if (AGRAD_UNLIKELY(error > lost_digits * std::max(std::abs(y(i, j)), most / scale.largest) && difference != 0))
          fail_close(name, i, j, s(i, 0), s(j, 0));
        y(j, i) = -y(i, j);
      }
    }
    return y;
  }
  /// Returns columns divided by singular values.
  template <class In>
  static MatrixXd over_values(MatrixXd x, const In& s) {
    const double zero = recognised_zero * x.cwiseAbs().maxCoeff();
    for (Index j = 0; j < x.cols(); ++j) {
      if (AGRAD_UNLIKELY(s(j, 0) <= smallest_gap(s))) {
        if (x.col(j).cwiseAbs().maxCoeff() > zero) fail_zero(j, s(j, 0));
        x.col(j).setZero();
      } else {
        x.col(j) /= s(j, 0);
      }
    }
    return x;
  }
};

/// The vectors of which the tangents of the values consist, for calls that return values only.
struct svd_of_values_rule : svd_rule {
  template <class In>
  void adjoint(const svd_factors&, const In& a, const In& u, const In& s, const In& v, const In* u_bar, const In* s_bar,
               const In* v_bar, block* a_bar) const {
    add_adjoint(a, u, s, v, u_bar, s_bar, v_bar, a_bar, true);
  }
};

struct singular_values_rule : rule<1> {
  static constexpr std::string_view name = "singular_values", text = "Singular values of a matrix, descending.",
                                    source = "Giles 2008, section 3.2", numpy = "svd";
  using through = svd_of_values_rule;
  static constexpr int through_result = 1;
  shapes results_of(const shape& a) const { return {{{std::min(a.rows, a.cols), 1}}}; }
  template <class Room, class In>
  svd_factors prepare(Room& room, const In& a) const {
    const svd_factors f = factor_svd(name, room, a);
    if (is_filled<Room> || f.s.size() == 0) return f;
    turn(f, matrix_map(f.u), matrix_map(f.v));
    return f;
  }
  template <class In, class Out>
  void value(const svd_factors& f, const In&, Out s) const {
    s = f.s;
  }
  template <class In>
  void adjoint(const svd_factors& f, const In&, const In&, const In* s_bar, block* a_bar) const {
    const MatrixXd half = f.u * s_bar->col(0).asDiagonal();
    a_bar->noalias() += half * f.v.transpose();
  }
  /// Adds the tangent of a's adjoint from tangents da of a and b of the values' adjoint c: symmetric parts are multiplied by
  /// (c_j - c_i) / (s_j - s_i), antisymmetric parts by (c_j + c_i) / (s_j + s_i), and what is outside of U or V by c_j / s_j.
  /// A function that has derivatives where s is 0 is even there, so that c_j / s_j has a limit, the slope of b over diag(P).
  template <class In>
  void add_second(const svd_factors& f, const In& a, const MatrixXd& c, const MatrixXd& b, const MatrixXd& da, bool is_partial,
                  block* a_bar_tangent) const {
    second_of(f, a, c, b, da, is_partial, *a_bar_tangent);
  }

 private:
  template <class Factors, class In, class M, class Block>
  static void second_of(const Factors& f, const In& a, const M& c, const M& b, const M& da, bool is_partial, Block& to) {
    using V = Eigen::Matrix<typename M::Scalar, Eigen::Dynamic, 1>;
    const Index k = f.s.rows();
    const M p = f.u.transpose() * da * f.v;
    const V adjoints = c.col(0), tangents = b.col(0);
    const Index zeros = (f.s.col(0).array() <= smallest_gap(f.s)).count(), rank = k - zeros;
    const M rest_u = da * f.v - f.u * p, rest_v = da.transpose() * f.u - f.v * p.transpose();
    V ratios = V::Zero(k);  // c_j / s_j
    for (Index j = 0; j < rank; ++j) ratios[j] = adjoints[j] / f.s(j, 0);
    const double size = da.cwiseAbs().maxCoeff(), zero = recognised_zero * size;
    double outside = 0;  // the largest entry that is multiplied by the limit
    for (Index j = rank; j < k; ++j) {
      if (a.rows() > k) outside = std::max(outside, rest_u.col(j).cwiseAbs().maxCoeff());
      if (a.cols() > k) outside = std::max(outside, rest_v.col(j).cwiseAbs().maxCoeff());
      for (Index i = rank; i < k; ++i)
        if (i != j) outside = std::max(outside, std::abs(p(i, j)));
    }
    if (outside > zero) ratios.tail(zeros).setConstant(limit_at_zero(f, adjoints, tangents, p, size, is_partial));
    const M even = 0.5 * (p + p.transpose()), odd = p - even;
    M of_pairs = even;  // the antisymmetric part and pairs of zeros do not need a limit of the differences
    of_pairs.bottomRightCorner(zeros, zeros).setZero();
    const double largest = f.s.size() == 0 ? 0 : f.s.maxCoeff();
    const second_of_values<typename M::Scalar> second(adjoints, tangents, p, largest, is_partial);
    M inner = quotients_of_values(name, second, of_pairs, f.s).cwiseProduct(of_pairs);
    for (Index j = 0; j < k; ++j)
      for (Index i = 0; i < k; ++i) {
        if (i >= rank && j >= rank)
          inner(i, j) += ratios[j] * p(i, j);
        else if (i != j)
          inner(i, j) += odd(i, j) * (adjoints[i] + adjoints[j]) / (f.s(i, 0) + f.s(j, 0));
      }
    inner.diagonal() = tangents;
    const M half = f.u * inner;
    to.noalias() += half * f.v.transpose();
    if (a.rows() > k) to += rest_u * ratios.asDiagonal() * f.v.transpose();
    if (a.cols() > k) to += f.u * ratios.asDiagonal() * rest_v.transpose();
  }
  /// Turns the vectors of equal values.
  template <class Factors, class Vectors>
  static void turn(const Factors& f, Vectors u, Vectors v) {
    const Index zeros = (f.s.col(0).array() <= smallest_gap(f.s)).count();
    if (zeros > 0 && u.rows() > u.cols()) complete(u, zeros);
    if (zeros > 0 && v.rows() > v.cols()) complete(v, zeros);
    for (const auto& group : equal_groups(f.s)) {
      turn_equal(u, group);
      turn_equal(v, group, f.s(group[0], 0) <= smallest_gap(f.s) ? 0.57 : 0.43);  // where s is 0, u and v are independent
    }
  }
  /// Replaces the last columns, where s is 0, by a mixture of all vectors that are orthogonal to the others.
  template <class Vectors>
  static void complete(Vectors& u, Index zeros) {
    const Index rank = u.cols() - zeros, n = u.rows() - rank;
    MatrixXd basis = MatrixXd::Identity(u.rows(), u.rows());
    if (rank > 0) scaled_householder<>(MatrixXd(u.leftCols(rank))).write_q(basis);
    MatrixXd others = basis.rightCols(n);
    std::vector<Index> all(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
    turn_equal(others, all);
    u.rightCols(zeros) = others.leftCols(zeros);
  }
  /// Returns the limit of c_j / s_j for the values that are zero.
  template <class Factors>
  static double limit_at_zero(const Factors& f, const Eigen::VectorXd& c, const Eigen::VectorXd& b, const MatrixXd& p,
                              double size, bool is_partial) {
    const Index k = f.s.rows();
    double product = 0, squares = 0, b_size = 0;
    Index rank = k;
    while (rank > 0 && f.s(rank - 1, 0) <= smallest_gap(f.s)) {
      --rank;
      product += p(rank, rank) * b[rank];
      squares += p(rank, rank) * p(rank, rank);
      b_size = std::max(b_size, std::abs(b[rank]));
    }
    const double limit = product / squares, most = c.cwiseAbs().maxCoeff();
    const double slight = 1e-14 * (b.cwiseAbs().maxCoeff() + (most > 0 ? most / f.s.maxCoeff() * size : 0));
    bool is_known = !is_partial && std::sqrt(squares) > 1e-5 * size;
    for (Index j = rank; j < k && is_known; ++j)
      is_known = std::abs(b[j] - limit * p(j, j)) <= lost_digits * (b_size + std::abs(limit) * size) + slight &&
                 std::abs(c[j]) <= recognised_zero * (most + std::abs(limit) * f.s.maxCoeff());
    if (AGRAD_UNLIKELY(!is_known)) svd_rule::fail_zero(k - 1, f.s(k - 1, 0));
    return limit;
  }

 public:
  template <class Vectors, class A, class S, class D>
  auto tangent(wrt<0>, const svd_factors&, const Vectors& usv, const A&, const S&, const D& da) const {
    return diagonal(product<true>(usv[0], product(da, usv[2])));
  }
};

}  // namespace linalg

/// The results of `svd`: `u` (m x k), `s` (k, descending), `v` (n x k), k = min(m, n).
template <class Matrix, class Vector>
struct svd_result {
  Matrix u;
  Vector s;
  Matrix v;
};

/// Returns the thin singular value decomposition of an m x n matrix: a = u diag(s) v'. The vectors are subject to the same
/// conditions as those of `symmetric_eigen`; a rectangular matrix must be of full rank if its vectors are differentiated (else
/// DomainError).
template <class A, class = linalg::if_matrices<A>>
auto svd(const A& a) {
  auto y = linalg::apply(linalg::svd_rule{}, linalg::lift(a));
  return svd_result<decltype(linalg::lower<A>(y[0])), decltype(linalg::lower<1, A>(y[1]))>{
      linalg::lower<A>(y[0]), linalg::lower<1, A>(y[1]), linalg::lower<A>(y[2])};
}

/// Returns the singular values of a matrix, descending. Their derivatives do not divide by gaps.
template <class A, class = linalg::if_matrices<A>>
auto singular_values(const A& a) {
  return linalg::lower<1, A>(linalg::apply(linalg::singular_values_rule{}, linalg::lift(a)));
}

}  // namespace agrad
