// Definitions of program/derive/tangents.hpp.
#pragma once

#include <cmath>

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/tangents.hpp>
#include <agrad/program/kernels/checked.hpp>
#include <agrad/program/kernels/log_shares.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

AGRAD_INLINE void tangent_recorder::seed(slot input, slot tangent) {
  tangent_[input] = tangent;
  singular_.set(input, in_.is_active(tangent) || !std::isfinite(in_.value(tangent)));
}

AGRAD_INLINE void tangent_recorder::reverse() {
  for (std::size_t i = part_.begin(); i < part_.end(); ++i) {
    const operation op = in_.code().operations[i];
    if (op.count == 0 || !part_.depends(op.result, op.count)) continue;
    propagate(op);
    operation active = op;
    part_.mark_active(active);
    detail::add_singular(active, in_.code().integers.data(), singular_);
  }
}

AGRAD_INLINE void tangent_recorder::propagate(const operation& op) {
  const composed_scope scope(op.is_composed);
  const kernel* what = op.what;
  if (what->entries != nullptr) return propagate_elementwise(op);
  if (what == &kernels::gather) return propagate_gather(op);
  if (what == &kernels::product) return propagate_product(op);
  if (is_linear_in_first(op)) return propagate_repeated(op, {tangents_of(op.operands[0])});
  if (what == &kernels::scatter_add)
    return propagate_repeated(op, {tangents_of(op.operands[0]), tangents_of(op.operands[1]), op.operands[2]});
  if (what == &kernels::search) return;
  if (what == &kernels::pick) return propagate_repeated(op, {dense_now(op, 0), tangents_of(op.operands[1])});
  if (what == &kernels::interpolation) return propagate_polygon(op);
  if (what == &kernels::interpolation_slope) return propagate_polygon_slope(op);
  if (what == &kernels::log_sum_exp_along && op.arity == 1) return propagate_log_sum_exp(op);
  if (what == &kernels::log_shares_along) return propagate_log_shares(op);
  if (what == &kernels::softmax_along || what == &kernels::shares_along) return propagate_shares(op);
  if (what == &kernels::perturbation || what == &kernels::checked || what == &kernels::checked_pair)
    return set_slots(op, op.operands[0]);
  if (what == &kernels::with_derivative) return set_slots(op, op.operands[2]);
  propagate_by_loops(op);
}

AGRAD_INLINE bool tangent_recorder::is_linear_in_first(const operation& op) {
  return op.arity == 1 && (op.what == &kernels::sum || op.what == &kernels::sum_along || op.what == &kernels::cumulative_sum);
}

AGRAD_INLINE std::vector<slot> tangent_recorder::tangent_slots(const span& x) const {
  return {tangent_.begin() + x.first, tangent_.begin() + x.first + x.count};
}

AGRAD_INLINE span tangent_recorder::tangents_of(const span& x) {
  const std::vector<slot> slots = tangent_slots(x);
  return in_.dense(slots.data(), slots.size());
}

AGRAD_INLINE void tangent_recorder::set_tangents(const operation& op, const span& tangents) {
  for (Index i = 0; i < op.count; ++i) tangent_[op.result + i] = detail::slot_at(tangents, i);
}

AGRAD_INLINE void tangent_recorder::set_slots(const operation& op, const span& from) {
  for (Index i = 0; i < op.count; ++i) tangent_[op.result + i] = tangent_[detail::slot_at(from, i)];
}

AGRAD_INLINE void tangent_recorder::propagate_gather(const operation& op) {
  for (Index i = 0; i < op.count; ++i) tangent_[op.result + i] = tangent_[in_.code().integers[op.data + i]];
}

AGRAD_INLINE void tangent_recorder::propagate_elementwise(const operation& op) {
  traced x[most_arguments] = {0.0, 0.0, 0.0, 0.0}, sum(0.0);
  for (Index k = 0; k < op.arity; ++k) x[k] = detail::number_of(in_, part_.now(in_, op.operands[k], op));
  const traced y = detail::number_of(in_, part_.now(in_, {op.result, op.count, 1, in_.is_active(op.result)}, op));
  for (Index k = 0; k < op.arity; ++k) {
    const span& from = op.operands[k];
    if (!part_.depends(from.first, from.count)) continue;
    const traced partial = op.what->entries->recorded_partial(k, x, y);
    if (partial.is_constant() && partial.constant() == 0) continue;
    const std::vector<slot> slots = tangent_slots(from);
    const traced along = detail::number_of(in_, in_.consecutive(slots.data(), slots.size()));
    const traced part = product_of_links(op, k, along, partial);
    sum = sum.is_constant() ? part : sum + part;
  }
  set_tangents(op, sum.slots_in(in_));
}

AGRAD_INLINE void tangent_recorder::propagate_repeated(const operation& op, const std::vector<span>& operands) {
  set_tangents(op, in_.consecutive(in_.repeat(in_, op, operands.data()), op.count));
}

AGRAD_INLINE void tangent_recorder::propagate_product(const operation& op) {
  traced sum(0.0);
  for (Index k = 0; k < 2; ++k) {
    const span& from = op.operands[k];
    if (!part_.depends(from.first, from.count)) continue;
    span operands[] = {part_.now(in_, op.operands[0], op), part_.now(in_, op.operands[1], op)};
    operands[k] = tangents_of(from);
    const traced part = detail::number_of(in_, in_.consecutive(in_.repeat(in_, op, operands), op.count));
    sum = sum.is_constant() ? part : sum + part;
  }
  set_tangents(op, sum.slots_in(in_));
}

