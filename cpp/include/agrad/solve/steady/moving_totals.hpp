// Moving totals: tells how conserved totals change with the parameters.
//
// The rows L of the totals satisfy L f(s) = 0 at all states s, so dL f(s) = -L f_p(s) dp. Where L f_p is zero, L stays as it is
// and nothing is to be computed. Otherwise slopes at sample states, as the columns of A, and C, the columns of L f_p, give
//     dL = -C A^+ dp,
// up to combinations of the rows L, which do not matter, because only dL (y - y0) is wanted and L (y - y0) = 0. Beside slopes,
// A has differences of slopes at states that differ in one entry, so that rates of different size stay apart. Where C is not in
// the row space of A, the total exists at this value of the parameter only, and the steady state has no derivative.
// Read first: solve/steady/conserved_totals.hpp. Read next: solve/steady/derivatives.hpp.
#pragma once

#include <Eigen/Core>
#include <Eigen/QR>
#include <algorithm>
#include <string>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/solve/steady/conserved_totals.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

/// A template, so that only its users compile the factorisation.
template <class Real>
class moving_totals {
 public:
  /// apart: y - y0 of a steady state y with the totals of y0. active: which parameters matter, empty for all. Throws
  /// DerivativeError where the changes cannot be computed.
  moving_totals(const std::string& function, ode_system& system, double time, const conserved_totals<Real>& totals,
                const Eigen::VectorXd& y0, const Eigen::VectorXd& apart, const std::vector<bool>& active = {})
      : function_(function),
        system_(system),
        time_(time),
        rows_(totals.rows().template cast<double>()),
        changes_(Eigen::MatrixXd::Zero(rows_.rows(), system.parameters())),
        is_known_(flags::Constant(rows_.rows(), system.parameters(), true)) {
    if (changes_.size() == 0 || !find_moving(y0, active)) return;
    for (int point = 0; point < points; ++point) observe(steady_sample(y0, point));
    solve(apart);
  }

  /// Returns whether some total depends on a parameter.
  bool any() const { return moves_; }

  /// Returns the changes of L y along a direction of the parameters. Throws DomainError where there is no such derivative.
  Eigen::VectorXd along(const Eigen::VectorXd& parameters) const {
    for (Eigen::Index j = 0; j < parameters.size(); ++j)
      if (parameters[j] != 0 && !is_known_.col(j).all()) fail(j);
    return changes_ * parameters;
  }
  /// Returns the adjoint of the parameters from the adjoints of L y. Throws DomainError where there is no such derivative.
  Eigen::VectorXd transposed(const Eigen::VectorXd& adjoints) const {
    for (Eigen::Index j = 0; j < changes_.cols(); ++j)
      if (!(is_known_.col(j) || adjoints.array() == 0).all()) fail(j);
    return changes_.transpose() * adjoints;
  }

 private:
  using flags = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>;
  static constexpr int points = 2;

  /// Finds where L f_p is not zero, up to rounding errors of its terms.
  bool find_moving(const Eigen::VectorXd& y0, const std::vector<bool>& active) {
    const Eigen::Index n = y0.size(), m = system_.parameters();
    Eigen::ArrayXXd found = Eigen::ArrayXXd::Zero(rows_.rows(), m), terms = found;
    Eigen::VectorXd unit = Eigen::VectorXd::Zero(n), row(m);
    Eigen::MatrixXd slopes(n, m);
    for (int point = 0; point < points; ++point) {
      const Eigen::VectorXd at = steady_sample(y0, point);
      for (Eigen::Index i = 0; i < n; ++i) {
        unit[i] = 1;
        system_.vjp(time_, at.data(), unit.data(), nullptr, row.data());
        slopes.row(i) = row.transpose();
        unit[i] = 0;
      }
      for (Eigen::Index j = 0; j < m; ++j)
        if (!slopes.col(j).allFinite()) slopes.col(j).setZero();
      found = found.max((rows_ * slopes).array().abs());
      terms = terms.max((rows_.cwiseAbs() * slopes.cwiseAbs()).array());
    }
    is_moving_ = found > 1e-9 * terms;
    for (std::size_t j = 0; j < active.size(); ++j)
      if (!active[j]) is_moving_.col(static_cast<Eigen::Index>(j)) = false;
    return moves_ = is_moving_.any();
  }

