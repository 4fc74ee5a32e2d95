// General spectrum: the eigendecomposition of a general matrix in doubles, its adjoint, and where derivatives have lost digits.
//
// The matrix is balanced by powers of two (Parlett and Reinsch 1969) and scaled to entries of about 1, which is exact, before
// Eigen decomposes it: a real matrix by the real Schur form, so that complex values are exact conjugates. An eigenvalue's
// condition is k = |row of V^-1| |column of V| of the balanced matrix; its error is about k times the rounding of the largest
// entry, and derivatives have a relative error of k^2 or of k over the gap. As for symmetric matrices, derivatives with fewer
// than seven digits throw DomainError (rules/spectra/spectrum.hpp).
#pragma once

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>

#include <agrad/rules/linalg/cofactors.hpp>
#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/spectra/equal_values.hpp>
#include <agrad/rules/spectra/spectrum.hpp>

namespace agrad::linalg {

using Eigen::MatrixXcd;

/// Returns the complex matrix whose parts lie side by side.
template <class In>
MatrixXcd complex_of(const In& z) {
  const Index n = z.cols() / 2;
  MatrixXcd y(z.rows(), n);
  y.real() = z.leftCols(n);
  y.imag() = z.rightCols(n);
  return y;
}

struct general_eigen_factors {
  matrix_map values, vectors;  // n x 2, n x 2n
  matrix_map scales;           // n x 1, the powers of two that balance the matrix: v = scales * (vector of the balanced matrix)
  matrix_map size;             // 1 x 1, a power of two next to the largest entry of the balanced matrix
  const int* largest;          // of each vector, which entry is real
};

/// Divides rows and multiplies columns by the same powers of two, so that both have similar norms; returns the powers.
template <class Matrix>
Eigen::VectorXd balance(Matrix& a) {
  const Index n = a.rows();
  Eigen::VectorXd scales = Eigen::VectorXd::Ones(n);
  bool is_changed = true;
  for (int sweep = 0; is_changed && sweep < 100; ++sweep) {
    is_changed = false;
    for (Index i = 0; i < n; ++i) {
      double down = a.col(i).stableNorm(), across = a.row(i).stableNorm(), factor = 1;
      if (down == 0 || across == 0) continue;
      const double before = down + across;
      for (; down < across / 2; factor *= 2) down *= 2, across /= 2;
      for (; down >= across * 2; factor /= 2) down /= 2, across *= 2;
      if (down + across >= 0.95 * before) continue;
      scales[i] *= factor;
      a.col(i) *= factor;
      a.row(i) /= factor;
      is_changed = true;
    }
  }
  return scales;
}

/// Makes the norm 1 and the largest entry positive; returns its place, the first one of those that differ by rounding.
template <class Column>
Index normalize_phase(Column v) {
  const double most = v.cwiseAbs().maxCoeff();
  Index k = 0;
  while (std::abs(v[k]) < (1 - 1e-8) * most) ++k;
  const std::complex<double> turn = std::conj(v[k]) / std::abs(v[k]);
  v /= v.stableNorm();
  for (Index i = 0; i < v.size(); ++i) v[i] = i == k ? std::complex<double>(std::abs(v[i]), 0) : v[i] * turn;
  return k;
}

template <class Room, class In>
general_eigen_factors factor_general_eigen(std::string_view function, Room& room, const In& a) {
  const Index n = a.rows();
  int* largest = room.integers(n);
  const general_eigen_factors f{room.matrix(n, 2), room.matrix(n, 2 * n), room.matrix(n, 1), room.matrix(1, 1), largest};
  if (is_filled<Room> || n == 0) return f;
  const auto fail = [&] {
    throw LinAlgError(agrad::detail::sentence(function, "a", -1, "not finite, or the iteration does not converge", "finite"));
  };
  if (AGRAD_UNLIKELY(!a.allFinite())) fail();
  const double halved = a.cwiseAbs().maxCoeff() > 1e300 ? 0x1p-30 : 1;  // so that norms of rows and columns are finite
  double unit = 1;
  Eigen::VectorXcd w;
  MatrixXcd v;
  Eigen::VectorXd scales;
  const auto decompose = [&](auto solver, auto balanced) {
    scales = balance(balanced);
    const double size = balanced.cwiseAbs().maxCoeff();
    const int exponent = size == 0 ? 0 : std::ilogb(size);
    for (Index k = 0; k < balanced.size(); ++k) balanced.data()[k] = of_exponent(balanced.data()[k], -exponent);
    unit = of_exponent(1 / halved, exponent);
    solver.compute(balanced);
    if (AGRAD_UNLIKELY(solver.info() != Eigen::Success)) fail();
    w = solver.eigenvalues();
    v = scales.asDiagonal() * MatrixXcd(solver.eigenvectors());
  };
  if (a.cols() == n || a.rightCols(n).isZero(0))
    decompose(Eigen::EigenSolver<MatrixXd>(), MatrixXd(halved * a.leftCols(n)));
  else
    decompose(Eigen::ComplexEigenSolver<MatrixXcd>(), MatrixXcd(halved * complex_of(a)));
  for (Index j = 0; j < n; ++j) largest[j] = static_cast<int>(normalize_phase(v.col(j)));
  matrix_map(f.values) << unit * w.real(), unit * w.imag();
  matrix_map(f.vectors) << v.real(), v.imag();
  matrix_map(f.scales) = scales;
  matrix_map(f.size)(0, 0) = unit;
  return f;
}

/// Turns the vectors of equal values, for second derivatives of the values (rules/spectra/equal_values.hpp).
template <class Factors>
void turn_equal_vectors(const Factors& f) {
  const Index n = f.values.rows();
  const auto w = complex_of(f.values);
  const double largest = std::max(f.size(0, 0), w.cwiseAbs().maxCoeff());
  const double gap = 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(n) * largest;
  std::decay_t<decltype(w)> v = f.scales.col(0).cwiseInverse().asDiagonal() * complex_of(f.vectors);
  for (const auto& group : equal_groups(n, gap, [&](Index i, Index j) { return std::abs(w(i) - w(j)); })) {
    if (group.size() < 2) continue;
    turn_equal(v, group);
    for (const Index j : group) {
      Eigen::VectorXcd turned = f.scales.col(0).asDiagonal() * v.col(j);
      const_cast<int*>(f.largest)[j] = static_cast<int>(normalize_phase(turned.col(0)));
      matrix_map(f.vectors).col(j) = turned.real();
      matrix_map(f.vectors).col(n + j) = turned.imag();
    }
  }
}

/// What the derivatives divide by, and the errors that it causes.
template <class Factors>  // general_eigen_factors; a template is compiled only where it is used
class general_spectrum {
 public:
  explicit general_spectrum(const Factors& f)
      : f_(f),
        values_(complex_of(f.values)),
        vectors_(complex_of(f.vectors)),
        noise_(4 * std::numeric_limits<double>::epsilon() * static_cast<double>(values_.size())),
        largest_(values_.size() == 0 ? 0 : std::max(f.size(0, 0), values_.cwiseAbs().maxCoeff())) {
    const Index n = values_.size();
    conditions_ = Eigen::VectorXd::Ones(n);
    if (n == 0) return;
    const MatrixXcd balanced = f.scales.col(0).cwiseInverse().asDiagonal() * vectors_;
    const MatrixXcd inverse = balanced.partialPivLu().inverse();
    inverse_ = inverse * f.scales.col(0).cwiseInverse().asDiagonal();
    for (Index j = 0; j < n; ++j) conditions_[j] = inverse.row(j).stableNorm() * balanced.col(j).stableNorm();
  }
  /// Returns the factors (c_j - c_i) / (w_j - w_i) of the second derivatives of values, for i != j where p is not zero.
  template <class Second, class Matrix>
  Matrix quotients(std::string_view function, const Second& second, const Matrix& p) const {
    const Index n = values_.size();
    Matrix k = Matrix::Zero(n, n);
    const auto groups = equal_groups(n, smallest_gap(), [&](Index i, Index j) { return std::abs(gap(i, j)); });
    const auto of = group_of(groups, n);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < j; ++i) {
        if (second.is_zero(p(i, j)) && second.is_zero(p(j, i))) continue;
        const std::size_t group = of[static_cast<std::size_t>(i)];
        const double condition = std::max(conditions_[i], conditions_[j]);
        if (group == of[static_cast<std::size_t>(j)]) {
          if (AGRAD_UNLIKELY(!second.limit(groups[group], k(i, j)))) fail_pair(function, i, j, "are equal");
        } else if (AGRAD_UNLIKELY(!second.quotient(i, j, gap(i, j), condition, k(i, j)))) {
          fail_pair(function, i, j, "are so close that fewer than seven digits of the derivative would be correct");
        }
        k(j, i) = k(i, j);
      }
    return k;
  }
  /// The largest value or entry of the balanced matrix.
  double largest() const { return largest_; }
  double smallest_gap() const { return noise_ * largest_; }
  const MatrixXcd& vectors() const { return vectors_; }
  const MatrixXcd& inverse() const { return inverse_; }
  std::complex<double> gap(Index i, Index j) const { return values_(j) - values_(i); }
  bool is_equal(Index i, Index j) const { return std::abs(gap(i, j)) <= smallest_gap(); }
  /// Returns 1 where a vector's entry is real, else 0.
  MatrixXd at_largest() const {
    MatrixXd y = MatrixXd::Zero(values_.size(), values_.size());
    for (Index j = 0; j < values_.size(); ++j) y(f_.largest[j], j) = 1;
    return y;
  }
  /// Throws if a result depends on vectors of equal values: where numerators are zero, the quotient is 0 / 0.
  template <class Matrix>
  void check_equal(std::string_view function, const Matrix& v_bar) const {
    const double zero = v_bar.size() == 0 ? 0 : recognised_zero * v_bar.cwiseAbs().maxCoeff();
    for (Index j = 0; j < values_.size(); ++j)
      for (Index i = 0; i < j; ++i)
        if (AGRAD_UNLIKELY(is_equal(i, j) && std::max(v_bar.col(i).norm(), v_bar.col(j).norm()) > zero))
          fail_pair(function, i, j, "are equal");
  }
  /// Throws where numerators of quotients by gaps, or of values' derivatives on the diagonal, leave fewer than seven digits.
  void check(std::string_view function, const MatrixXcd& numerators, bool values_only) const {
    const double most = numerators.size() == 0 ? 0 : numerators.cwiseAbs().maxCoeff();
    for (Index j = 0; j < values_.size(); ++j) {
      if (!(noise_ * conditions_[j] * conditions_[j] <= lost_digits) && !(std::abs(numerators(j, j)) == 0))
        fail_defective(function, j);
      for (Index i = 0; !values_only && i < values_.size(); ++i) {
        if (i == j) continue;
        const double size = std::abs(numerators(i, j)), condition = std::max(conditions_[i], conditions_[j]);
        if (is_equal(i, j) && !(size <= recognised_zero * most))
          fail_pair(function, std::min(i, j), std::max(i, j), "are equal");
        if (!is_equal(i, j) && !(noise_ * largest_ * condition <= lost_digits * std::abs(gap(i, j))) &&
            !(size <= 2 * noise_ * most))
          fail_pair(function, std::min(i, j), std::max(i, j),
                    "are so close that fewer than seven digits of the derivative would be correct");
      }
    }
  }

