// Definitions of solve/system/program/dae.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/dae.hpp>

namespace agrad {

AGRAD_INLINE program_dae::program_dae(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated)
    : f_(std::move(f), 2 * n, differentiated), n_(n), both_(static_cast<std::size_t>(2 * n)) {}

AGRAD_INLINE void program_dae::residual(const dae_point& at, double* r) { f_.value(at.t, both(at), r); }

AGRAD_INLINE void program_dae::jacobian(const dae_point& at, double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) {
  f_.run(at.t, both(at));
  if (!f_.has(2)) return jacobian_by_rows(of_y, of_yp, J);
  constexpr int lanes = lane_count;
  double* along = f_.directions(lanes);
  out_.resize(static_cast<std::size_t>(n_ * lanes));
  for (Eigen::Index first = 0; first < n_; first += lanes) {
    const Eigen::Index here = std::min<Eigen::Index>(lanes, n_ - first);
    const auto seed = [&](double y, double yp) {
      for (Eigen::Index k = 0; k < here; ++k) {
        along[(1 + first + k) * lanes + k] = y;
        along[(1 + n_ + first + k) * lanes + k] = yp;
      }
    };
    seed(of_y, of_yp);
    f_.tangent(lanes, out_.data());
    seed(0, 0);
    for (Eigen::Index i = 0; i < n_; ++i)
      for (Eigen::Index k = 0; k < here; ++k) J(i, first + k) = out_[static_cast<std::size_t>(i * lanes + k)];
  }
}

AGRAD_INLINE void program_dae::vjp(const dae_point& at, const double* lambda, const dae_adjoints& to) {
  f_.run(at.t, both(at));
  const double *all = f_.adjoints(lambda), *slopes = all + 1 + n_;
  if (to.t != nullptr) *to.t = all[0];
  if (to.y != nullptr) std::copy_n(all + 1, n_, to.y);
  if (to.yp != nullptr) std::copy_n(slopes, n_, to.yp);
  if (to.parameters != nullptr) std::copy_n(slopes + n_, parameters(), to.parameters);
}

AGRAD_INLINE void program_dae::tangent(const dae_point& at, const dae_directions& along, double* r) {
  if (!f_.has(2)) return dae_system::tangent(at, along, r);
  f_.run(at.t, both(at));
  const auto w = along.width;
  double* to = f_.directions(w);
  const auto write = [&](const double* from, Eigen::Index count) {
    if (from != nullptr) std::copy_n(from, count * w, to);
    to += count * w;
  };
  write(along.t, 1), write(along.y, n_), write(along.yp, n_), write(along.parameters, parameters());
  f_.tangent(w, r);
}

AGRAD_INLINE std::optional<std::vector<bool>> program_dae::known_derivatives() {
  if (!derivatives_) {
    std::vector<std::uint32_t> slopes(static_cast<std::size_t>(n_));
    for (std::size_t j = 0; j < slopes.size(); ++j)
      slopes[j] = static_cast<std::uint32_t>(1 + static_cast<std::size_t>(n_) + j);
    const csr_pattern pattern = jacobian_pattern(f_.code(), slopes);
    derivatives_.emplace(slopes.size());
    for (const auto j : pattern.col) (*derivatives_)[j] = true;
  }
  return derivatives_;
}

AGRAD_INLINE const double* program_dae::both(const dae_point& at) {
  std::copy_n(at.yp, n_, std::copy_n(at.y, n_, both_.begin()));
  return both_.data();
}

AGRAD_INLINE void program_dae::jacobian_by_rows(double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) {
  Eigen::VectorXd unit = Eigen::VectorXd::Zero(n_);
  for (Eigen::Index i = 0; i < n_; ++i) {
    unit[i] = 1;
    const double* all = f_.adjoints(unit.data());
    unit[i] = 0;
    const Eigen::Map<const Eigen::RowVectorXd> by_y(all + 1, n_), by_yp(all + 1 + n_, n_);
    J.row(i).setZero();
    if (of_y != 0) J.row(i) += of_y * by_y;
    if (of_yp != 0) J.row(i) += of_yp * by_yp;
  }
}

}  // namespace agrad
