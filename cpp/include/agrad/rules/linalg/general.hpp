// General matrices: inverse, determinant, logarithm of its absolute value, solution of linear equations.
//
// All four share one factorisation, P A = L U with partial pivoting. The reverse pass of a solve uses the factors; the inverse
// is computed only if the inverse is the derivative itself.
#pragma once

#include <Eigen/LU>
#include <cmath>
#include <vector>

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/structure.hpp>
#include <agrad/rules/linalg/triangular_kernels.hpp>

namespace agrad {
namespace linalg {

struct lu_factor {
  matrix_map lu;   // unit lower triangle and upper triangle together
  const int* row;  // row i of P A is row row[i] of A

  Index size() const { return lu.rows(); }
  /// Returns the determinant of P: -1 for each cycle of even length.
  double sign() const {
    double result = 1;
    std::vector<char> is_seen(static_cast<std::size_t>(size()), 0);
    for (Index i = 0; i < size(); ++i)
      for (Index k = row[i]; is_seen[static_cast<std::size_t>(k)] == 0; k = row[k]) {
        is_seen[static_cast<std::size_t>(k)] = 1;
        if (k != i) result = -result;
      }
    return result;
  }
  double pivot(Index i) const { return lu(i, i); }

  /// Computes y = A^-1 b.
  template <class In, class Out>
  void solve(const In& b, Out& y) const {
    for (Index j = 0; j < b.cols(); ++j)
      for (Index i = 0; i < size(); ++i) y(i, j) = b(row[i], j);
    lu.template triangularView<Eigen::UnitLower>().solveInPlace(y);
    lu.template triangularView<Eigen::Upper>().solveInPlace(y);
  }
  /// Returns A^-T b.
  template <class In>
  MatrixXd solve_transposed(const In& b) const {
    MatrixXd x = b, y(b.rows(), b.cols());
    lu.template triangularView<Eigen::Upper>().transpose().solveInPlace(x);
    lu.template triangularView<Eigen::UnitLower>().transpose().solveInPlace(x);
    for (Index j = 0; j < b.cols(); ++j)
      for (Index i = 0; i < size(); ++i) y(row[i], j) = x(i, j);
    return y;
  }
  /// A^-T: U^-T is lower triangular, which saves a third of the work of a solve with the identity.
  template <int = 0>  // instantiated only by users
  MatrixXd inverse_transposed() const {
    if (size() == 0) return MatrixXd(0, 0);
    MatrixXd x = MatrixXd::Zero(size(), size()), y(size(), size());
    x.triangularView<Eigen::Lower>() = lu.transpose();
    invert_lower<block>(x);
    lu.triangularView<Eigen::UnitLower>().transpose().solveInPlace(x);
    for (Index j = 0; j < size(); ++j)
      for (Index i = 0; i < size(); ++i) y(row[i], j) = x(i, j);
    return y;
  }
};

template <class Room, class In>
lu_factor factor_lu(Room& room, const In& a) {
  const Index n = a.rows();
  int* row = room.integers(n);
  lu_factor f{room.matrix(n, n), row};
  if (is_filled<Room> || n == 0) return f;
  f.lu = a;
  block place(f.lu);
  const Eigen::PartialPivLU<block> decomposition(place);
  for (Index i = 0; i < n; ++i) row[decomposition.permutationP().indices()[i]] = static_cast<int>(i);
  return f;
}

/// Does the same, but throws DomainError if a pivot is zero.
template <class Room, class In>
lu_factor factor_invertible(std::string_view function, Room& room, const In& a) {
  const lu_factor f = factor_lu(room, a);
  for (Index i = 0; !is_filled<Room> && i < f.size(); ++i)
    if (AGRAD_UNLIKELY(f.pivot(i) == 0)) fail_pivot(function, "singular", "invertible", i, 0);
  return f;
}

struct solve_rule : rule<2> {
  static constexpr std::string_view name = "solve", text = "Solution x of a x = b for an invertible matrix a.",
                                    source = "Giles 2008, section 2.3.1: B += A^-T X, A -= (A^-T X) x'";
  shapes results_of(const shape& a, const shape& b) const {
    check_square(name, "a", a);
    check_rows(name, a, b, a.rows);
    return {{b}};
  }
  template <class Room, class In>
  lu_factor prepare(Room& room, const In& a, const In&) const {
    return factor_invertible(name, room, a);
  }
  template <class In, class Out>
  void value(const lu_factor& lu, const In&, const In& b, Out x) const {
    lu.solve(b, x);
  }
  template <class In>
  void adjoint(const lu_factor& lu, const In&, const In&, const In& x, const In* x_bar, block* a_bar, block* b_bar) const {
    const MatrixXd lambda = lu.solve_transposed(*x_bar);
    add_to(b_bar, lambda);
    if (a_bar != nullptr) a_bar->noalias() -= lambda * x.transpose();
  }
  template <class A, class X>
  auto transposed(const A& a, const X& x_bar) const {
    return linalg::apply(*this, linalg::transpose(a), x_bar);
  }
  template <class A, class B, class X, class D>
  auto tangent(wrt<0>, const lu_factor& lu, const nothing&, const A& a, const B&, const X& x, const D& da) const {
    return times(-1, apply_prepared(*this, lu, a, product(da, x)));
  }
  template <class A, class B, class X, class D>
  auto tangent(wrt<1>, const lu_factor& lu, const nothing&, const A& a, const B&, const X&, const D& db) const {
    return apply_prepared(*this, lu, a, db);
  }
};

struct inverse_rule : rule<1> {
  static constexpr std::string_view name = "inverse", text = "Inverse of a square matrix.",
                                    source = "Giles 2008, section 2.2.3: A -= Y' Ybar Y'", numpy = "inv";
  static constexpr unsigned transposed_arguments = 1, transposed_results = 1;
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{a}};
  }
  template <class Room, class In>
  lu_factor prepare(Room& room, const In& a) const {
    return factor_invertible(name, room, a);
  }
  template <class In, class Out>
  void value(const lu_factor& lu, const In& a, Out y) const {
    lu.solve(MatrixXd::Identity(a.rows(), a.rows()), y);
  }
  template <class In>
  void adjoint(const lu_factor&, const In&, const In& y, const In* y_bar, block* a_bar) const {
    const MatrixXd half = y.transpose() * *y_bar;
    a_bar->noalias() -= half * y.transpose();
  }
  template <class A, class Y, class D>
  auto tangent(wrt<0>, const lu_factor&, const nothing&, const A&, const Y& y, const D& da) const {
    return times(-1, product(y, product(da, y)));
  }
};

