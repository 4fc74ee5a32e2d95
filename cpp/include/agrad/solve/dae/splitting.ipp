// Definitions of solve/dae/splitting.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/splitting.hpp>

namespace agrad::detail {

AGRAD_INLINE dae_splitting::dae_splitting(const std::string& function, dae_system& system, const dae_point& at,
                                          const std::vector<bool>& given)
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

AGRAD_INLINE std::string dae_splitting::name(Eigen::Index k) const {
  if (!is_choice()) return "";
  return (k < r() ? "yp[" : "y[") + std::to_string(columns_[static_cast<std::size_t>(k)]) + "]";
}

AGRAD_INLINE void dae_splitting::throw_moving(const std::string& function, double t, const std::string& where) {
  throw DomainError(function + ": the null space of dF/dyp at t = " + to_text(t) + " differs from the one " + where +
                    ", but must be constant; make each quantity whose derivative occurs a state");
}

AGRAD_INLINE void dae_splitting::check_constant(const std::string& function, double t, const Eigen::MatrixXd& by_slope) const {
  if (r() == n_ || !by_slope.allFinite()) return;
  const Eigen::MatrixXd missed = by_slope * z_;
  if (missed.cwiseAbs().maxCoeff() > 1e-8 * by_slope.cwiseAbs().maxCoeff()) throw_moving(function, t, "at t0");
}

AGRAD_INLINE Eigen::MatrixXd dae_splitting::joined(const Eigen::MatrixXd& by_state, const Eigen::MatrixXd& by_slope) const {
  Eigen::MatrixXd b(n_, n_);
  b.leftCols(r()) = by_slope * q_;
  b.rightCols(n_ - r()) = by_state * z_;
  return b;
}

AGRAD_INLINE Eigen::VectorXd dae_splitting::parts(const Eigen::VectorXd& u, const Eigen::VectorXd& v) const {
  Eigen::VectorXd both(n_);
  both << q_.transpose() * u, z_.transpose() * v;
  return both;
}

AGRAD_INLINE Eigen::MatrixXd dae_splitting::slopes_around(dae_system& system, const dae_point& at) const {
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

AGRAD_INLINE std::vector<bool> dae_splitting::columns_with_entries(const Eigen::MatrixXd& by_slope) {
  std::vector<bool> occurs(static_cast<std::size_t>(by_slope.cols()));
  for (Eigen::Index j = 0; j < by_slope.cols(); ++j) occurs[static_cast<std::size_t>(j)] = !by_slope.col(j).isZero(0);
  return occurs;
}

AGRAD_INLINE void dae_splitting::check_given(const std::string& function, const std::vector<bool>& given,
                                             const std::vector<bool>& occurs, const Eigen::MatrixXd& by_slope) {
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

AGRAD_INLINE void dae_splitting::choose(const std::vector<bool>& differential) {
  std::vector<Eigen::Index> others;
  columns_.clear();
  for (std::size_t j = 0; j < differential.size(); ++j)
    (differential[j] ? columns_ : others).push_back(static_cast<Eigen::Index>(j));
  const auto r = static_cast<Eigen::Index>(columns_.size());
  columns_.insert(columns_.end(), others.begin(), others.end());
  q_.setZero(n_, r), z_.setZero(n_, n_ - r);
  for (Eigen::Index k = 0; k < n_; ++k) (k < r ? q_ : z_)(columns_[static_cast<std::size_t>(k)], k < r ? k : k - r) = 1;
}

AGRAD_INLINE void dae_splitting::merge_dependent(const std::string& function, double t, const Eigen::MatrixXd& by_slope) {
  Eigen::MatrixXd m = by_slope * q_;
  for (auto row : m.rowwise())
    if (!row.isZero(0)) row /= row.cwiseAbs().maxCoeff();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  const Eigen::Index rank = rank_of(qr, m);
  Eigen::Index largest = 0;
  for (Eigen::Index first = 0; first < m.rows(); first += n_) largest = std::max(largest, rank_of(qr, m.middleRows(first, n_)));
  if (largest < rank) throw_moving(function, t, "at a state nearby");
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

AGRAD_INLINE Eigen::Index dae_splitting::rank_of(Eigen::ColPivHouseholderQR<Eigen::MatrixXd>& qr, Eigen::MatrixXd m) {
  for (auto column : m.colwise())
    if (!column.isZero(0)) column.normalize();
  qr.setThreshold(1e-12);
  return qr.compute(m).rank();
}

}  // namespace agrad::detail
