// DAE splitting: splits a state into its differential part a and its algebraic part b, y = Q a + Z b.
//
// Z spans the null space of dF/dy', Q the orthogonal complement. Mostly Q selects the states whose derivatives occur and Z
// selects the others. Where columns of dF/dy' are linearly dependent, as those of a capacitor between two nodes are, the
// differential quantity is a combination of states, and Q and Z come from a QR factorisation. dF/dy' is evaluated at some
// points near the given point, too: a guess may hide a derivative, as y'0 = 0 does in y'^3 = -y.
// A system is of index 1 where B = [dF/dy' Q, dF/dy Z] is regular: F = 0 then has one solution (a', b) for each a.
// Read next: solve/dae/consistency.hpp.
#pragma once

#include <Eigen/QR>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/solve/dae/probe.hpp>
#include <agrad/solve/system/dae.hpp>

namespace agrad::detail {

class dae_splitting {
 public:
  dae_splitting() = default;

  /// `given`: whether each state is differential; empty: from the system's knowledge, or from dF/dy' near a point.
  dae_splitting(const std::string& function, dae_system& system, const dae_point& at, const std::vector<bool>& given)
      : n_(system.states()) {
    const Eigen::MatrixXd by_slope = slopes_around(system, at);
    const std::vector<bool> occurs = system.known_derivatives().value_or(columns_with_entries(by_slope));
    if (!given.empty()) {
      check_given(function, given, occurs, by_slope);
      choose(given);
    } else {
      choose(occurs);
      if (r() > 0 && by_slope.allFinite()) merge_dependent(function, at.t, by_slope);
    }
  }

  Eigen::Index n() const { return n_; }

  /// Length of a.
  Eigen::Index r() const { return q_.cols(); }

  /// Whether the entries of a are states, not combinations of states.
  bool is_choice() const { return !columns_.empty(); }

  /// Returns the name of entry k of (a', b), as "yp[0]"; empty where a is not a selection of states.
  std::string name(Eigen::Index k) const {
    if (!is_choice()) return "";
    return (k < r() ? "yp[" : "y[") + std::to_string(columns_[static_cast<std::size_t>(k)]) + "]";
  }

  /// Throws the error for a null space of dF/dy' that differs between time t and another place, named by `where`.
  [[noreturn]] AGRAD_COLD static void throw_moving(const std::string& function, double t, const std::string& where) {
    throw DomainError(function + ": the null space of dF/dyp at t = " + to_text(t) + " is another one than " + where +
                      ", but must be constant; give the quantities whose derivatives occur states of their own");
  }

  const Eigen::MatrixXd& q() const { return q_; }
  const Eigen::MatrixXd& z() const { return z_; }

  /// Computes B from dF/dy and dF/dy'.
  Eigen::MatrixXd joined(const Eigen::MatrixXd& by_state, const Eigen::MatrixXd& by_slope) const {
    Eigen::MatrixXd b(n_, n_);
    b.leftCols(r()) = by_slope * q_;
    b.rightCols(n_ - r()) = by_state * z_;
    return b;
  }

  /// Returns (Q^T u, Z^T v) as one vector.
  Eigen::VectorXd parts(const Eigen::VectorXd& u, const Eigen::VectorXd& v) const {
    Eigen::VectorXd both(n_);
    both << q_.transpose() * u, z_.transpose() * v;
    return both;
  }

 private:
  /// Returns dF/dy' at the point and, below, at the nearby points where dF/dy' is finite.
  Eigen::MatrixXd slopes_around(dae_system& system, const dae_point& at) const {
    const Eigen::Map<const Eigen::VectorXd> y(at.y, n_), yp(at.yp, n_);
    Eigen::MatrixXd all(n_, n_);
    system.jacobian(at, 0, 1, all);
    for (const double part : {1e-3, -2e-3}) {
      const Eigen::VectorXd near_y = y + probe_step(y, part), near_yp = yp + probe_step(yp, part);
      Eigen::MatrixXd there(n_, n_);
      try {
        system.jacobian({at.t, near_y.data(), near_yp.data()}, 0, 1, there);
      } catch (const std::domain_error&) {
        continue;  // outside of the domain of F
      }
      if (!there.allFinite()) continue;
      all.conservativeResize(all.rows() + n_, n_);
      all.bottomRows(n_) = there;
    }
    return all;
  }

