// Definitions of program/derive/adjoints.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/adjoints.hpp>
#include <agrad/program/kernels/checked.hpp>
#include <agrad/program/kernels/log_shares.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/machine/groups.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

AGRAD_INLINE void adjoint_recorder::reverse() {
  for (std::size_t i = part_.end(); i-- > part_.begin();) {
    const operation op = in_.code().operations[i];
    if (op.count == 0 || !part_.depends(op.result, op.count)) continue;
    const traced adjoint = adjoints_.sum(op.result, op.count);
    if (!adjoint.is_constant()) propagate(op, adjoint);
  }
}

AGRAD_INLINE std::vector<slot> adjoint_recorder::of(const std::vector<slot>& required) {
  std::vector<slot> adjoints;
  adjoints.reserve(required.size());
  while (adjoints.size() < required.size()) {
    const std::size_t begin = adjoints.size();
    Index n = 1;
    while (begin + n < required.size() && required[begin + n] == required[begin] + n) ++n;
    const span sums = adjoints_.sum(required[begin], n).slots_in(in_);
    for (Index i = 0; i < n; ++i) adjoints.push_back(detail::slot_at(sums, i));
  }
  return adjoints;
}

AGRAD_INLINE void adjoint_recorder::propagate(const operation& op, const traced& adjoint) {
  const composed_scope scope(op.is_composed);
  const kernel* what = op.what;
  if (what->entries != nullptr) return propagate_elementwise(op, adjoint);
  if (what == &kernels::gather) return propagate_gather(op, adjoint);
  if (what == &kernels::sum || what == &kernels::sum_along) return propagate_sum(op, adjoint);
  if (what == &kernels::product) return propagate_product(op, adjoint);
  if (what == &kernels::cumulative_sum) return propagate_cumulative_sum(op, adjoint);
  if (what == &kernels::scatter_add) return propagate_scatter_add(op, adjoint);
  if (what == &kernels::interpolation || what == &kernels::interpolation_slope) return propagate_polygon(op, adjoint);
  if (what == &kernels::search) return;
  if (what == &kernels::pick && !part_.depends(op.operands[1].first, op.operands[1].count)) return;
  if (what == &kernels::log_sum_exp_along && op.arity == 1) return propagate_log_sum_exp(op, adjoint);
  if (what == &kernels::log_shares_along) return propagate_log_shares(op, adjoint);
  if (what == &kernels::softmax_along || what == &kernels::shares_along) return propagate_shares(op, adjoint);
  if (what == &kernels::stop_gradient || what == &kernels::hold) return;
  if (what == &kernels::perturbation || what == &kernels::checked || what == &kernels::checked_pair)
    return propagate_each_entry(op, op.operands[0], adjoint);
  if (what == &kernels::with_derivative) return propagate_each_entry(op, op.operands[2], adjoint);
  if (what->depends.has_weights && op.arity == 2 && !op.is_composed) add_unknown_weights(op, adjoint);
  propagate_by_loops(op, adjoint);
}

AGRAD_INLINE void adjoint_recorder::propagate_lines(const operation& op, const traced& what, Index n) {
  const span &to = op.operands[0], from = what.slots_in(in_);
  if (to.count == 0 || !part_.depends(to.first, to.count)) return;
  const Index length = integers_of(op)[0], inner = integers_of(op)[1];
  const bool is_reduced = op.count < n || length == 1;
  for (Index i = 0; i < n; ++i) {
    const slot x = to.first + (to.stride == 0 ? 0 : i);
    if (!part_.depends(x)) continue;
    const Index line = i / (length * inner), begin = is_reduced ? line * inner : line * length * inner;
    for (Index j = 0; j < (is_reduced ? 1 : length) && !adjoints_.is_always_reached(x); ++j)
      adjoints_.add_way(x, op.result + begin + j * inner + i % inner);
    if (to.stride != 0 || n == 1) adjoints_.add(x, detail::slot_at(from, i));
  }
  if (to.stride == 0 && n > 1) adjoints_.add(to.first, total(from, n));
}

