// Conserved totals: the linear combinations of states that a system never changes.
//
// A row l with l f(y; p) = 0 for all y and p is a total that stays what it was at the start, such as all of an enzyme, free
// and bound. Such rows are found as what is orthogonal to f, its Jacobian and its derivatives with respect to p at several
// points: a Jacobian that happens to be singular at one point conserves nothing. What moves a state 1e-10 times as fast as the
// rest does, in every direction, is taken for rest. No sample proves a total: what seems one is held against the states that
// a search comes to, and is none if the system changes it there.
// Read next: solve/steady/solver.hpp.
#pragma once

#include <Eigen/Core>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

/// The totals of an autonomous system, each with an equation of the system that follows from the others and makes way for it.
/// A template, so that only its users compile it.
template <class Real>
class conserved_totals {
 public:
  using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

  conserved_totals() = default;
  conserved_totals(ode_system& system, const Eigen::VectorXd& y, double time) : time_(time) {
    const Eigen::Index n = y.size();
    const double largest = y.cwiseAbs().maxCoeff(), size = largest > 0 ? largest : 1;
    directions_.resize(0, n);
    largest_ = Eigen::VectorXd::Zero(n + 1 + system.parameters());
    Eigen::VectorXd at(n);
    for (int point = 0; point < 2; ++point) {
      for (Eigen::Index i = 0; i < n; ++i) at[i] = y[i] * (1 + 0.5 * spread(point, i)) + 0.5 * size * spread(point + 7, i);
      observe(system, at);
    }
    observe(system, y);  // last: it may be at rest, and what is rounding there is known by what it is elsewhere
    choose_equations(orthogonal(directions_));
  }

  Eigen::Index count() const { return rows_.rows(); }

  /// Whether the Jacobian was that one wherever the system was looked at: the system is linear, or seems so.
  bool is_everywhere(const Eigen::MatrixXd& J) const {
    return is_linear_ && ((J - first_).array().abs() <= 1e-9 * first_.array().abs()).all();
  }
  bool is_linear() const { return is_linear_; }

  /// The Jacobian of the states that are left when each total is solved for the state whose equation makes way.
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

  /// Looks at the system there as well; true if it has fewer totals than it seemed to have.
  bool revise(ode_system& system, const Eigen::VectorXd& y) {
    if (count() == 0) return false;
    observe(system, y);
    matrix rows = orthogonal(directions_);
    if (rows.rows() == count()) return false;
    choose_equations(std::move(rows));
    return true;
  }

  /// Puts the totals of x in the places of the equations that make way.
  template <class Vector>
  void put(Eigen::VectorXd& equations, const Vector& x) const {
    for (Eigen::Index k = 0; k < count(); ++k) equations[places_[static_cast<std::size_t>(k)]] = rows_.row(k).dot(x);
  }
  /// The same of their derivatives.
  void put_rows(Eigen::MatrixXd& J) const {
    for (Eigen::Index k = 0; k < count(); ++k) J.row(places_[static_cast<std::size_t>(k)]) = rows_.row(k);
  }
  /// Takes out the adjoints of the totals, which become zero, and returns what they amount to for x.
  Eigen::VectorXd take_adjoint(Eigen::VectorXd& equations) const {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(equations.size());
    for (Eigen::Index k = 0; k < count(); ++k) {
      double& adjoint = equations[places_[static_cast<std::size_t>(k)]];
      x += adjoint * rows_.row(k).transpose();
      adjoint = 0;
    }
    return x;
  }

 private:
  // Numbers in (0, 1) without a pattern: multiples of the golden ratio, and of its square root from point to point.
  static double spread(int point, Eigen::Index i) {
    const double x = 0.6180339887498949 * static_cast<double>(i + 1) + 0.7861513777574233 * (point + 1);
    return x - std::floor(x);
  }

  /// Adds the directions in which the states are moved there; none, where the system has no finite values.
  void observe(ode_system& system, const Eigen::VectorXd& y) {
    const Eigen::Index n = y.size(), m = system.parameters();
    Eigen::MatrixXd all(n, n + 1 + m);
    Eigen::MatrixXd J(n, n);
    system.rhs(time_, y.data(), all.col(0).data());
    system.jacobian(time_, y.data(), J);
    if (first_.size() == 0) first_ = J, is_linear_ = J.allFinite();
    is_linear_ = is_everywhere(J);
    all.middleCols(1, n) = J;
    Eigen::VectorXd lambda = Eigen::VectorXd::Zero(n), row(m);
    for (Eigen::Index i = 0; i < n && m > 0; ++i) {
      lambda[i] = 1;
      system.vjp(time_, y.data(), lambda.data(), nullptr, row.data());
      all.row(i).tail(m) = row.transpose();
      lambda[i] = 0;
    }
    for (Eigen::Index j = 0; j < all.cols(); ++j) {
      const double length = all.col(j).stableNorm();
      if (!std::isfinite(length) || length == 0) continue;
      largest_[j] = std::max(largest_[j], length);
      // At rest a direction is a difference of larger numbers: their rounding must not grow to a direction.
      const double unit = std::max(length, 1e-4 * largest_[j]);
      directions_.conservativeResize(directions_.rows() + 1, n);
      directions_.row(directions_.rows() - 1) = (all.col(j) / unit).transpose();
    }
  }

  /// Orthonormal rows that span what is orthogonal to all directions.
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

  /// Combines the rows so that each has a one where the others have zeros, which is the place of the equation that makes way:
  /// totals of different parts of a system then do not mix, however different these are in size.
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
    // What rounding has left of zeros is not to be multiplied by states of another size.
    rows_ = rows.unaryExpr([](Real x) { return std::abs(x) < 1e-13 ? Real(0) : x; });
  }

  double time_ = 0;
  matrix rows_, directions_;
  Eigen::MatrixXd first_;  // Jacobian that was seen
  bool is_linear_ = false;
  Eigen::VectorXd largest_;  // length of each kind of direction so far
  std::vector<Eigen::Index> places_;
};

}  // namespace agrad::detail