  static std::vector<bool> columns_with_entries(const Eigen::MatrixXd& by_slope) {
    std::vector<bool> occurs(static_cast<std::size_t>(by_slope.cols()));
    for (Eigen::Index j = 0; j < by_slope.cols(); ++j) occurs[static_cast<std::size_t>(j)] = !by_slope.col(j).isZero(0);
    return occurs;
  }

  static void check_given(const std::string& function, const std::vector<bool>& given, const std::vector<bool>& occurs,
                          const Eigen::MatrixXd& by_slope) {
    for (std::size_t j = 0; j < given.size(); ++j) {
      const std::string derivative = "yp[" + std::to_string(j) + "]";
      if (given[j] && !occurs[j])
        throw DomainError(
            sentence(function, "differential", static_cast<long>(j), "True", "False", "no equation depends on " + derivative));
      if (!given[j] && !by_slope.col(static_cast<Eigen::Index>(j)).isZero(0))
        throw DomainError(
            sentence(function, "differential", static_cast<long>(j), "False", "True", "the residual depends on " + derivative));
    }
  }

  void choose(const std::vector<bool>& differential) {
    std::vector<Eigen::Index> others;
    columns_.clear();
    for (std::size_t j = 0; j < differential.size(); ++j)
      (differential[j] ? columns_ : others).push_back(static_cast<Eigen::Index>(j));
    const auto r = static_cast<Eigen::Index>(columns_.size());
    columns_.insert(columns_.end(), others.begin(), others.end());
    q_.setZero(n_, r), z_.setZero(n_, n_ - r);
    for (Eigen::Index k = 0; k < n_; ++k) (k < r ? q_ : z_)(columns_[static_cast<std::size_t>(k)], k < r ? k : k - r) = 1;
  }

  // Equations and states may differ in size by many orders of magnitude, so the rank is that of the matrix with scaled rows and
  // columns.
  void merge_dependent(const std::string& function, double t, const Eigen::MatrixXd& by_slope) {
    Eigen::MatrixXd m = by_slope * q_;
    for (auto row : m.rowwise())
      if (!row.isZero(0)) row /= row.cwiseAbs().maxCoeff();
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    const Eigen::Index rank = rank_of(qr, m);
    Eigen::Index largest = 0;
    for (Eigen::Index first = 0; first < m.rows(); first += n_)
      largest = std::max(largest, rank_of(qr, m.middleRows(first, n_)));
    if (largest < rank) throw_moving(function, t, "at a state near by");
    if (rank == r()) return;
    // Orthonormal bases of the row space and of its complement. (A singular value decomposition takes half a minute to
    // compile.)
    const Eigen::MatrixXd spanned = qr.compute(m.transpose()).householderQ();
    Eigen::MatrixXd algebraic(n_, n_ - rank);
    algebraic << q_ * spanned.rightCols(r() - rank), z_;
    q_ = (q_ * spanned.leftCols(rank)).eval();
    z_ = std::move(algebraic);
    columns_.clear();
  }

  static Eigen::Index rank_of(Eigen::ColPivHouseholderQR<Eigen::MatrixXd>& qr, Eigen::MatrixXd m) {
    for (auto column : m.colwise())
      if (!column.isZero(0)) column.normalize();
    qr.setThreshold(1e-12);
    return qr.compute(m).rank();
  }

  Eigen::Index n_ = 0;
  std::vector<Eigen::Index> columns_;  // the states in the order of (a, b); empty where a has combinations
  Eigen::MatrixXd q_, z_;
};

}  // namespace agrad::detail