AGRAD_INLINE void adjoint_recorder::propagate_each_entry(const operation& op, const span& to, const traced& what,
                                                         const std::vector<slot>& cuts) {
  if (to.count == 0 || !part_.depends(to.first, to.count)) return;
  const span from = what.slots_in(in_);
  const auto cut_at = [&](Index i) { return cuts.empty() ? 0 : cuts[i]; };
  const bool is_one = to.stride == 0 && op.count > 1;
  if (is_one) adjoints_.add(to.first, total(from, op.count), op.result, cut_at(0));
  for (Index i = is_one ? 1 : 0; i < op.count; ++i) {
    if (is_one)
      adjoints_.add_way(to.first, op.result + i, cut_at(i));
    else if (part_.depends(to.first + i))
      adjoints_.add(to.first + i, detail::slot_at(from, i), op.result + i, cut_at(i));
  }
}

AGRAD_INLINE slot adjoint_recorder::total(const span& x, Index n) {
  if (x.stride == 0) return (detail::number_of(in_, x) * static_cast<double>(n)).slots_in(in_).first;
  return in_.apply(kernels::sum, 1, &x, 1, {n});
}

AGRAD_INLINE void adjoint_recorder::propagate_elementwise(const operation& op, const traced& adjoint) {
  traced x[most_arguments] = {0.0, 0.0, 0.0, 0.0};
  for (Index k = 0; k < op.arity; ++k) x[k] = detail::number_of(in_, part_.now(in_, op.operands[k], op));
  const traced y = detail::number_of(in_, part_.now(in_, {op.result, op.count, 1, in_.is_active(op.result)}, op));
  const bool is_singular = !op.what->depends.is_linear && !op.what->depends.is_regular && !op.is_composed;
  for (Index k = 0; k < op.arity; ++k) {
    const span& to = op.operands[k];
    if (!part_.depends(to.first, to.count)) continue;
    const traced partial = op.what->entries->recorded_partial(k, x, y);
    if (partial.is_constant() && partial.constant() == 0) continue;
    const traced what = is_singular ? linked(op, partial, adjoint) : detail::times(partial, adjoint);
    propagate_each_entry(op, to, what, cuts_of(op, k, x, partial));
  }
}

AGRAD_INLINE std::vector<slot> adjoint_recorder::cuts_of(const operation& op, Index k, const traced* x,
                                                         const traced& partial) const {
  std::vector<slot> cuts(op.count, 0);
  for (Index i = 0; i < op.count; ++i) {
    const Index factor = part_.constant_factor(op, k, i);
    if (factor < op.arity)
      cuts[i] = detail::slot_at(x[factor].slots(), i);
    else if (!partial.is_constant() && !part_.varies(op, k, i))
      cuts[i] = detail::slot_at(partial.slots(), i);
  }
  return cuts;
}

AGRAD_INLINE traced adjoint_recorder::linked(const operation& op, const traced& partial, const traced& adjoint) {
  if (partial.is_constant()) return detail::times(partial, adjoint);
  const traced is_reached = adjoints_.are_reached(op.result, op.count);
  if (is_reached.is_constant()) return detail::linked(partial, adjoint);
  return apply<detail::linked_where_rule>(is_reached, partial, adjoint);
}

AGRAD_INLINE void adjoint_recorder::propagate_gather(const operation& op, const traced& adjoint) {
  const span from = adjoint.slots();
  for (Index i = 0; i < op.count; ++i) {
    const slot to = integers_of(op)[i];
    if (part_.depends(to)) adjoints_.add(to, detail::slot_at(from, i), op.result + i);
  }
}

AGRAD_INLINE void adjoint_recorder::propagate_sum(const operation& op, const traced& adjoint) {
  const Index length = integers_of(op)[0], inner = op.what == &kernels::sum ? 1 : integers_of(op)[1];
  const span& to = op.operands[0];
  if (op.arity == 2) return propagate_by_loops(op, adjoint);
  const span from = adjoint.slots();
  for (Index i = 0; i < op.count; ++i)
    for (Index j = 0; j < length; ++j) {
      const slot x = to.first + (i / inner * length + j) * inner + i % inner;
      if (part_.depends(x)) adjoints_.add(x, detail::slot_at(from, i), op.result + i);
    }
}

