// Definitions of solve/solver/switch_nodes.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/base/inline.hpp>
#include <agrad/solve/solver/switch_nodes.hpp>
#include <agrad/solve/solver/zero_search.hpp>

namespace agrad::detail {

AGRAD_INLINE void switch_nodes::begin(double t, const double* y, const double* slope) {
  if (switches_ == nullptr) return;
  t_ = t;
  y_ = Eigen::Map<const Eigen::VectorXd>(y, y_.size()), slope_ = Eigen::Map<const Eigen::VectorXd>(slope, y_.size());
  nodes_.assign(1, evaluated(0, y, slope));
}

AGRAD_INLINE void switch_nodes::examine(double h, const double* y, const double* slope) {
  if (switches_ == nullptr) return;
  h_ = h;
  end_y_ = Eigen::Map<const Eigen::VectorXd>(y, y_.size()), end_slope_ = Eigen::Map<const Eigen::VectorXd>(slope, y_.size());
  nodes_.resize(1);
  const node from = nodes_[0], to = evaluated(h, y, slope);
  if (switches_->are_linear())
    nodes_.push_back(to);
  else
    refine(from, to, 0);
}

AGRAD_INLINE void switch_nodes::go_on(double t) {
  if (switches_ == nullptr) return;
  t_ = t;
  y_ = end_y_, slope_ = end_slope_;
  nodes_.front() = nodes_.back();
  nodes_.resize(1);
  nodes_[0].at = 0;
}

AGRAD_INLINE switch_nodes::node switch_nodes::evaluated(double at, const double* y, const double* slope) {
  switches_->evaluate(t_ + at, y, slope);
  node result{at, std::vector<double>(switches_->size()), std::vector<double>(switches_->size())};
  for (std::size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = switches_->value(i), result.rates[i] = switches_->rate(i);
  return result;
}

AGRAD_INLINE switch_nodes::node switch_nodes::inside(double at) {
  const double x = at / h_, left = 1 - x;
  inner_y_ = (1 + 2 * x) * left * left * y_ + x * x * (3 - 2 * x) * end_y_ + h_ * x * left * (left * slope_ - x * end_slope_);
  inner_slope_ = 6 * x * left / h_ * (end_y_ - y_) + left * (1 - 3 * x) * slope_ + x * (3 * x - 2) * end_slope_;
  return evaluated(at, inner_y_.data(), inner_slope_.data());
}

AGRAD_INLINE void switch_nodes::refine(const node& from, const node& to, int depth) {
  const double h = to.at - from.at;
  const node middle = inside(from.at + 0.5 * h);
  const bool is_resolved_here =
      depth == deepest || (is_resolved(from, to, middle) && is_resolved(from, to, inside(from.at + 0.19 * h)) &&
                           is_resolved(from, to, inside(from.at + 0.77 * h)));
  if (!is_resolved_here) refine(from, middle, depth + 1), refine(middle, to, depth + 1);
  if (is_resolved_here) nodes_.push_back(to);
}

AGRAD_INLINE bool switch_nodes::is_resolved(const node& from, const node& to, const node& between) const {
  const double h = to.at - from.at, x = (between.at - from.at) / h;
  for (std::size_t i = 0; i < between.values.size(); ++i) {
    const step_cubic cubic{from.values[i], to.values[i], h * from.rates[i], h * to.rates[i]};
    const double size = std::max({std::abs(from.values[i]), std::abs(to.values[i]), std::abs(between.values[i])});
    if (std::abs(between.values[i] - cubic(x)) > std::max(exact * size, switches_->least(i))) return false;
  }
  return true;
}

}  // namespace agrad::detail
