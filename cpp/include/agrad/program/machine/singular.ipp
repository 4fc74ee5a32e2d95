// Definitions of program/machine/singular.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/base/finite.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/program/machine/singular.hpp>

namespace agrad::detail {

// ---- one entry

AGRAD_INLINE void entry_slopes::read(std::uint32_t i) {
  for (std::uint32_t k = 0; k < op_.arity; ++k) x_[k] = values_ + slot_of(k, i);
}

AGRAD_INLINE double entry_slopes::slope(std::uint32_t j, std::uint32_t i) {
  double d = 0;
  read(i);
  op_.what->entries->partial(j, 1, x_, values_ + op_.result + i, &d);
  return d;
}

AGRAD_INLINE void entry_slopes::slopes_of_slope(std::uint32_t j, std::uint32_t i, double* h) {
  unsigned curved = op_.what->depends.curved[j];
  for (std::uint32_t l = 0; l < op_.arity; ++l) curved &= ~(op_.operands[l].active ? 0U : 1U << l);
  std::fill_n(h, op_.arity, 0.0);
  if (curved == 0) return;
  double d = 0, all[most_arguments] = {};
  double* to[most_arguments] = {all, all + 1, all + 2, all + 3};
  read(i);
  op_.what->entries->second(j, 1, x_, values_ + op_.result + i, &d, to);
  for (std::uint32_t l = 0; l < op_.arity; ++l) h[l] = (curved >> l & 1U) != 0 ? all[l] : 0.0;
}

AGRAD_INLINE bool entry_slopes::is_cut(std::uint32_t j, std::uint32_t i) {
  const dependence& depends = op_.what->depends;
  if (!varies(j, i)) return true;
  if (op_.arity == 1) return false;
  bool is_curved = false;  // whether the slope depends on what varies
  for (std::uint32_t l = 0; l < op_.arity; ++l) {
    if (l != j && !varies(l, i) && (depends.zero_with >> l & 1U) != 0 && values_[slot_of(l, i)] == 0) return true;
    is_curved = is_curved || (varies(l, i) && (depends.curved[j] >> l & 1U) != 0);
  }
  return !is_curved && slope(j, i) == 0;
}

AGRAD_INLINE bool may_be_singular(const operation& op) {
  if (has_weights(op)) return !op.is_composed;
  if (op.what->entries == nullptr || op.what->depends.is_linear || op.what->depends.is_regular || op.is_composed) return false;
  return std::any_of(op.operands.begin(), op.operands.begin() + op.arity, [](const span& x) { return x.active; });
}

AGRAD_INLINE void add_singular(const operation& op, const std::uint32_t* integers, slot_set& singular) {
  if (op.what == &kernels::gather) {
    for (std::uint32_t i = 0; i < op.count; ++i) singular.set(op.result + i, singular.has(integers[op.data + i]));
    return;
  }
  bool is_any = may_be_singular(op) || op.what == &kernels::external;
  for (std::uint32_t k = 0; k < op.arity; ++k)
    for (std::uint32_t i = 0; op.operands[k].active && i < op.operands[k].count && !is_any; ++i)
      is_any = singular.has(slot_of_entry(integers, op.operands[k], i));
  for (std::uint32_t i = 0; i < op.count; ++i) singular.set(op.result + i, is_any);
}

AGRAD_INLINE void add_varying(const operation& op, const run_context& context, const double* values, slot_set& varying) {
  if (op.what->depends.how == dependence::on_nothing) return;
  if (op.what->depends.how == dependence::gathered) {
    for (std::uint32_t i = 0; i < op.count; ++i) varying.set(op.result + i, varying.has(context.integers[op.data + i]));
  } else if (op.what->entries != nullptr) {
    entry_slopes entry(op, context, values, &varying);
    for (std::uint32_t i = 0; i < op.count; ++i) {
      bool varies = false;
      for (std::uint32_t j = 0; j < op.arity && !varies; ++j) varies = !entry.is_cut(j, i);
      varying.set(op.result + i, varies);
    }
  } else {
    bool varies = false;
    for (std::uint32_t k = 0; k < op.arity; ++k)
      for (std::uint32_t i = 0; op.operands[k].active && i < op.operands[k].count && !varies; ++i)
        varies = varying.has(slot_of_entry(context.integers, op.operands[k], i));
    for (std::uint32_t i = 0; i < op.count; ++i) varying.set(op.result + i, varies);
  }
}

// ---- all entries

AGRAD_INLINE singular_entries::singular_entries(const program_code& code, const std::function<bool(std::size_t)>& is_included) {
  for (std::size_t n = 0; n < code.operations.size(); ++n) {
    if (is_included && !is_included(n)) continue;
    const operation& op = code.operations[n];
    const auto number = static_cast<std::uint32_t>(n);
    if (op.what == &kernels::external && op.operands[0].active) externals_.push_back({op.result, op.count, number, 0});
    if (op.what != &kernels::straight) {
      if (op.count > 0 && may_be_singular(op)) places_.push_back({op.result, op.count, number, 0});
      continue;
    }
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const instruction& each = code.instructions[op.data + i];
      const straight_steps& step = *each.what;
      if (step.active != 0 && !step.depends.is_linear && !step.depends.is_regular && !each.is_composed)
        places_.push_back({op.result + i, 1, number, i});
    }
  }
}