AGRAD_INLINE std::vector<slot> adjoint_recorder::transposed(const span& x, Index rows, Index width) const {
  std::vector<slot> slots(std::size_t{rows} * width);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < width; ++j) slots[j * rows + i] = detail::slot_at(x, i * width + j);
  return slots;
}

AGRAD_INLINE span adjoint_recorder::dense(const span& x, Index n) {
  if (x.stride == 1 || n == 1) return x;
  return dense(std::vector<slot>(n, x.first));
}

AGRAD_INLINE void adjoint_recorder::propagate_product(const operation& op, const traced& adjoint) {
  const Index n = integers_of(op)[0], k = integers_of(op)[1], m = integers_of(op)[2];
  const span y = dense(adjoint.slots(), n * m);
  const span a = part_.now(in_, op.operands[0], op), b = part_.now(in_, op.operands[1], op);
  if (part_.depends(op.operands[0].first, op.operands[0].count))
    propagate_matrix(op, 0, y, dense(transposed(b, k, m)), n, m, k);
  if (part_.depends(op.operands[1].first, op.operands[1].count))
    propagate_matrix(op, 1, dense(transposed(a, n, k)), y, k, n, m);
}

AGRAD_INLINE void adjoint_recorder::propagate_matrix(const operation& op, Index k, const span& left, const span& right,
                                                     Index rows, Index inner, Index width) {
  const span& to = op.operands[k];
  const span operands[] = {left, right};
  const slot first = in_.apply(kernels::product, std::size_t{rows} * width, operands, 2, {rows, inner, width});
  for (Index i = 0; i < rows * width; ++i) {
    const Index row = i / width, column = i % width;
    if (!part_.depends(to.first + i)) continue;
    bool is_any = false;
    for (Index q = 0; q < inner; ++q) {
      const slot y = op.result + (k == 0 ? row * inner + q : q * width + column);
      const slot factor = k == 0 ? detail::slot_at(right, q * width + column) : detail::slot_at(left, row * inner + q);
      if (!in_.is_active(factor) && in_.value(factor) == 0) continue;
      is_any = true;
      adjoints_.add_way(to.first + i, y);
      if (adjoints_.is_always_reached(to.first + i)) break;
    }
    if (is_any) adjoints_.add(to.first + i, first + i);
  }
}

AGRAD_INLINE void adjoint_recorder::propagate_cumulative_sum(const operation& op, const traced& adjoint) {
  const Index length = integers_of(op)[0], inner = integers_of(op)[1];
  const span turned = dense(turned_round(adjoint.slots(), op.count, length, inner));
  const slot sums = in_.apply(kernels::cumulative_sum, op.count, &turned, 1, {length, inner});
  const span back = dense(turned_round(in_.consecutive(sums, op.count), op.count, length, inner));
  propagate_lines(op, detail::number_of(in_, back), op.count);
}

AGRAD_INLINE std::vector<slot> adjoint_recorder::turned_round(const span& x, Index n, Index length, Index inner) {
  std::vector<slot> slots(n);
  for (Index i = 0; i < n; ++i) {
    const Index j = i / inner % length;
    slots[i] = detail::slot_at(x, i + (length - 1 - 2 * j) * inner);
  }
  return slots;
}

AGRAD_INLINE void adjoint_recorder::propagate_log_sum_exp(const operation& op, const traced& adjoint) {
  const Index n = op.operands[0].count;
  const detail::recorded_lines over(in_, op, n);
  const traced shares = over.shares(part_.now(in_, op.operands[0], op));
  propagate_lines(op, detail::times(shares, over.spread(adjoint.slots_in(in_))), n);
}

AGRAD_INLINE void adjoint_recorder::propagate_log_shares(const operation& op, const traced& adjoint) {
  const Index n = op.operands[0].count;
  const detail::recorded_lines over(in_, op, n);
  const traced slopes = over.slopes_of_log_shares(part_.now(in_, op.operands[0], op), part_.now(in_, op.operands[1], op));
  propagate_lines(op, detail::times(slopes, over.spread(adjoint.slots_in(in_))), n);
}