  /// Adds the slopes at a state, and their differences to the slopes at states that differ in one entry.
  void observe(const Eigen::VectorXd& at) {
    const Eigen::Index n = at.size();
    Eigen::VectorXd moved = at;
    const column here = column_at(at);
    if (!here.is_finite()) return;
    columns_.push_back(here);
    const double size = at.cwiseAbs().maxCoeff();
    for (Eigen::Index i = 0; i < n; ++i) {
      moved[i] += 0.5 * (at[i] == 0 ? size : at[i]);
      column there = column_at(moved);
      moved[i] = at[i];
      if (!there.is_finite()) continue;
      there.size = 1e-12 * (here.slope.norm() + there.slope.norm());  // rounding errors of the difference
      there.slope -= here.slope, there.of_parameters -= here.of_parameters;
      columns_.push_back(std::move(there));
    }
  }

  /// A column of A, and L f_p there.
  struct column {
    Eigen::VectorXd slope;
    Eigen::MatrixXd of_parameters;
    double size = 0;
    bool is_finite() const { return slope.allFinite() && of_parameters.allFinite(); }
  };
  column column_at(const Eigen::VectorXd& at) {
    column c{Eigen::VectorXd(at.size()), Eigen::MatrixXd::Zero(rows_.rows(), system_.parameters())};
    system_.rhs(time_, at.data(), c.slope.data());
    Eigen::VectorXd of(system_.parameters());
    for (Eigen::Index k = 0; k < rows_.rows(); ++k) {
      if (!is_moving_.row(k).any()) continue;
      const Eigen::VectorXd row = rows_.row(k).transpose();
      system_.vjp(time_, at.data(), row.data(), nullptr, of.data());
      for (Eigen::Index j = 0; j < of.size(); ++j)
        if (is_moving_(k, j)) c.of_parameters(k, j) = of[j];
    }
    return c;
  }

  /// Computes the changes -dL (y - y0) for each parameter, and where they do not exist.
  void solve(const Eigen::VectorXd& apart) {
    using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
    const auto count = static_cast<Eigen::Index>(columns_.size());
    matrix A(count, apart.size());  // transposed, each slope of length 1
    double least = 0;
    for (column& c : columns_) {
      c.size = std::max(c.size, c.slope.norm());
      if (c.size > 0) least = least > 0 ? std::min(least, c.size) : c.size;
    }
    for (Eigen::Index i = 0; i < count; ++i) {
      column& c = columns_[static_cast<std::size_t>(i)];
      if (!(c.size > 0)) c.size = least > 0 ? least : 1;
      A.row(i) = c.slope.transpose() / c.size;
    }
    Eigen::CompleteOrthogonalDecomposition<matrix> factors;
    factors.setThreshold(1e-10);
    if (count > 0) factors.compute(A);
    if (count == 0 || factors.rank() < apart.size() - rows_.rows()) {
      throw DerivativeError(function_ +
                            ": the conserved totals depend on parameters, and how they do so cannot be computed; "
                            "differentiate solve_ivp up to a late time");
    }
    for (Eigen::Index k = 0; k < rows_.rows(); ++k)
      for (Eigen::Index j = 0; j < changes_.cols(); ++j) {
        if (!is_moving_(k, j)) continue;
        Eigen::VectorXd right(count);
        for (Eigen::Index i = 0; i < count; ++i) {
          const column& c = columns_[static_cast<std::size_t>(i)];
          right[i] = c.of_parameters(k, j) / c.size;
        }
        const Eigen::VectorXd turned = factors.solve(right);  // -dL
        Eigen::VectorXd left = A * turned;
        left -= right;
        is_known_(k, j) = left.cwiseAbs().maxCoeff() <= 1e-6 * right.cwiseAbs().maxCoeff();
        changes_(k, j) = turned.dot(apart);
      }
    columns_.clear();
  }

  [[noreturn]] AGRAD_COLD void fail(Eigen::Index j) const {
    throw DomainError(sentence(function_, "parameters", j, "at a value where a total is conserved",
                               "one near which the system conserves the same totals",
                               "the steady state jumps here and has no derivative; leave the parameter out of the derivatives, "
                               "or differentiate solve_ivp up to a late time"));
  }

  std::string function_;
  ode_system& system_;
  double time_;
  Eigen::MatrixXd rows_;     // L
  Eigen::MatrixXd changes_;  // of L y, for each parameter
  flags is_known_, is_moving_;
  bool moves_ = false;
  std::vector<column> columns_;
};

}  // namespace agrad::detail
