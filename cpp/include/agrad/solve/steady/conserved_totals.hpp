// Conserved totals: finds the linear combinations of states that a system never changes.
//
// A vector l with l f(y; p) = 0 for all y is a total that keeps its initial value, such as all of an enzyme, free and bound.
// These vectors are orthogonal to f and its Jacobian at several points: a Jacobian that is singular at one point only conserves
// nothing. A rate of 1e-10 times the other rates, in every direction, counts as zero. Samples prove no total, so each total is
// checked again at the states of a search and dropped if the system changes it there. The parameters p have their values, so l
// may depend on p, as a compartment's volume is a coefficient of the amount in all compartments.
// Read next: solve/steady/moving_totals.hpp, solve/steady/solver.hpp.
#pragma once

#include <Eigen/Core>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

/// Returns a state of the size of y and without a pattern; each number of a point gives another state.
inline Eigen::VectorXd steady_sample(const Eigen::VectorXd& y, int point) {
  // In (0, 1): multiples of the golden ratio, shifted by multiples of its square root between points.
  const auto spread = [](int of, Eigen::Index i) {
    const double x = 0.6180339887498949 * static_cast<double>(i + 1) + 0.7861513777574233 * (of + 1);
    return x - std::floor(x);
  };
  const double largest = y.cwiseAbs().maxCoeff(), size = largest > 0 ? largest : 1;
  Eigen::VectorXd at(y.size());
  for (Eigen::Index i = 0; i < y.size(); ++i) at[i] = y[i] * (1 + 0.5 * spread(point, i)) + 0.5 * size * spread(point + 7, i);
  return at;
}

/// The totals of an autonomous system, each with the redundant equation of the system that the total replaces.
/// A template, so that only its users compile it.
template <class Real>
class conserved_totals {
 public:
  using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

  conserved_totals() = default;
  conserved_totals(ode_system& system, const Eigen::VectorXd& y, double time) : time_(time) {
    const Eigen::Index n = y.size();
    directions_.resize(0, n);
    largest_ = Eigen::VectorXd::Zero(n + 1);
    for (int point = 0; point < 2; ++point) observe(system, steady_sample(y, point));
    observe(system, y);  // last: y may be at rest, where the sizes elsewhere tell rounding errors from rates
    choose_equations(orthogonal(directions_));
  }

  Eigen::Index count() const { return rows_.rows(); }
  const matrix& rows() const { return rows_; }

  /// Returns whether the Jacobian equals J at all observed points, so that the system is linear or seems linear.
  bool is_everywhere(const Eigen::MatrixXd& J) const {
    return is_linear_ && ((J - first_).array().abs() <= 1e-9 * first_.array().abs()).all();
  }
  bool is_linear() const { return is_linear_; }

  /// Returns the Jacobian of the states that remain when each total is solved for the state of its replaced equation.
  Eigen::MatrixXd reduced(const Eigen::MatrixXd& J) const {
    std::vector<Eigen::Index> left;
    for (Eigen::Index i = 0; i < J.rows(); ++i)
      if (std::find(places_.begin(), places_.end(), i) == places_.end()) left.push_back(i);
    const auto size = static_cast<Eigen::Index>(left.size());
    Eigen::MatrixXd R(size, size);
    for (Eigen::Index j = 0; j < size; ++j) {
      Eigen::VectorXd column = J.col(left[static_cast<std::size_t>(j)]);
      for (Eigen::Index k = 0; k < count(); ++k)
        column -=
            static_cast<double>(rows_(k, left[static_cast<std::size_t>(j)])) * J.col(places_[static_cast<std::size_t>(k)]);
      for (Eigen::Index i = 0; i < size; ++i) R(i, j) = column[left[static_cast<std::size_t>(i)]];
    }
    return R;
  }

  /// Observes the system at y as well. Returns whether some total turned out not to be conserved.
  bool revise(ode_system& system, const Eigen::VectorXd& y) {
    if (count() == 0) return false;
    observe(system, y);
    matrix rows = orthogonal(directions_);
    if (rows.rows() == count()) return false;
    choose_equations(std::move(rows));
    return true;
  }