AGRAD_INLINE void adjoint_recorder::propagate_shares(const operation& op, const traced& adjoint) {
  const traced shares = detail::number_of(in_, part_.now(in_, {op.result, op.count, 1, in_.is_active(op.result)}, op));
  propagate_lines(op, detail::recorded_lines(in_, op, op.count).propagate_shares(shares, adjoint), op.count);
}

AGRAD_INLINE void adjoint_recorder::propagate_polygon(const operation& op, const traced& adjoint) {
  const auto depends = [&](Index k) { return part_.depends(op.operands[k].first, op.operands[k].count); };
  if (depends(1) || depends(2)) return propagate_by_loops(op, adjoint);
  if (op.what == &kernels::interpolation_slope) return;
  const span operands[] = {dense(part_.now(in_, op.operands[0], op), op.operands[0].count),
                           dense(part_.now(in_, op.operands[1], op), op.operands[1].count),
                           dense(part_.now(in_, op.operands[2], op), op.operands[2].count)};
  const slot slopes = in_.apply(kernels::interpolation_slope, op.count, operands, 3);
  propagate_each_entry(op, op.operands[0], detail::times(detail::number_of(in_, in_.consecutive(slopes, op.count)), adjoint));
}

AGRAD_INLINE void adjoint_recorder::propagate_scatter_add(const operation& op, const traced& adjoint) {
  const span from = adjoint.slots(), &v = op.operands[1], &places = op.operands[2];
  propagate_each_entry(op, op.operands[0], adjoint);
  for (Index i = 0; i < v.count; ++i) {
    const auto place = static_cast<Index>(in_.value(places.first + i));
    if (part_.depends(v.first + i)) adjoints_.add(v.first + i, detail::slot_at(from, place), op.result + place);
  }
}

AGRAD_INLINE void adjoint_recorder::propagate_by_formulas(const operation& op, const traced& adjoint) {
  const composed_scope scope;
  span operands[operation::most_operands];
  std::vector<Index> by_tangents;
  for (Index k = 0; k < op.arity; ++k) {
    operands[k] = part_.now(in_, op.operands[k], op);
    if (op.operands[k].count > 0 && part_.depends(op.operands[k].first, op.operands[k].count)) by_tangents.push_back(k);
  }
  const std::vector<std::uint32_t> integers(integers_of(op), integers_of(op) + op.data_count);
  const auto is_done = [&](Index k) {
    if (op.what->formulas->transposed == nullptr) return false;
    const std::vector<slot> slots = op.what->formulas->transposed(in_, integers.data(), operands, k, adjoint.slots());
    for (Index i = 0; i < slots.size(); ++i) adjoints_.add(op.operands[k].first + i, slots[i], op);
    return !slots.empty();
  };
  by_tangents.erase(std::remove_if(by_tangents.begin(), by_tangents.end(), is_done), by_tangents.end());
  if (!by_tangents.empty()) propagate_transposed(op, operands, by_tangents, adjoint);
}

AGRAD_INLINE void adjoint_recorder::propagate_transposed(const operation& op, const span* operands,
                                                         const std::vector<Index>& variables, const traced& adjoint) {
  const std::vector<std::uint32_t> integers(integers_of(op), integers_of(op) + op.data_count);
  const span y = part_.now(in_, in_.consecutive(op.result, op.count), op);
  span tangents[operation::most_operands];
  std::vector<slot> zeros, along;
  for (const Index k : variables) {
    zeros.assign(operands[k].count, 0);
    tangents[k] = in_.consecutive(in_.variables(zeros.data(), zeros.size()), zeros.size());
    for (Index i = 0; i < tangents[k].count; ++i) along.push_back(tangents[k].first + i);
  }
  const std::size_t begin = in_.code().operations.size();
  const std::vector<slot> result = op.what->formulas->tangent(in_, integers.data(), operands, y, tangents);
  std::vector<slot> seeds(result.size());
  for (Index i = 0; i < result.size(); ++i) seeds[i] = detail::slot_at(adjoint.slots(), i);
  const std::vector<slot> back = detail::adjoints_by_formulas(in_, begin, result, seeds, along);
  std::size_t at = 0;
  for (const Index k : variables)
    for (Index i = 0; i < operands[k].count; ++i) adjoints_.add(op.operands[k].first + i, back[at++], op);
}