/// log |det a|.
struct log_determinant_rule : rule<1> {
  static constexpr std::string_view name = "log_determinant", text = "Logarithm of the absolute value of the determinant.",
                                    source = "Giles 2008, section 2.2.4: A += ybar A^-T";
  static constexpr unsigned transposed_arguments = 1;
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{{1, 1}}};
  }
  template <class Room, class In>
  lu_factor prepare(Room& room, const In& a) const {
    return factor_invertible(name, room, a);
  }
  template <class In, class Out>
  void value(const lu_factor& lu, const In&, Out y) const {
    double sum = 0;
    for (Index i = 0; i < lu.size(); ++i) sum += std::log(std::abs(lu.pivot(i)));
    y(0, 0) = sum;
  }
  template <class In>
  void adjoint(const lu_factor& lu, const In&, const In&, const In* y_bar, block* a_bar) const {
    *a_bar += (*y_bar)(0, 0) * lu.inverse_transposed();
  }
  template <class A, class Y>
  auto linearize(const lu_factor& lu, const A& a, const Y&) const {
    return linalg::transpose(apply_prepared(inverse_rule{}, lu, a));
  }
  template <class T, class A, class Y, class D>
  auto tangent(wrt<0>, const lu_factor&, const T& inverse_transposed, const A&, const Y&, const D& da) const {
    return linalg::dot(inverse_transposed, da);
  }
};

