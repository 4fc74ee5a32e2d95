// Definitions of program/derive/linearity.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/linearity.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

AGRAD_INLINE linearity::linearity(const recorder& in, std::size_t begin, std::vector<slot> on)
    : in_(in), begin_(begin), on_(std::move(on)) {
  first_ = on_.empty() ? static_cast<slot>(in.size()) : *std::min_element(on_.begin(), on_.end());
  how_.assign(in.size() - first_, not_at_all);
  for (const slot s : on_) how_[s - first_] = linearly;
  for (std::size_t i = begin; i < in.code().operations.size(); ++i) enter(in.code().operations[i]);
}

AGRAD_INLINE bool linearity::depends(const std::vector<slot>& slots) const {
  return std::any_of(slots.begin(), slots.end(), [&](slot s) { return how_of(s) != not_at_all; });
}

AGRAD_INLINE bool linearity::is_linear(const std::vector<slot>& slots) const {
  bool is_open = false;
  for (const slot s : slots) {
    const double at_zero = in_.value(s);
    if (how_of(s) != linearly && std::isfinite(at_zero) && at_zero != 0) return false;
    is_open = is_open || how_of(s) == somehow;
  }
  return !is_open || is_linear_in_ranges(slots);
}

AGRAD_INLINE linearity::how linearity::most(const span& x) const {
  how found = not_at_all;
  for (std::uint32_t j = 0; j < x.count; ++j) found = std::max(found, how_of(x.first + j));
  return found;
}

AGRAD_INLINE bool linearity::is_zero(const span& x) const {
  for (std::uint32_t j = 0; j < x.count; ++j)
    if (in_.is_active(x.first + j) || in_.value(x.first + j) != 0) return false;
  return true;
}

AGRAD_INLINE void linearity::enter(const operation& op) {
  if (op.count == 0) return;
  if (op.what == &kernels::gather) {
    for (std::uint32_t j = 0; j < op.count; ++j) how_[op.result - first_ + j] = how_of(in_.code().integers[op.data + j]);
    return;
  }
  std::fill_n(how_.begin() + (op.result - first_), op.count, of(op));
}

AGRAD_INLINE linearity::how linearity::of(const operation& op) const {
  how each[operation::most_operands] = {}, all = not_at_all;
  for (std::uint32_t k = 0; k < op.arity; ++k) all = std::max(all, each[k] = most(op.operands[k]));
  if (op.what == &kernels::with_derivative) return each[0];  // the derivatives have been examined already
  if (all != linearly) return all;
  const auto name = op.what->name;
  const auto fits = [&](std::uint32_t k) { return each[k] == linearly || is_zero(op.operands[k]); };
  bool is_linear = false;
  if (op.what == &kernels::product || name == multiply_rule::name || name == detail::passed_rule::name ||
      name == detail::linked_rule::name)
    is_linear = each[0] == not_at_all || each[1] == not_at_all;
  else if (name == divide_rule::name)
    is_linear = each[1] == not_at_all;
  else if (name == add_rule::name || name == subtract_rule::name)
    is_linear = fits(0) && fits(1);
  else if (name == select_rule::name)
    is_linear = each[0] == not_at_all && fits(1) && fits(2);
  else
    is_linear = moves_or_adds(op);
  return is_linear ? linearly : somehow;
}

AGRAD_INLINE bool linearity::moves_or_adds(const operation& op) {
  for (const kernel* each : {&kernels::sum, &kernels::sum_along, &kernels::cumulative_sum, &kernels::stop_gradient,
                             &kernels::hold, &kernels::perturbation})
    if (op.what == each) return op.arity == 1;
  return op.what->name == negative_rule::name;
}

AGRAD_INLINE double linearity::direction(std::size_t i) {
  return (i % 2 == 0 ? 1.0 : -1.0) * (0.5 + std::fmod(0.618 * static_cast<double>(i + 1), 1.0));
}

AGRAD_INLINE bool linearity::is_linear_in_ranges(const std::vector<slot>& slots) const {
  std::vector<double> u(on_.size()), v(on_.size()), w(on_.size());
  for (std::size_t i = 0; i < on_.size(); ++i) {
    u[i] = direction(i);
    v[i] = -u[i] * (0.4 + std::abs(direction(i + 3)));
    w[i] = 2 * v[i] - u[i];
  }
  const std::vector<double> of_u = run(u, slots), of_v = run(v, slots), of_w = run(w, slots);
  double most = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) most = std::max({most, std::abs(of_u[i]), std::abs(of_v[i])});
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const double expected = 2 * of_v[i] - of_u[i], size = 2 * std::abs(of_v[i]) + std::abs(of_u[i]);
    // solvers inside are linear only up to their tolerances
    if (std::isfinite(expected) && std::isfinite(of_w[i]) && std::abs(of_w[i] - expected) > 1e-3 * size + 1e-9 * most)
      return false;
  }
  return true;
}

AGRAD_INLINE std::vector<double> linearity::run(const std::vector<double>& x, const std::vector<slot>& slots) const {
  workspace w;
  w.values = in_.values();
  for (std::size_t i = 0; i < on_.size(); ++i) w.values[on_[i]] = x[i];
  const run_context context = w.context(in_.code(), true);
  for (std::size_t i = begin_; i < in_.code().operations.size(); ++i) {
    const operation& op = in_.code().operations[i];
    if (op.count > 0 && reads(op)) op.what->forward(op, context, w.values.data());
  }
  std::vector<double> values;
  values.reserve(slots.size());
  for (const slot s : slots) values.push_back(w.values[s]);
  return values;
}

AGRAD_INLINE bool linearity::reads(const operation& op) const {
  const auto begin = how_.begin() + (op.result - first_);
  return std::any_of(begin, begin + op.count, [](how h) { return h != not_at_all; });
}

}  // namespace agrad
