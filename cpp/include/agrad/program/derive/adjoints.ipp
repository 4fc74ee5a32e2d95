// Definitions of program/derive/adjoints.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/adjoints.hpp>
#include <agrad/program/kernels/checked.hpp>
#include <agrad/program/kernels/log_shares.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
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
    return propagate_entries(op.operands[0], adjoint, op.count);
  if (what == &kernels::with_derivative) return propagate_entries(op.operands[2], adjoint, op.count);
  propagate_by_loops(op, adjoint);
}

AGRAD_INLINE void adjoint_recorder::propagate_entries(const span& to, const traced& what, Index n) {
  if (to.count == 0 || !part_.depends(to.first, to.count)) return;
  const span from = what.slots_in(in_);
  if (to.stride == 0 && n > 1) return adjoints_.add(to.first, total(from, n));
  for (Index i = 0; i < n; ++i)
    if (part_.depends(to.first + i)) adjoints_.add(to.first + i, detail::slot_at(from, i));
}

AGRAD_INLINE slot adjoint_recorder::total(const span& x, Index n) {
  if (x.stride == 0) return (detail::number_of(in_, x) * static_cast<double>(n)).slots_in(in_).first;
  return in_.apply(kernels::sum, 1, &x, 1, {n});
}

AGRAD_INLINE void adjoint_recorder::propagate_elementwise(const operation& op, const traced& adjoint) {
  traced x[most_arguments] = {0.0, 0.0, 0.0, 0.0};
  for (Index k = 0; k < op.arity; ++k) x[k] = detail::number_of(in_, part_.now(in_, op.operands[k], op));
  const traced y = detail::number_of(in_, part_.now(in_, {op.result, op.count, 1, in_.is_active(op.result)}, op));
  for (Index k = 0; k < op.arity; ++k) {
    const span& to = op.operands[k];
    if (!part_.depends(to.first, to.count)) continue;
    const traced partial = op.what->entries->recorded_partial(k, x, y);
    if (partial.is_constant() && partial.constant() == 0) continue;
    propagate_entries(to, detail::times(partial, adjoint), op.count);
  }
}

AGRAD_INLINE void adjoint_recorder::propagate_gather(const operation& op, const traced& adjoint) {
  const span from = adjoint.slots();
  for (Index i = 0; i < op.count; ++i) {
    const slot to = integers_of(op)[i];
    if (part_.depends(to)) adjoints_.add(to, detail::slot_at(from, i));
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
      if (part_.depends(x)) adjoints_.add(x, detail::slot_at(from, i));
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
    propagate_matrix(op.operands[0], y, dense(transposed(b, k, m)), n, m, k);
  if (part_.depends(op.operands[1].first, op.operands[1].count))
    propagate_matrix(op.operands[1], dense(transposed(a, n, k)), y, k, n, m);
}

AGRAD_INLINE void adjoint_recorder::propagate_matrix(const span& to, const span& left, const span& right, Index rows,
                                                     Index inner, Index width) {
  const span operands[] = {left, right};
  const slot first = in_.apply(kernels::product, std::size_t{rows} * width, operands, 2, {rows, inner, width});
  propagate_entries(to, detail::number_of(in_, in_.consecutive(first, std::size_t{rows} * width)), rows * width);
}

AGRAD_INLINE void adjoint_recorder::propagate_cumulative_sum(const operation& op, const traced& adjoint) {
  const Index length = integers_of(op)[0], inner = integers_of(op)[1];
  const span turned = dense(turned_round(adjoint.slots(), op.count, length, inner));
  const slot sums = in_.apply(kernels::cumulative_sum, op.count, &turned, 1, {length, inner});
  const span back = dense(turned_round(in_.consecutive(sums, op.count), op.count, length, inner));
  propagate_entries(op.operands[0], detail::number_of(in_, back), op.count);
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
  propagate_entries(op.operands[0], detail::times(shares, over.spread(adjoint.slots_in(in_))), n);
}

AGRAD_INLINE void adjoint_recorder::propagate_log_shares(const operation& op, const traced& adjoint) {
  const Index n = op.operands[0].count;
  const detail::recorded_lines over(in_, op, n);
  const traced slopes = over.slopes_of_log_shares(part_.now(in_, op.operands[0], op), part_.now(in_, op.operands[1], op));
  propagate_entries(op.operands[0], detail::times(slopes, over.spread(adjoint.slots_in(in_))), n);
}

AGRAD_INLINE void adjoint_recorder::propagate_shares(const operation& op, const traced& adjoint) {
  const traced shares = detail::number_of(in_, part_.now(in_, {op.result, op.count, 1, in_.is_active(op.result)}, op));
  propagate_entries(op.operands[0], detail::recorded_lines(in_, op, op.count).propagate_shares(shares, adjoint), op.count);
}

AGRAD_INLINE void adjoint_recorder::propagate_polygon(const operation& op, const traced& adjoint) {
  const auto depends = [&](Index k) { return part_.depends(op.operands[k].first, op.operands[k].count); };
  if (depends(1) || depends(2)) return propagate_by_loops(op, adjoint);
  if (op.what == &kernels::interpolation_slope) return;
  const span operands[] = {dense(part_.now(in_, op.operands[0], op), op.operands[0].count),
                           dense(part_.now(in_, op.operands[1], op), op.operands[1].count),
                           dense(part_.now(in_, op.operands[2], op), op.operands[2].count)};
  const slot slopes = in_.apply(kernels::interpolation_slope, op.count, operands, 3);
  propagate_entries(op.operands[0], detail::times(detail::number_of(in_, in_.consecutive(slopes, op.count)), adjoint),
                    op.count);
}

AGRAD_INLINE void adjoint_recorder::propagate_scatter_add(const operation& op, const traced& adjoint) {
  const span from = adjoint.slots(), &v = op.operands[1], &places = op.operands[2];
  propagate_entries(op.operands[0], adjoint, op.count);
  for (Index i = 0; i < v.count; ++i)
    if (part_.depends(v.first + i))
      adjoints_.add(v.first + i, detail::slot_at(from, static_cast<Index>(in_.value(places.first + i))));
}

AGRAD_INLINE void adjoint_recorder::propagate_by_formulas(const operation& op, const traced& adjoint) {
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
    for (Index i = 0; i < slots.size(); ++i) adjoints_.add(op.operands[k].first + i, slots[i]);
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
    for (Index i = 0; i < operands[k].count; ++i) adjoints_.add(op.operands[k].first + i, back[at++]);
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
  Index at = first;
  for (Index k = 0; k < op.arity; ++k)
    for (Index i = 0; i < op.operands[k].count; ++i, ++at)
      if (part_.depends(op.operands[k].first + i)) adjoints_.add(op.operands[k].first + i, at);
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