AGRAD_INLINE traced tangent_recorder::product_of_links(const operation& op, Index k, const traced& tangent,
                                                       const traced& slope) {
  if (slope.is_constant() || !may_be_infinite(op.operands[k])) return detail::times(slope, tangent);
  std::vector<double> is_computed(op.count);
  for (Index i = 0; i < op.count; ++i)
    is_computed[i] = part_.varies(op, k, i) && part_.constant_factor(op, k, i) == op.arity ? 1.0 : 0.0;
  const auto is_any = [&](double flag) { return std::find(is_computed.begin(), is_computed.end(), flag) != is_computed.end(); };
  if (!is_any(1)) return detail::times(slope, tangent);
  if (!is_any(0)) return detail::linked(tangent, slope);
  const slot flags = in_.constant(is_computed.data(), is_computed.size());
  return apply<detail::linked_where_rule>(detail::number_of(in_, in_.consecutive(flags, op.count)), tangent, slope);
}

AGRAD_INLINE bool tangent_recorder::may_be_infinite(const span& operand) const {
  for (Index i = 0; i < operand.count; ++i)
    if (singular_.has(operand.first + i)) return true;
  return false;
}

AGRAD_INLINE traced tangent_recorder::linked(const span& operand, const traced& tangent, const traced& slope) const {
  return may_be_infinite(operand) ? detail::linked(tangent, slope) : detail::times(slope, tangent);
}

AGRAD_INLINE void tangent_recorder::propagate_log_sum_exp(const operation& op) {
  const span& x = op.operands[0];
  const detail::recorded_lines over(in_, op, x.count);
  const traced along = detail::number_of(in_, tangents_of(x));
  set_tangents(op, over.sum(linked(x, along, over.shares(part_.now(in_, x, op)))).slots_in(in_));
}

AGRAD_INLINE void tangent_recorder::propagate_log_shares(const operation& op) {
  const span& x = op.operands[0];
  const detail::recorded_lines over(in_, op, x.count);
  const traced slopes = over.slopes_of_log_shares(part_.now(in_, x, op), part_.now(in_, op.operands[1], op));
  set_tangents(op, over.sum(linked(x, detail::number_of(in_, tangents_of(x)), slopes)).slots_in(in_));
}

AGRAD_INLINE void tangent_recorder::propagate_shares(const operation& op) {
  const traced shares = detail::number_of(in_, part_.now(in_, {op.result, op.count, 1, in_.is_active(op.result)}, op));
  const traced along = detail::number_of(in_, tangents_of(op.operands[0]));
  set_tangents(op, detail::recorded_lines(in_, op, op.count).propagate_shares(shares, along).slots_in(in_));
}

AGRAD_INLINE span tangent_recorder::dense_now(const operation& op, Index k) {
  const span x = part_.now(in_, op.operands[k], op);
  if (x.stride == 1 || op.operands[k].count == 1) return x;
  const std::vector<slot> slots(op.operands[k].count, x.first);
  return in_.dense(slots.data(), slots.size());
}

AGRAD_INLINE traced tangent_recorder::looked_up(const kernel& what, const operation& op, const span& values) {
  const span operands[] = {dense_now(op, 0), dense_now(op, 1), values};
  return detail::number_of(in_, in_.consecutive(in_.apply(what, op.count, operands, 3), op.count));
}

AGRAD_INLINE void tangent_recorder::propagate_polygon(const operation& op) {
  const span &x = op.operands[0], &xp = op.operands[1], &fp = op.operands[2];
  traced along(0.0), sum(0.0);
  if (part_.depends(x.first, x.count)) along = detail::number_of(in_, tangents_of(x));
  if (part_.depends(xp.first, xp.count)) along = along - looked_up(kernels::interpolation, op, tangents_of(xp));
  if (!along.is_constant()) sum = detail::times(looked_up(kernels::interpolation_slope, op, dense_now(op, 2)), along);
  if (part_.depends(fp.first, fp.count)) {
    const traced part = looked_up(kernels::interpolation, op, tangents_of(fp));
    sum = sum.is_constant() ? part : sum + part;
  }
  set_tangents(op, sum.slots_in(in_));
}

AGRAD_INLINE void tangent_recorder::propagate_polygon_slope(const operation& op) {
  const span &xp = op.operands[1], &fp = op.operands[2];
  traced sum(0.0);
  if (part_.depends(xp.first, xp.count))
    sum = -detail::times(looked_up(kernels::interpolation_slope, op, dense_now(op, 2)),
                         looked_up(kernels::interpolation_slope, op, tangents_of(xp)));
  if (part_.depends(fp.first, fp.count)) {
    const traced part = looked_up(kernels::interpolation_slope, op, tangents_of(fp));
    sum = sum.is_constant() ? part : sum + part;
  }
  set_tangents(op, sum.slots_in(in_));
}

AGRAD_INLINE void tangent_recorder::propagate_by_loops(operation op) {
  std::vector<slot> slots = part_.operands_now(in_, op);
  part_.mark_active(op);
  for (Index k = 0; k < op.arity; ++k) {
    const std::vector<slot> tangents = tangent_slots(op.operands[k]);
    slots.insert(slots.end(), tangents.begin(), tangents.end());
  }
  auto f =
      std::make_shared<tangent_operation>(alone(in_, op), "the tangent of " + part_.name_of(in_, op), part_.is_linear(in_, op));
  set_tangents(op, in_.consecutive(in_.apply(std::move(f), in_.dense(slots.data(), slots.size()), op.count, true), op.count));
}

}  // namespace agrad