AGRAD_INLINE operation singular_entries::at(const program_code& code, const place& p) const {
  const operation& op = code.operations[p.operation];
  return op.what == &kernels::straight ? operation_of_step(code.instructions[op.data + p.step], p.result) : op;
}

AGRAD_INLINE bool singular_entries::meet_zero(const program_code& code, workspace& w, const double* adjoints) const {
  return (w.slopes[0] != slopes_are::finite && have_zero(adjoints) && have_infinite_slope(code, w, 1)) ||
         externals_met_zero(code, w);
}

AGRAD_INLINE bool singular_entries::meet_zero_of_second(const program_code& code, workspace& w) const {
  return (w.slopes[1] != slopes_are::finite && (have_zero(w.adjoints.data()) || have_infinite_adjoint(code, w)) &&
          have_infinite_slope(code, w, 2)) ||
         externals_met_zero(code, w);
}

AGRAD_INLINE bool singular_entries::externals_met_zero(const program_code& code, const workspace& w) const {
  return std::any_of(externals_.begin(), externals_.end(), [&](const place& p) {
    const std::uint32_t number = code.integers[code.operations[p.operation].data];
    return code.externals[number]->met_zero(*w.states[number]);
  });
}

AGRAD_INLINE bool singular_entries::have_zero(const double* adjoints) const {
  return std::any_of(places_.begin(), places_.end(), [&](const place& p) { return has_zero(adjoints + p.result, p.count); });
}

AGRAD_INLINE bool singular_entries::have_infinite_adjoint(const program_code& code, const workspace& w) const {
  return std::any_of(places_.begin(), places_.end(), [&](const place& p) {
    const operation op = at(code, p);
    for (std::uint32_t k = 0; k < op.arity; ++k)
      for (std::uint32_t i = 0; op.operands[k].active && i < op.operands[k].count; ++i)
        if (!std::isfinite(w.adjoints[slot_of_entry(code.integers.data(), op.operands[k], i)])) return true;
    return false;
  });
}

AGRAD_INLINE bool singular_entries::have_infinite_slope(const program_code& code, workspace& w, int order) const {
  slopes_are& state = w.slopes[static_cast<std::size_t>(order) - 1];
  if (state == slopes_are::unknown) {
    const run_context context = w.context(code, true);
    const bool found = std::any_of(places_.begin(), places_.end(), [&](const place& p) {
      poll_beside(p.count);
      return has_infinite_slope(at(code, p), context, w.values.data(), order);
    });
    state = found ? slopes_are::infinite : slopes_are::finite;
  }
  return state == slopes_are::infinite;
}

AGRAD_INLINE bool singular_entries::has_infinite_slope(const operation& op, const run_context& context, const double* values,
                                                       int order) {
  if (has_weights(op)) return std::count(values + op.result, values + op.result + op.count, -infinity) > 0;
  entry_slopes entry(op, context, values);
  double h[operation::most_operands];
  for (std::uint32_t j = 0; j < op.arity; ++j)
    for (std::uint32_t i = 0; op.operands[j].active && i < op.count; ++i) {
      if (!std::isfinite(entry.slope(j, i))) return true;
      if (order == 1) continue;
      entry.slopes_of_slope(j, i, h);
      if (!are_finite(h, op.arity)) return true;
    }
  return false;
}

AGRAD_INLINE bool singular_entries::meet_infinite(const workspace& w, int width) const {
  const auto lanes = static_cast<std::size_t>(width);
  const auto is_infinite = [&](const place& p) { return !are_finite(w.tangents.data() + p.result * lanes, p.count * lanes); };
  return std::any_of(places_.begin(), places_.end(), is_infinite) ||
         std::any_of(externals_.begin(), externals_.end(), is_infinite);
}

}  // namespace agrad::detail
