// Eigenvalues and eigenvectors of a symmetric matrix, a function of the symmetric part (a + a') / 2.
//
// Two rules share one decomposition: values with vectors, and values alone, whose derivatives do not divide by gaps.
#pragma once

#include <Eigen/Eigenvalues>

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/spectra/equal_values.hpp>
#include <agrad/rules/spectra/spectrum.hpp>

namespace agrad {
namespace linalg {

struct eigen_factors {
  matrix_map values, vectors;
};

template <class Room, class In>
eigen_factors factor_eigen(std::string_view function, Room& room, const In& a) {
  const Index n = a.rows();
  const eigen_factors f{room.matrix(n, 1), room.matrix(n, n)};
  if (is_filled<Room> || n == 0) return f;
  const MatrixXd symmetric = 0.5 * (a + a.transpose());
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(symmetric);
  if (AGRAD_UNLIKELY(solver.info() != Eigen::Success || !std::isfinite(solver.eigenvalues().sum())))
    throw LinAlgError(agrad::detail::sentence(function, "a", -1, "not finite, or the iteration does not converge", "finite"));
  matrix_map(f.values) = solver.eigenvalues();
  matrix_map(f.vectors) = solver.eigenvectors();
  return f;
}

struct symmetric_eigen_rule : rule<1, 2> {
  static constexpr std::string_view name = "symmetric_eigen",
                                    text = "Eigenvalues, ascending, and eigenvectors of a symmetric matrix.",
                                    source = "Giles 2008, section 3.1, with the limits of rules/spectra/spectrum.hpp",
                                    numpy = "eigh";
  static constexpr unsigned transposed_arguments = 1;
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{{a.rows, 1}, a}};
  }
  template <class Room, class In>
  eigen_factors prepare(Room& room, const In& a) const {
    return factor_eigen(name, room, a);
  }
  template <class In, class Out>
  void value(const eigen_factors& f, const In&, Out w, Out v) const {
    w = f.values;
    v = f.vectors;
  }
  template <class In>
  void adjoint(const eigen_factors&, const In& a, const In& w, const In& v, const In* w_bar, const In* v_bar,
               block* a_bar) const {
    add_adjoint(a, w, v, w_bar, v_bar, a_bar, false);
  }
  template <class A, class W, class V, class D>
  auto tangent(wrt<0>, const eigen_factors&, const nothing&, const A&, const W& w, const V& v, const D& da) const {
    const auto inner = product<true>(v, product(symmetric_part(da), v));
    check_resolved(name, primal(inner), primal(w));
    return std::array<D, 2>{diagonal(inner), product(v, entrywise(reciprocal_gaps(w, -1), inner))};
  }
  /// da: a tangent of a; a_bar_tangent: the resulting tangent of a's adjoint. Throws if the result is only rounding errors.
  template <class In>
  void check_second(const In& w, const In& v, const In*, const In* v_bar, const MatrixXd& da, const MatrixXd& a_bar_tangent,
                    bool is_partial) const {
    if (v_bar == nullptr) return;
    const MatrixXd numerators = 0.5 * v.transpose() * (da + da.transpose()) * v;
    check_second_order(name, v.transpose() * *v_bar, numerators, w, a_bar_tangent, is_partial);
  }

 protected:
  template <class In>
  static void add_adjoint(const In& a, const In& w, const In& v, const In* w_bar, const In* v_bar, block* a_bar,
                          bool of_values) {
    Eigen::VectorXd weights = Eigen::VectorXd::Zero(a.rows());
    if (w_bar != nullptr) weights = w_bar->col(0);
    MatrixXd inner = weights.asDiagonal();
    if (v_bar != nullptr) inner = spectral_quotients(name, v.transpose() * *v_bar, w, weights, false, of_values);
    const MatrixXd half = v * inner;
    a_bar->noalias() += half * v.transpose();
  }
};

/// The vectors of which the tangents of the values consist, for calls that return values only.
struct eigen_of_values_rule : symmetric_eigen_rule {
  template <class In>
  void adjoint(const eigen_factors&, const In& a, const In& w, const In& v, const In* w_bar, const In* v_bar,
               block* a_bar) const {
    add_adjoint(a, w, v, w_bar, v_bar, a_bar, true);
  }
};

