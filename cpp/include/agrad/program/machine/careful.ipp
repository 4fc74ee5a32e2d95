// Definitions of program/machine/careful.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/base/finite.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/program/machine/careful.hpp>
#include <agrad/program/machine/groups.hpp>

namespace agrad::detail {

inline bool is_rule(const operation& op) {
  return op.what->entries != nullptr && op.what->depends.how == dependence::entrywise;
}

/// Returns whether what an operation passes on is linear, with factors that are constant: also a product with a constant.
inline bool is_linear_here(const operation& op) {
  const dependence& depends = op.what->depends;
  if (depends.how == dependence::product || depends.how == dependence::products)
    return !op.operands[0].active || !op.operands[1].active;
  return depends.is_linear;
}

template <class Marks>
bool any_marked(const Marks& marks, const std::vector<slot>& slots, std::size_t width, std::size_t k) {
  return std::any_of(slots.begin(), slots.end(), [&](slot s) { return marks[s * width + k] != 0; });
}

// ---- tangents

inline void run_tangent_of(const operation& op, const run_context& context, const double* values, double* tangents,
                           std::size_t width) {
  (width == 1 ? op.what->tangent.one : op.what->tangent.lanes)(op, context, values, tangents);
}

/// Makes results unknown where an infinite tangent met a computed slope of zero.
inline void mark_unknown_tangents(const operation& op, const run_context& context, workspace& w, std::size_t width,
                                  const slot_set& varying, const slot_set& singular) {
  double* tangents = w.tangents.data();
  if (is_rule(op)) {
    entry_slopes entry(op, context, w.values.data(), &varying);
    for (std::uint32_t j = 0; j < op.arity; ++j)
      for (std::uint32_t i = 0; op.operands[j].active && i < op.count; ++i) {
        const double* from = tangents + entry.slot_of(j, i) * width;
        if (!singular.has(entry.slot_of(j, i)) || are_finite(from, width)) continue;
        if (entry.slope(j, i) != 0 || entry.is_cut(j, i)) continue;
        for (std::size_t k = 0; k < width; ++k)
          if (!std::isfinite(from[k])) tangents[(op.result + i) * width + k] = quiet_nan;
      }
  } else if (!is_linear_here(op) && dependence_groups::are_known(op)) {
    dependence_groups(op, context).each([&](const std::vector<slot>& results, const std::vector<slot>& entries) {
      for (std::size_t k = 0; k < width; ++k) {
        if (std::all_of(entries.begin(), entries.end(),
                        [&](slot s) { return !singular.has(s) || std::isfinite(tangents[s * width + k]); }))
          continue;
        for (const slot s : results)
          if (std::isfinite(tangents[s * width + k])) tangents[s * width + k] = quiet_nan;
      }
    });
  }
}

AGRAD_INLINE void run_tangent_carefully(const program_code& code, workspace& w, int width, const std::vector<slot>& inputs) {
  const run_context context = w.context(code, true);
  const auto lanes = static_cast<std::size_t>(width);
  const unrolled all(code);
  slot_set varying(w.values.size()), singular(w.values.size());
  for (const slot s : inputs) {
    varying.set(s, true);
    singular.set(s, !are_finite(w.tangents.data() + s * lanes, lanes));
  }
  for (const operation& op : all.operations()) {
    run_tangent_of(op, context, w.values.data(), w.tangents.data(), lanes);
    mark_unknown_tangents(op, context, w, lanes, varying, singular);
    add_varying(op, context, w.values.data(), varying);
    add_singular(op, context.integers, singular);
    poll_beside(op.count);
  }
}

// ---- adjoints

AGRAD_INLINE careful_reverse::careful_reverse(const program_code& code, workspace& w, int width,
                                              const std::vector<slot>& inputs)
    : w_(w),
      width_(static_cast<Index>(width)),
      context_(w.context(code, true)),
      operations_(unrolled(code).operations()),
      varying_(w.values.size()),
      adjoints_(w.adjoints),
      tangents_(w.values.size() * width_),
      adjoint_tangents_(w.values.size() * width_) {
  for (const slot s : inputs) varying_.set(s, true);
  for (const operation& op : operations_) add_varying(op, context_, w.values.data(), varying_);
  if (width_ == 0) return;
  std::copy_n(w.tangents.begin(), tangents_.size(), tangents_.begin());
  std::copy_n(w.adjoint_tangents.begin(), adjoint_tangents_.size(), adjoint_tangents_.begin());
}

AGRAD_INLINE void careful_reverse::run(operation_watch* watch) {
  for (Index n = 0; width_ > 0 && n < operations_.size(); ++n) mark_tangents(operations_[n]);
  for (Index n = operations_.size(); n-- > 0;) {
    if (!is_reached(operations_[n])) continue;
    run(operations_[n]);
    poll_beside(operations_[n].count);
    if (watch != nullptr) watch->after_reverse(operations_[n], n, w_.values.data(), w_.adjoints.data());
  }
}

AGRAD_INLINE void careful_reverse::run(const operation& op) {
  if (is_rule(op))
    propagate(op), mark_entries(op), mark_unknown(op);
  else if (is_linear_here(op))
    propagate(op), mark_by_loops(op);
  else if (dependence_groups::are_known(op))
    propagate(op), mark_groups(op), mark_unknown_weights(op);
  else
    propagate_and_mark_changes(op);
}

AGRAD_INLINE double careful_reverse::weight(slot s) { return 1 + static_cast<double>(s * 2654435769U) / 4294967296.0; }

AGRAD_INLINE void careful_reverse::weigh(const operation& op, space& marks, Index width) const {
  for (slot s = op.result; s < op.result + op.count; ++s)
    for (Index k = 0; k < width; ++k)
      if (marks[s * width + k] != 0) marks[s * width + k] = weight(s);
}

AGRAD_INLINE bool careful_reverse::is_reached(const operation& op) const {
  const auto is_marked = [](double mark) { return mark != 0; };
  const double *first = adjoints_.data() + op.result, *lanes = adjoint_tangents_.data() + op.result * width_;
  return std::any_of(first, first + op.count, is_marked) || std::any_of(lanes, lanes + op.count * width_, is_marked);
}

AGRAD_INLINE void careful_reverse::mark_tangents(const operation& op) {
  double* marks = tangents_.data() + op.result * width_;
  if (is_rule(op)) {
    entry_slopes entry(op, context_, w_.values.data(), &varying_);
    std::fill_n(marks, op.count * width_, 0.0);
    for (std::uint32_t j = 0; j < op.arity; ++j)
      for (std::uint32_t i = 0; op.operands[j].active && i < op.count; ++i) {
        const double* from = tangents_.data() + entry.slot_of(j, i) * width_;
        if (std::all_of(from, from + width_, [](double mark) { return mark == 0; }) || entry.is_cut(j, i)) continue;
        for (Index k = 0; k < width_; ++k) marks[i * width_ + k] = from[k] != 0 ? 1.0 : marks[i * width_ + k];
      }
  } else if (is_linear_here(op)) {
    run_tangent_of(op, context_, w_.values.data(), tangents_.data(), width_);
    weigh(op, tangents_, width_);
  } else if (dependence_groups::are_known(op)) {
    std::fill_n(marks, op.count * width_, 0.0);
    dependence_groups(op, context_).each([&](const std::vector<slot>& results, const std::vector<slot>& entries) {
      for (Index k = 0; k < width_; ++k)
        if (any_marked(tangents_, entries, width_, k))
          for (const slot s : results) tangents_[s * width_ + k] = 1;
    });
  }
}

AGRAD_INLINE void careful_reverse::propagate(const operation& op) {
  if (width_ == 0) return op.what->reverse(op, context_, w_.values.data(), w_.adjoints.data());
  const second_spaces spaces{w_.values.data(), w_.tangents.data(), w_.adjoints.data(), w_.adjoint_tangents.data()};
  (width_ == 1 ? op.what->second.one : op.what->second.lanes)(op, context_, spaces);
}

AGRAD_INLINE void careful_reverse::mark_by_loops(const operation& op) {
  weigh(op, adjoints_, 1);
  if (width_ == 0) return op.what->reverse(op, context_, w_.values.data(), adjoints_.data());
  weigh(op, adjoint_tangents_, width_);
  const second_spaces marks{w_.values.data(), w_.tangents.data(), adjoints_.data(), adjoint_tangents_.data()};
  (width_ == 1 ? op.what->second.one : op.what->second.lanes)(op, context_, marks);
}

AGRAD_INLINE bool careful_reverse::is_curved(const operation& op, std::uint32_t j, std::uint32_t i, const entry_slopes& entry,
                                             Index k) const {
  for (std::uint32_t l = 0; l < op.arity; ++l)
    if (op.operands[l].active && (op.what->depends.curved[j] >> l & 1U) != 0 &&
        tangents_[entry.slot_of(l, i) * width_ + k] != 0)
      return true;
  return false;
}

AGRAD_INLINE void careful_reverse::mark_entries(const operation& op) {
  entry_slopes entry(op, context_, w_.values.data(), &varying_);
  for (std::uint32_t j = 0; j < op.arity; ++j)
    for (std::uint32_t i = 0; op.operands[j].active && i < op.count; ++i) {
      if (entry.is_cut(j, i)) continue;
      const slot x = entry.slot_of(j, i), y = op.result + i;
      if (adjoints_[y] != 0) adjoints_[x] = 1;
      for (Index k = 0; k < width_; ++k)
        if (adjoint_tangents_[y * width_ + k] != 0 || (adjoints_[y] != 0 && is_curved(op, j, i, entry, k)))
          adjoint_tangents_[x * width_ + k] = 1;
    }
}

AGRAD_INLINE void careful_reverse::mark_groups(const operation& op) {
  dependence_groups(op, context_).each([&](const std::vector<slot>& results, const std::vector<slot>& entries) {
    const bool is_reached = any_marked(adjoints_, results, 1, 0);
    for (Index k = 0; k < width_; ++k)
      if (any_marked(adjoint_tangents_, results, width_, k) || (is_reached && any_marked(tangents_, entries, width_, k)))
        for (const slot s : entries) adjoint_tangents_[s * width_ + k] = 1;
    for (const slot s : entries) adjoints_[s] = is_reached ? 1 : adjoints_[s];
  });
}

AGRAD_INLINE void careful_reverse::mark_unknown_weights(const operation& op) {
  if (!has_weights(op) || op.is_composed) return;
  const slot terms = op.operands[0].first, weights = op.operands[1].first;
  dependence_groups(op, context_).each([&](const std::vector<slot>& results, const std::vector<slot>& entries) {
    const slot y = results[0];
    for (const slot s : entries) {
      const bool is_weight = s >= weights && s < weights + op.operands[1].count;
      if (!is_weight || w_.values[y] != -infinity || w_.values[terms + (s - weights)] == -infinity) continue;
      if (adjoints_[y] != 0 && w_.adjoints[y] == 0) w_.adjoints[s] = quiet_nan;
      for (Index k = 0; k < width_; ++k)
        if (adjoint_tangents_[y * width_ + k] != 0 && w_.adjoint_tangents[y * width_ + k] == 0)
          w_.adjoint_tangents[s * width_ + k] = quiet_nan;
    }
  });
}

AGRAD_INLINE void careful_reverse::propagate_and_mark_changes(const operation& op) {
  if (op.what == &kernels::external) return propagate_external(op);
  std::vector<double> before, tangents_before;
  const auto each_operand = [&](const auto& use) {
    for (std::uint32_t j = 0; j < op.arity; ++j)
      if (op.operands[j].active) use(Index{op.operands[j].first}, Index{op.operands[j].count});
  };
  each_operand([&](Index x, Index n) {
    before.insert(before.end(), w_.adjoints.begin() + x, w_.adjoints.begin() + x + n);
    const auto from = w_.adjoint_tangents.begin() + x * width_;
    tangents_before.insert(tangents_before.end(), from, from + n * width_);
  });
  propagate(op);
  const double *was = before.data(), *tangents_were = tangents_before.data();
  each_operand([&](Index x, Index n) {
    mark_changes(was, w_.adjoints.data() + x, n, adjoints_.data() + x);
    mark_changes(tangents_were, w_.adjoint_tangents.data() + x * width_, n * width_, adjoint_tangents_.data() + x * width_);
    was += n, tangents_were += n * width_;
  });
}

AGRAD_INLINE void careful_reverse::propagate_external(const operation& op) {
  const span& x = op.operands[0];
  if (!x.active) return;
  const auto at = [&](Index s) {
    return marked_adjoints{w_.adjoints.data() + s, w_.adjoint_tangents.data() + s * width_, adjoints_.data() + s,
                           adjoint_tangents_.data() + s * width_};
  };
  std::vector<bool> varies;
  for (slot s = x.first; s < x.first + x.count; ++s) varies.push_back(varying_.has(s));
  external_loops::of(op, context_)
      .reverse_carefully(external_loops::state_of(op, context_), static_cast<int>(width_), at(op.result), at(x.first), varies);
}

AGRAD_INLINE void careful_reverse::mark_unknown(const operation& op) {
  if (op.what->depends.is_linear || op.what->depends.is_regular || op.is_composed) return;
  entry_slopes entry(op, context_, w_.values.data(), &varying_);
  for (std::uint32_t j = 0; j < op.arity; ++j)
    for (std::uint32_t i = 0; op.operands[j].active && i < op.count; ++i)
      if (!entry.is_cut(j, i)) mark_unknown(op, j, i, entry);
}

AGRAD_INLINE void careful_reverse::mark_unknown(const operation& op, std::uint32_t j, std::uint32_t i, entry_slopes& entry) {
  const slot x = entry.slot_of(j, i), y = op.result + i;
  const bool is_zero = adjoints_[y] != 0 && w_.adjoints[y] == 0;
  if (!std::isfinite(entry.slope(j, i))) {
    if (is_zero) w_.adjoints[x] = quiet_nan;
    for (Index k = y * width_; k < (y + 1) * width_; ++k)
      if (adjoint_tangents_[k] != 0 && w_.adjoint_tangents[k] == 0) w_.adjoint_tangents[x * width_ + k % width_] = quiet_nan;
  }
  if (width_ == 0 || !is_zero) return;
  double h[operation::most_operands];
  entry.slopes_of_slope(j, i, h);
  for (std::uint32_t l = 0; l < op.arity; ++l)
    for (Index k = 0; k < width_ && !std::isfinite(h[l]); ++k)
      if (w_.tangents[entry.slot_of(l, i) * width_ + k] != 0) w_.adjoint_tangents[x * width_ + k] = quiet_nan;
}

}  // namespace agrad::detail
