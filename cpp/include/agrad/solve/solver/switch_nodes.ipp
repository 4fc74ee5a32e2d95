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
  nodes_.resize(1);
  evaluate(0, y, slope, nodes_[0]);
}

AGRAD_INLINE void switch_nodes::examine(double h, const double* y, const double* slope) {
  if (switches_ == nullptr) return;
  h_ = h;
  end_y_ = Eigen::Map<const Eigen::VectorXd>(y, y_.size()), end_slope_ = Eigen::Map<const Eigen::VectorXd>(slope, y_.size());
  nodes_.resize(1);
  first_ = nodes_[0];
  evaluate(h, y, slope, last_);
  if (switches_->are_linear())
    nodes_.push_back(last_);
  else
    refine(first_, last_, 0);
}

AGRAD_INLINE void switch_nodes::go_on(double t) {
  if (switches_ == nullptr) return;
  t_ = t;
  y_ = end_y_, slope_ = end_slope_;
  nodes_.resize(1);
  nodes_[0] = last_;
  nodes_[0].at = 0;
}

AGRAD_INLINE void switch_nodes::evaluate(double at, const double* y, const double* slope, node& to) {
  switches_->evaluate(t_ + at, y, slope);
  to.at = at, to.values.resize(switches_->size()), to.rates.resize(switches_->size());
  for (std::size_t i = 0; i < to.values.size(); ++i) to.values[i] = switches_->value(i), to.rates[i] = switches_->rate(i);
}

AGRAD_INLINE void switch_nodes::interpolate(double x) {
  const double left = 1 - x;
  inner_y_ = (1 + 2 * x) * left * left * y_ + x * x * (3 - 2 * x) * end_y_ + h_ * x * left * (left * slope_ - x * end_slope_);
}

AGRAD_INLINE switch_nodes::node switch_nodes::inside(double at) {
  const double x = at / h_, left = 1 - x;
  interpolate(x);
  inner_slope_ = 6 * x * left / h_ * (end_y_ - y_) + left * (1 - 3 * x) * slope_ + x * (3 * x - 2) * end_slope_;
  node found;
  evaluate(at, inner_y_.data(), inner_slope_.data(), found);
  return found;
}

AGRAD_INLINE void switch_nodes::refine(const node& from, const node& to, int depth) {
  const bool is_resolved_here =
      depth == deepest || (is_resolved(from, to, 0.5) && is_resolved(from, to, 0.19) && is_resolved(from, to, 0.77));
  if (is_resolved_here) return nodes_.push_back(to);
  const node middle = inside(from.at + 0.5 * (to.at - from.at));
  refine(from, middle, depth + 1);
  refine(middle, to, depth + 1);
}

AGRAD_INLINE bool switch_nodes::is_resolved(const node& from, const node& to, double share) {
  const double h = to.at - from.at, at = from.at + share * h;
  interpolate(at / h_);
  switches_->evaluate(t_ + at, inner_y_.data());
  for (std::size_t i = 0; i < from.values.size(); ++i) {
    const step_cubic cubic{from.values[i], to.values[i], h * from.rates[i], h * to.rates[i]};
    const double value = switches_->value(i),
                 size = std::max({std::abs(from.values[i]), std::abs(to.values[i]), std::abs(value)});
    if (std::abs(value - cubic((at - from.at) / h)) > std::max(exact * size, switches_->least(i))) return false;
  }
  return true;
}

}  // namespace agrad::detail