/// The values alone. For equal values the derivative is the mean of the one-sided derivatives over the chosen vectors, which
/// are turned for second derivatives (rules/spectra/equal_values.hpp).
struct symmetric_eigenvalues_rule : rule<1> {
  static constexpr std::string_view name = "symmetric_eigenvalues", text = "Eigenvalues of a symmetric matrix, ascending.",
                                    source = "Giles 2008, section 3.1", numpy = "eigvalsh";
  static constexpr unsigned transposed_arguments = 1;
  using through = eigen_of_values_rule;
  static constexpr int through_result = 0;
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{{a.rows, 1}}};
  }
  template <class Room, class In>
  eigen_factors prepare(Room& room, const In& a) const {
    const eigen_factors f = factor_eigen(name, room, a);
    if (is_filled<Room> || a.rows() == 0) return f;
    matrix_map v(f.vectors);
    for (const auto& group : equal_groups(f.values)) turn_equal(v, group);
    return f;
  }
  template <class In, class Out>
  void value(const eigen_factors& f, const In&, Out w) const {
    w = f.values;
  }
  template <class In>
  void adjoint(const eigen_factors& f, const In&, const In&, const In* w_bar, block* a_bar) const {
    const MatrixXd half = f.vectors * w_bar->col(0).asDiagonal();
    a_bar->noalias() += half * f.vectors.transpose();
  }
  /// Adds the tangent of a's adjoint from tangents da of a and b of the values' adjoint c.
  template <class In>
  void add_second(const eigen_factors& f, const In&, const MatrixXd& c, const MatrixXd& b, const MatrixXd& da, bool is_partial,
                  block* a_bar_tangent) const {
    second_of(f, c, b, da, is_partial, *a_bar_tangent);
  }

 private:
  template <class Factors, class M, class Block>
  static void second_of(const Factors& f, const M& c, const M& b, const M& da, bool is_partial, Block& to) {
    using V = Eigen::Matrix<typename M::Scalar, Eigen::Dynamic, 1>;
    const M p = 0.5 * f.vectors.transpose() * (da + da.transpose()) * f.vectors;
    const V adjoints = c.col(0), tangents = b.col(0);
    const double largest = f.values.cwiseAbs().maxCoeff();
    const second_of_values<typename M::Scalar> second(adjoints, tangents, p, largest, is_partial);
    M inner = quotients_of_values(name, second, p, f.values).cwiseProduct(p);
    inner.diagonal() = tangents;
    const M half = f.vectors * inner;
    to.noalias() += half * f.vectors.transpose();
  }

 public:
  template <class Full, class A, class W, class D>
  auto tangent(wrt<0>, const eigen_factors&, const Full& full, const A&, const W&, const D& da) const {
    return diagonal(product<true>(full[1], product(symmetric_part(da), full[1])));
  }
};

}  // namespace linalg

/// The results of `symmetric_eigen`: `values` (n, ascending), `vectors` (n x n, orthonormal columns).
template <class Matrix, class Vector>
struct eigen_result {
  Vector values;
  Matrix vectors;
};

/// Eigenvalues and eigenvectors of a symmetric matrix: a = vectors diag(values) vectors'. A function of the symmetric part.
///
/// Vectors are unique only up to their sign, and for equal values not even that: use functions that do not depend on the
/// choice. Derivatives of such functions remain finite for equal values, as far as the derivatives can be computed
/// (rules/spectra/spectrum.hpp); otherwise the reverse pass throws DomainError. Use `symmetric_eigenvalues` if no vectors are
/// needed.
template <class A, class = linalg::if_matrices<A>>
auto symmetric_eigen(const A& a) {
  auto y = linalg::apply(linalg::symmetric_eigen_rule{}, linalg::lift(a));
  return eigen_result<decltype(linalg::lower<A>(y[1])), decltype(linalg::lower<1, A>(y[0]))>{linalg::lower<1, A>(y[0]),
                                                                                             linalg::lower<A>(y[1])};
}

/// Eigenvalues of a symmetric matrix, ascending. Where values are equal, the gradient of a single value is one of many, but
/// symmetric functions of equal values have the right gradient.
template <class A, class = linalg::if_matrices<A>>
auto symmetric_eigenvalues(const A& a) {
  return linalg::lower<1, A>(linalg::apply(linalg::symmetric_eigenvalues_rule{}, linalg::lift(a)));
}

}  // namespace agrad
