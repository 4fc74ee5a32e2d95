// Program DAE: a recorded residual as a `dae_system`.
//
// The program's inputs are t, the n states, their n derivatives and the m parameters, in this order; its outputs are the n
// residuals. A forward pass with tangents along (of_y e_j, of_yp e_j) computes eight columns of the weighted sum of both
// Jacobians; if an operation has no tangents, reverse passes compute the rows.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/interrupt.hpp>
#include <agrad/program/sparse/sparse.hpp>
#include <agrad/solve/system/dae.hpp>

namespace agrad {

class program_dae final : public dae_system {
 public:
  /// n states. Without `differentiated` no parameter is active: their values are constants of the solve.
  program_dae(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated)
      : f_(std::move(f)),
        n_(n),
        m_(static_cast<Eigen::Index>(f_->input_size()) - 1 - 2 * n),
        differentiated_(differentiated),
        inputs_(f_->input_size()),
        adjoints_(f_->input_size()),
        residual_(static_cast<std::size_t>(n)) {}

  void set_parameters(const double* p) { std::copy(p, p + m_, inputs_.begin() + 1 + 2 * n_); }

  Eigen::Index states() const override { return n_; }
  Eigen::Index parameters() const override { return differentiated_ ? m_ : 0; }

  void residual(const dae_point& at, double* r) override {
    set(at);
    f_->forward(work_, inputs_.data(), r, false);
  }

  void jacobian(const dae_point& at, double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) override {
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

  void vjp(const dae_point& at, const double* lambda, const dae_adjoints& to) override {
    set(at);
    f_->forward(work_, inputs_.data(), residual_.data(), true);
    f_->reverse(work_, lambda, adjoints_.data());
    const auto slopes = adjoints_.begin() + 1 + n_;
    if (to.t != nullptr) *to.t = adjoints_[0];
    if (to.y != nullptr) std::copy_n(adjoints_.begin() + 1, n_, to.y);
    if (to.yp != nullptr) std::copy_n(slopes, n_, to.yp);
    if (to.parameters != nullptr) std::copy_n(slopes + n_, parameters(), to.parameters);
  }

  void tangent(const dae_point& at, const dae_directions& along, double* r) override {
    if (f_->first_without_tangents() != nullptr) return dae_system::tangent(at, along, r);
    set(at);
    f_->forward(work_, inputs_.data(), residual_.data(), true);
    const auto w = static_cast<std::size_t>(along.width), n = static_cast<std::size_t>(n_) * w;
    directions_.assign(inputs_.size() * w, 0.0);
    const auto put = [&](const double* from, std::size_t count, std::size_t place) {
      if (from != nullptr) std::copy_n(from, count, directions_.data() + place);
    };
    put(along.t, w, 0), put(along.y, n, w), put(along.yp, n, w + n);
    put(along.parameters, static_cast<std::size_t>(parameters()) * w, w + 2 * n);
    if (along.width == 1)
      f_->tangent<1>(work_, directions_.data(), r);
    else
      f_->tangent<lane_count>(work_, directions_.data(), r);
  }

  std::optional<std::vector<bool>> known_derivatives() override {
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

  void parameter_values(double* p) const override { std::copy_n(inputs_.begin() + 1 + 2 * n_, parameters(), p); }

 private:
  void set(const dae_point& at) {
    if (++calls_ % 64 == 0) poll_interrupt();
    inputs_[0] = at.t;
    std::copy_n(at.y, n_, inputs_.begin() + 1);
    std::copy_n(at.yp, n_, inputs_.begin() + 1 + n_);
  }

  void jacobian_by_rows(double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) {
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

  std::shared_ptr<const program> f_;
  Eigen::Index n_, m_;
  bool differentiated_;
  unsigned long calls_ = 0;
  workspace work_;
  std::optional<std::vector<bool>> derivatives_;
  std::vector<double> inputs_, adjoints_, residual_, directions_, out_;
};

}  // namespace agrad
