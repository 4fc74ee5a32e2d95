// Definitions of solve/system/program/dae.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/dae.hpp>

namespace agrad {

AGRAD_INLINE program_dae::program_dae(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated)
    : f_(std::move(f)),
      n_(n),
      m_(static_cast<Eigen::Index>(f_->input_size()) - 1 - 2 * n),
      differentiated_(differentiated),
      inputs_(f_->input_size()),
      adjoints_(f_->input_size()),
      residual_(static_cast<std::size_t>(n)) {}

AGRAD_INLINE void program_dae::residual(const dae_point& at, double* r) {
  set(at);
  f_->forward(work_, inputs_.data(), r, false);
}

AGRAD_INLINE void program_dae::jacobian(const dae_point& at, double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) {
  set(at);
  f_->forward(work_, inputs_.data(), residual_.data(), true);
  if (f_->first_without_tangents() != nullptr) return jacobian_by_rows(of_y, of_yp, J);
  constexpr auto lanes = static_cast<Eigen::Index>(lane_count);
  directions_.assign(inputs_.size() * lane_count, 0.0);
  out_.resize(static_cast<std::size_t>(n_ * lanes));
  for (Eigen::Index first = 0; first < n_; first += lanes) {
    const Eigen::Index here = std::min(lanes, n_ - first);
    const auto seed = [&](double y, double yp) {
      for (Eigen::Index k = 0; k < here; ++k) {
        directions_[static_cast<std::size_t>((1 + first + k) * lanes + k)] = y;
        directions_[static_cast<std::size_t>((1 + n_ + first + k) * lanes + k)] = yp;
      }
    };
    seed(of_y, of_yp);
    f_->tangent<lane_count>(work_, directions_.data(), out_.data());
    seed(0, 0);
    for (Eigen::Index i = 0; i < n_; ++i)
      for (Eigen::Index k = 0; k < here; ++k) J(i, first + k) = out_[static_cast<std::size_t>(i * lanes + k)];
  }
}

AGRAD_INLINE void program_dae::vjp(const dae_point& at, const double* lambda, const dae_adjoints& to) {
  set(at);
  f_->forward(work_, inputs_.data(), residual_.data(), true);
  f_->reverse(work_, lambda, adjoints_.data());
  const auto slopes = adjoints_.begin() + 1 + n_;
  if (to.t != nullptr) *to.t = adjoints_[0];
  if (to.y != nullptr) std::copy_n(adjoints_.begin() + 1, n_, to.y);
  if (to.yp != nullptr) std::copy_n(slopes, n_, to.yp);
  if (to.parameters != nullptr) std::copy_n(slopes + n_, parameters(), to.parameters);
}

AGRAD_INLINE void program_dae::tangent(const dae_point& at, const dae_directions& along, double* r) {
  if (f_->first_without_tangents() != nullptr) return dae_system::tangent(at, along, r);
  set(at);
  f_->forward(work_, inputs_.data(), residual_.data(), true);
  const auto w = static_cast<std::size_t>(along.width), n = static_cast<std::size_t>(n_) * w;
  directions_.assign(inputs_.size() * w, 0.0);
  const auto write = [&](const double* from, std::size_t count, std::size_t place) {
    if (from != nullptr) std::copy_n(from, count, directions_.data() + place);
  };
  write(along.t, w, 0), write(along.y, n, w), write(along.yp, n, w + n);
  write(along.parameters, static_cast<std::size_t>(parameters()) * w, w + 2 * n);
  if (along.width == 1)
    f_->tangent<1>(work_, directions_.data(), r);
  else
    f_->tangent<lane_count>(work_, directions_.data(), r);
}

AGRAD_INLINE std::optional<std::vector<bool>> program_dae::known_derivatives() {
  if (!derivatives_) {
    std::vector<std::uint32_t> slopes(static_cast<std::size_t>(n_));
    for (std::size_t j = 0; j < slopes.size(); ++j)
      slopes[j] = static_cast<std::uint32_t>(1 + static_cast<std::size_t>(n_) + j);
    const csr_pattern pattern = jacobian_pattern(*f_, slopes);
    derivatives_.emplace(slopes.size());
    for (const auto j : pattern.col) (*derivatives_)[j] = true;
  }
  return derivatives_;
}

AGRAD_INLINE void program_dae::set(const dae_point& at) {
  if (++calls_ % 64 == 0) poll_interrupt();
  inputs_[0] = at.t;
  std::copy_n(at.y, n_, inputs_.begin() + 1);
  std::copy_n(at.yp, n_, inputs_.begin() + 1 + n_);
}

AGRAD_INLINE void program_dae::jacobian_by_rows(double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) {
  std::vector<double> seed(static_cast<std::size_t>(n_), 0.0);
  for (Eigen::Index i = 0; i < n_; ++i) {
    seed[static_cast<std::size_t>(i)] = 1;
    f_->reverse(work_, seed.data(), adjoints_.data());
    seed[static_cast<std::size_t>(i)] = 0;
    const Eigen::Map<const Eigen::RowVectorXd> by_y(adjoints_.data() + 1, n_), by_yp(adjoints_.data() + 1 + n_, n_);
    J.row(i).setZero();
    if (of_y != 0) J.row(i) += of_y * by_y;
    if (of_yp != 0) J.row(i) += of_yp * by_yp;
  }
}

}  // namespace agrad