AGRAD_INLINE void adjoint_recorder::propagate_by_loops(operation op, const traced& adjoint) {
  if (by_formulas_ && op.what->formulas != nullptr && op.what->formulas->tangent != nullptr)
    return propagate_by_formulas(op, adjoint);
  std::vector<slot> slots = part_.operands_now(in_, op);
  part_.mark_active(op);
  const std::size_t n = slots.size();
  const span from = adjoint.slots();
  for (Index i = 0; i < op.count; ++i) slots.push_back(detail::slot_at(from, i));
  std::vector<bool> wanted;
  for (Index k = 0; k < op.arity; ++k)
    for (Index i = 0; i < op.operands[k].count; ++i) wanted.push_back(part_.depends(op.operands[k].first + i));
  auto f = std::make_shared<reverse_operation>(alone(in_, op, wanted), "the reverse pass of " + part_.name_of(in_, op),
                                               part_.is_linear(in_, op));
  const slot first = in_.apply(std::move(f), dense(slots), n, true);
  const bool has_groups = !op.what->depends.is_linear && detail::dependence_groups::are_known(op);
  Index at = first;
  for (Index k = 0; k < op.arity; ++k)
    for (Index i = 0; i < op.operands[k].count; ++i, ++at) {
      const slot x = op.operands[k].first + i;
      if (!part_.depends(x)) continue;
      if (has_groups)
        adjoints_.add(x, at);
      else
        adjoints_.add(x, at, op);
    }
  if (has_groups) add_ways_of_groups(op);
}

AGRAD_INLINE void adjoint_recorder::add_unknown_weights(const operation& op, const traced& adjoint) {
  const span &x = op.operands[0], &weights = op.operands[1];
  if (weights.count == 0 || !part_.depends(weights.first, weights.count)) return;
  const detail::recorded_lines over(in_, op, weights.count);
  const traced y = over.spread(part_.now(in_, {op.result, op.count, 1, in_.is_active(op.result)}, op));
  const traced reached = adjoints_.are_reached(op.result, op.count), terms = detail::number_of(in_, part_.now(in_, x, op));
  traced is_unknown = y == -infinity && over.spread(adjoint.slots_in(in_)) == 0.0 && terms > -infinity;
  if (!reached.is_constant()) is_unknown = is_unknown && over.spread(reached.slots_in(in_)) != 0.0;
  const span unknown = either(is_unknown, traced(quiet_nan), traced(0.0)).slots_in(in_);
  for (Index i = 0; i < weights.count; ++i)
    if (part_.depends(weights.first + i)) adjoints_.add(weights.first + i, detail::slot_at(unknown, i));
}

AGRAD_INLINE void adjoint_recorder::add_ways_of_groups(const operation& op) {
  run_context context;
  context.integers = in_.code().integers.data();
  detail::dependence_groups(op, context).each([&](const std::vector<slot>& results, const std::vector<slot>& entries) {
    for (const slot x : entries)
      for (const slot y : results)
        if (part_.depends(x)) adjoints_.add_way(x, y);
  });
}

}  // namespace agrad

namespace agrad::detail {

AGRAD_INLINE std::vector<slot> adjoints_by_formulas(recorder& in, std::size_t begin, const std::vector<slot>& outputs,
                                                    const std::vector<slot>& seeds, const std::vector<slot>& required) {
  recorded_part part(in, begin, in.code().operations.size(), required);
  adjoint_recorder back(in, part, true);
  for (std::size_t i = 0; i < outputs.size(); ++i) back.seed(outputs[i], seeds[i]);
  back.reverse();
  return back.of(required);
}

}  // namespace agrad::detail