/// The sign of the determinant and the logarithm of its absolute value, (0, -infinity) if the determinant is zero.
struct slogdet_rule : rule<1, 2> {
  static constexpr std::string_view name = "slogdet", text = "Sign of the determinant and logarithm of its absolute value.",
                                    source = "Giles 2008, section 2.2.4: A += ybar A^-T";
  static constexpr unsigned transposed_arguments = 1;
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{{1, 1}, {1, 1}}};
  }
  template <class Room, class In>
  lu_factor prepare(Room& room, const In& a) const {
    return factor_lu(room, a);
  }
  template <class In, class Out>
  void value(const lu_factor& lu, const In&, Out sign, Out y) const {
    double product = lu.sign(), sum = 0;
    for (Index i = 0; i < lu.size(); ++i) {
      const double pivot = lu.pivot(i);
      product *= pivot > 0 ? 1 : pivot < 0 ? -1 : pivot;
      sum += std::log(std::abs(pivot));
    }
    sign(0, 0) = product;
    y(0, 0) = sum;
  }
  template <class In>
  void adjoint(const lu_factor& lu, const In&, const In&, const In&, const In*, const In* y_bar, block* a_bar) const {
    if (y_bar == nullptr) return;
    check_regular(lu);
    *a_bar += (*y_bar)(0, 0) * lu.inverse_transposed();
  }
  template <class A, class S, class Y>
  auto linearize(const lu_factor& lu, const A& a, const S&, const Y&) const {
    check_regular(lu);
    return linalg::transpose(apply_prepared(inverse_rule{}, lu, a));
  }
  template <class T, class A, class S, class Y, class D>
  auto tangent(wrt<0>, const lu_factor&, const T& inverse_transposed, const A&, const S&, const Y&, const D& da) const {
    const auto change = linalg::dot(inverse_transposed, da);
    return std::array<std::decay_t<decltype(change)>, 2>{times(0, change), change};
  }

 private:
  static void check_regular(const lu_factor& lu) {
    for (Index i = 0; i < lu.size(); ++i)
      if (AGRAD_UNLIKELY(lu.pivot(i) == 0)) fail_pivot(name, "singular", "invertible, to have derivatives", i, 0);
  }
};

}  // namespace linalg

/// Returns the inverse of a square matrix (n x n) of numbers, variables or duals. Throws DomainError if the matrix is singular.
/// For linear equations, `solve` is faster and more accurate.
template <class A, class = linalg::if_matrices<A>>
auto inverse(const A& a) {
  return linalg::lower<A>(linalg::apply(linalg::inverse_rule{}, linalg::lift(a)));
}

/// Returns log |det a| of a square matrix, 0 for 0 x 0. Throws DomainError if a is singular. Does not overflow, as
/// `determinant` may; for symmetric positive definite matrices `log_determinant_spd` takes half the time.
template <class A, class = linalg::if_matrices<A>>
auto log_determinant(const A& a) {
  return linalg::lower_scalar(linalg::apply(linalg::log_determinant_rule{}, linalg::lift(a)));
}

/// The results of `slogdet`.
template <class Scalar>
struct slogdet_result {
  Scalar sign, logabsdet;
};

/// Returns the sign of the determinant and logarithm of its absolute value; for a singular matrix 0 and -infinity, without
/// derivatives (the reverse pass throws DomainError).
template <class A, class = linalg::if_matrices<A>>
auto slogdet(const A& a) {
  auto y = linalg::apply(linalg::slogdet_rule{}, linalg::lift(a));
  return slogdet_result<decltype(linalg::lower_scalar(y[0]))>{linalg::lower_scalar(y[0]), linalg::lower_scalar(y[1])};
}

/// Returns x with a x = b: a n x n and invertible (else DomainError), b n x m or a vector. Either may be a constant. The
/// reverse pass uses the same factors; no inverse is computed.
template <class A, class B, class = linalg::if_matrices<A, B>>
auto solve(const A& a, const B& b) {
  return linalg::lower<linalg::lifting<B>::cols, A, B>(linalg::apply(linalg::solve_rule{}, linalg::lift(a), linalg::lift(b)));
}

}  // namespace agrad