  /// Replaces the redundant equations by the totals of x.
  template <class Vector>
  void write(Eigen::VectorXd& equations, const Vector& x) const {
    for (Eigen::Index k = 0; k < count(); ++k) equations[places_[static_cast<std::size_t>(k)]] = rows_.row(k).dot(x);
  }
  /// Does the same for the derivatives of the equations.
  void write_rows(Eigen::MatrixXd& J) const {
    for (Eigen::Index k = 0; k < count(); ++k) J.row(places_[static_cast<std::size_t>(k)]) = rows_.row(k);
  }
  /// Adds changes of the totals' values to the replaced equations.
  void add(Eigen::VectorXd& equations, const Eigen::VectorXd& changes) const {
    for (Eigen::Index k = 0; k < count(); ++k) equations[places_[static_cast<std::size_t>(k)]] += changes[k];
  }
  /// Removes the adjoints of the totals from `equations`, which become zero, and returns them.
  Eigen::VectorXd extract(Eigen::VectorXd& equations) const {
    Eigen::VectorXd adjoints(count());
    for (Eigen::Index k = 0; k < count(); ++k) {
      double& adjoint = equations[places_[static_cast<std::size_t>(k)]];
      adjoints[k] = adjoint;
      adjoint = 0;
    }
    return adjoints;
  }
  /// Returns the adjoint of x from the adjoints of the totals of x.
  Eigen::VectorXd transposed(const Eigen::VectorXd& adjoints) const { return rows_.transpose() * adjoints; }

 private:
  /// Adds the directions in which the system moves the states at y, except directions that are not finite.
  void observe(ode_system& system, const Eigen::VectorXd& y) {
    const Eigen::Index n = y.size();
    Eigen::MatrixXd all(n, n + 1), J(n, n);
    system.rhs(time_, y.data(), all.col(0).data());
    system.jacobian(time_, y.data(), J);
    if (first_.size() == 0) first_ = J, is_linear_ = J.allFinite();
    is_linear_ = is_everywhere(J);
    all.rightCols(n) = J;
    for (Eigen::Index j = 0; j < all.cols(); ++j) {
      const double length = all.col(j).stableNorm();
      if (!std::isfinite(length) || length == 0) continue;
      largest_[j] = std::max(largest_[j], length);
      // At rest, a direction is a difference of larger numbers, whose rounding errors must not become a direction.
      const double unit = std::max(length, 1e-4 * largest_[j]);
      directions_.conservativeResize(directions_.rows() + 1, n);
      directions_.row(directions_.rows() - 1) = (all.col(j) / unit).transpose();
    }
  }

  /// Returns orthonormal rows that span the orthogonal complement of all directions.
  static matrix orthogonal(const matrix& directions) {
    const Eigen::Index n = directions.cols();
    if (directions.rows() == 0) return matrix::Identity(n, n);
    Eigen::CompleteOrthogonalDecomposition<matrix> factors;
    factors.setThreshold(1e-10);
    factors.compute(directions);
    const Eigen::Index rank = factors.rank();
    if (rank == n) return matrix(0, n);
    matrix basis = factors.matrixZ().transpose();
    basis = factors.colsPermutation() * basis;
    return basis.rightCols(n - rank).transpose();
  }

  /// Combines the rows so that each has a 1 in a column where the other rows have zeros; this column is the index of the
  /// replaced equation. So totals of different parts of a system do not mix, even where their sizes differ.
  void choose_equations(matrix rows) {
    places_.clear();
    for (Eigen::Index k = 0; k < rows.rows(); ++k) {
      Eigen::Index place = 0;
      rows.row(k).cwiseAbs().maxCoeff(&place);
      rows.row(k) /= Real(rows(k, place));
      for (Eigen::Index other = 0; other < rows.rows(); ++other) {
        if (other != k) rows.row(other) -= Real(rows(other, place)) * rows.row(k).eval();
      }
      places_.push_back(place);
    }
    // Rounding errors in place of zeros must not be multiplied by states of another size.
    rows_ = rows.unaryExpr([](Real x) { return std::abs(x) < 1e-13 ? Real(0) : x; });
  }

  double time_ = 0;
  matrix rows_, directions_;
  Eigen::MatrixXd first_;  // Jacobian at the first point
  bool is_linear_ = false;
  Eigen::VectorXd largest_;  // largest length of each direction so far
  std::vector<Eigen::Index> places_;
};

}  // namespace agrad::detail