 private:
  [[noreturn]] AGRAD_COLD void fail_pair(std::string_view function, Index i, Index j, const std::string& are) const {
    throw LinAlgError(agrad::detail::sentence(
        function, "a", -1, "degenerate", "with distinct values where vectors are differentiated",
        "values " + std::to_string(i) + " and " + std::to_string(j) + ", " + text(i) + " and " + text(j) + ", " + are));
  }
  [[noreturn]] AGRAD_COLD void fail_defective(std::string_view function, Index j) const {
    throw LinAlgError(agrad::detail::sentence(
        function, "a", -1, "without a basis of eigenvectors, or nearly so", "with such a basis where values are differentiated",
        "value " + std::to_string(j) + ", " + text(j) + ", has the condition number " + agrad::detail::to_text(conditions_[j]) +
            ", and fewer than seven digits of the derivative would be correct"));
  }
  std::string text(Index j) const {
    const std::complex<double> w = values_(j);
    return agrad::detail::to_text(w.real()) + (w.imag() < 0 ? " - " : " + ") + agrad::detail::to_text(std::abs(w.imag())) + "i";
  }

  const Factors& f_;
  MatrixXcd values_, vectors_, inverse_;
  double noise_, largest_;
  Eigen::VectorXd conditions_;
};

/// Adds to a's adjoint V^-* Pbar V*, where Pbar has the values' adjoints on the diagonal and, of vectors' adjoints Vbar that
/// are made orthogonal to changes of norm and phase, the entries (V* Vbar)_ij / conj(w_j - w_i).
template <class In>
void add_general_eigen_adjoint(std::string_view function, const general_eigen_factors& f, bool is_complex, const In* w_bar,
                               const In* v_bar, block& a_bar) {
  const general_spectrum spectrum(f);
  const MatrixXcd& v = spectrum.vectors();
  const Index n = v.rows();
  MatrixXcd p = MatrixXcd::Zero(n, n);
  if (v_bar != nullptr) {
    MatrixXcd g = complex_of(*v_bar);
    for (Index j = 0; j < n; ++j) {
      const std::complex<double> along = g.col(j).dot(v.col(j));
      g.col(j) -= along.real() * v.col(j);
      g(f.largest[j], j) += std::complex<double>(0, along.imag() / v(f.largest[j], j).real());
    }
    p.noalias() = v.adjoint() * g;
    p.diagonal().setZero();
    spectrum.check_equal(function, g);
  }
  if (w_bar != nullptr) p.diagonal() = complex_of(*w_bar).col(0);
  spectrum.check(function, p, v_bar == nullptr);
  for (Index j = 0; v_bar != nullptr && j < n; ++j)
    for (Index i = 0; i < n; ++i)
      if (i != j) p(i, j) = spectrum.is_equal(i, j) ? 0 : p(i, j) / std::conj(spectrum.gap(i, j));
  const MatrixXcd half = p * v.adjoint(), sum = spectrum.inverse().adjoint() * half;
  a_bar.leftCols(n) += sum.real();
  if (is_complex) a_bar.rightCols(n) += sum.imag();
}

/// Adds the tangent of a's adjoint for values alone, from tangents da of a and b of the values' adjoint c.
template <class Factors, class M, class Block>
void add_general_eigen_second(std::string_view function, const Factors& f, const M& c, const M& b, const M& da, bool is_partial,
                              Block& a_bar_tangent) {
  using C = std::complex<typename M::Scalar>;
  using Vector = Eigen::Matrix<C, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<C, Eigen::Dynamic, Eigen::Dynamic>;
  const general_spectrum spectrum(f);
  const Index n = da.rows();
  const Matrix v = spectrum.vectors(), tangent = da.cols() == n ? Matrix(da.template cast<C>()) : Matrix(complex_of(da));
  const Matrix inverse = spectrum.inverse(), p = inverse * tangent * v, across = p.adjoint();
  const Vector adjoints = Matrix(complex_of(c)).col(0).conjugate(), tangents = Matrix(complex_of(b)).col(0).conjugate();
  spectrum.check(function, p, true);
  const second_of_values<C> second(adjoints, tangents, p, spectrum.largest(), is_partial);
  Matrix inner = spectrum.quotients(function, second, p).conjugate().cwiseProduct(across);
  inner.diagonal() = tangents.conjugate();
  const Matrix half = inner * v.adjoint(), sum = inverse.adjoint() * half;
  a_bar_tangent.leftCols(n) += sum.real();
  if (da.cols() != n) a_bar_tangent.rightCols(n) += sum.imag();
}

}  // namespace agrad::linalg
