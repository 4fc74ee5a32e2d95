// Definitions of solve/system/program/linearization.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/linearization.hpp>

namespace agrad {

AGRAD_INLINE std::shared_ptr<const linearization> linearization::of(const program& f, std::size_t n,
                                                                    const csr_pattern& rows_of_columns, std::size_t required,
                                                                    int points) {
  const std::size_t most = 2 * detail::work_of(f) + 64;
  linearization result(n, rows_of_columns, required, points);
  if (result.rows_.size() > most || result.rows_.size() * result.points_ > most_entries) return nullptr;
  detail::derivative_flow flow(f, 1, required, 2 * most);  // some operations will turn out to be unused
  if (!flow.run()) return nullptr;
  result.record(f, flow);
  if (detail::work_of(*result.entries_) > most * result.points_) return nullptr;
  return std::make_shared<const linearization>(std::move(result));
}

AGRAD_INLINE void linearization::evaluate(workspace& w, const double* t, const double* y, const double* p) const {
  w.inputs.resize(entries_->input_size());
  double* to = std::copy_n(t, points_, w.inputs.data());
  for (std::size_t i = 0; i < states_; ++i)
    for (std::size_t k = 0; k < points_; ++k) *to++ = y[k * states_ + i];
  std::copy_n(p, w.inputs.data() + w.inputs.size() - to, to);
  entries_->run(w.run, w.inputs.data());
}

AGRAD_INLINE void linearization::product(const workspace& w, std::size_t k, const double* lambda, double* y_adjoint,
                                         double* parameter_adjoint) const {
  const entries_at at{w.run.values.data(), entries_->outputs().data() + k * rows_.size(), lambda};
  if (has_ranges()) return product_by_ranges(at, k, y_adjoint, parameter_adjoint);
  if (y_adjoint != nullptr) multiply(at, 0, states_, y_adjoint);
  if (parameter_adjoint != nullptr) multiply(at, states_, first_.size() - 1, parameter_adjoint);
}

AGRAD_INLINE void linearization::forward_product(const workspace& at, std::size_t k, const double* v, const double* w,
                                                 double* to) const {
  const double* values = at.run.values.data();
  const slot* slots = entries_->outputs().data() + k * rows_.size();
  double none = 0;
  if (has_ranges()) {
    std::fill_n(to, states_, 0.0);
    for (const detail::entry_range& run : of_states_[k]) run.add_forward_product(values, v, to);
    for (const detail::entry_range& run : of_parameters_[k])
      if (w != nullptr) run.add_forward_product(values, w, to);
    none = (0 * Eigen::Map<const Eigen::VectorXd>(to, static_cast<Eigen::Index>(states_))).sum();
  } else {
    const row_entry* entries = by_rows_.data() + k * rows_.size();
    const auto part = [&](std::size_t of, const double* factors) {
      double sum = 0;
      for (std::uint32_t q = of_rows_[of]; q < of_rows_[of + 1]; ++q)
        sum += values[entries[q].value] * factors[entries[q].column];
      return sum;
    };
    for (std::size_t i = 0; i < states_; ++i) {
      to[i] = part(2 * i, v) + (w != nullptr ? part(2 * i + 1, w) : 0);
      none += 0 * to[i];
    }
  }
  if (none != 0) forward_carefully(values, slots, v, w, to);
}

AGRAD_INLINE void linearization::forward_carefully(const double* values, const slot* slots, const double* v, const double* w,
                                                   double* to) const {
  std::fill_n(to, states_, 0.0);
  for (std::size_t j = 0; j + 1 < first_.size(); ++j) {
    const double factor = j < states_ ? v[j] : w != nullptr ? w[j - states_] : 0;
    for (std::uint32_t e = first_[j]; e < first_[j + 1] && factor != 0; ++e) to[rows_[e]] += values[slots[e]] * factor;
  }
}

AGRAD_INLINE void linearization::order_by_rows() {
  const auto place = [&](std::size_t j, std::uint32_t e) { return 2 * rows_[e] + (j < states_ ? 0 : 1); };
  of_rows_.assign(2 * states_ + 1, 0);
  by_rows_.resize(rows_.size() * points_);
  const auto each = [&](const auto& use) {
    for (std::size_t j = 0; j + 1 < first_.size(); ++j)
      for (std::uint32_t e = first_[j]; e < first_[j + 1]; ++e) use(j, e);
  };
  each([&](std::size_t j, std::uint32_t e) { ++of_rows_[place(j, e) + 1]; });
  std::partial_sum(of_rows_.begin(), of_rows_.end(), of_rows_.begin());
  for (std::size_t k = 0; k < points_; ++k) {
    const slot* slots = entries_->outputs().data() + k * rows_.size();
    row_entry* entries = by_rows_.data() + k * rows_.size();
    std::vector<std::uint32_t> next(of_rows_.begin(), of_rows_.end() - 1);
    each([&](std::size_t j, std::uint32_t e) {
      entries[next[place(j, e)]++] = {slots[e], static_cast<std::uint32_t>(j < states_ ? j : j - states_)};
    });
  }
}

AGRAD_INLINE linearization::linearization(std::size_t n, const csr_pattern& rows_of_columns, std::size_t required, int points)
    : states_(n), points_(static_cast<std::size_t>(points)), first_{0} {
  for (std::size_t j = 0; j < required; ++j) {
    const auto rows = rows_of_columns.row(j);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    first_.push_back(static_cast<std::uint32_t>(rows_.size()));
  }
}

AGRAD_INLINE void linearization::record(const program& f, detail::derivative_flow& flow) {
  std::vector<slot> entries;
  for (std::size_t j = 0; j + 1 < first_.size(); ++j)
    for (std::uint32_t e = first_[j]; e < first_[j + 1]; ++e)
      entries.push_back(flow.entry(rows_[e], static_cast<std::uint32_t>(j)));
  const recorder& of_point = flow.recording();
  recorder all;
  batch_recorder batch(all, of_point, static_cast<std::uint32_t>(points_));
  for (std::size_t i = 0; i < f.input_size(); ++i) {
    const bool varies = i <= states_;  // t and the states
    const std::vector<double> values(varies ? points_ : 1, f.fixed()[f.inputs()[i]]);
    batch.set_place(of_point.inputs()[i], {all.input(values.data(), values.size()), varies ? 1U : 0U});
  }
  batch.run();
  std::vector<slot> outputs;
  for (std::uint32_t k = 0; k < points_; ++k)
    for (const slot s : entries) outputs.push_back(batch.at(s).row(k));
  entries_ = schedule(all, outputs);
  find_ranges();
  if (!has_ranges()) order_by_rows();
  find_kept();
}

AGRAD_INLINE void linearization::find_kept() {
  std::vector<slot> slots = entries_->outputs();
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  const std::vector<slot>& inputs = entries_->inputs();
  for (const slot s : slots) {
    if (s < entries_->fixed().size() && std::find(inputs.begin(), inputs.end(), s) == inputs.end()) continue;
    if (kept_.empty() || kept_.back().first + kept_.back().count != s) kept_.push_back({s, 0});
    ++kept_.back().count, ++kept_size_;
  }
  if (kept_size_ > most_kept) kept_size_ = 0;
}

AGRAD_INLINE void linearization::keep(const workspace& w, double* to) const {
  for (const slot_range& each : kept_) to = std::copy_n(w.run.values.data() + each.first, each.count, to);
}

AGRAD_INLINE void linearization::restore(workspace& w, const double* from) const {
  for (const slot_range& each : kept_) {
    std::copy_n(from, each.count, w.run.values.data() + each.first);
    from += each.count;
  }
}

AGRAD_INLINE void linearization::find_ranges() {
  std::size_t ranges = 0;
  for (std::size_t k = 0; k < points_; ++k) {
    const slot* slots = entries_->outputs().data() + k * rows_.size();
    of_states_.push_back(detail::entry_ranges(first_, rows_, slots, 0, states_));
    of_parameters_.push_back(detail::entry_ranges(first_, rows_, slots, states_, first_.size() - 1));
    ranges += of_states_.back().size() + of_parameters_.back().size();
  }
  if (ranges * least_length > rows_.size() * points_) of_states_.clear(), of_parameters_.clear();
}

AGRAD_INLINE void linearization::multiply(const entries_at& at, std::size_t begin, std::size_t end, double* to) const {
  double none = 0;
  for (std::size_t j = begin; j < end; ++j) {
    double sum = 0;
    for (std::uint32_t e = first_[j]; e < first_[j + 1]; ++e) sum += at.lambda[rows_[e]] * at.entry(e);
    to[j - begin] = sum;
    none += 0 * sum;
  }
  if (none != 0) multiply_carefully(at, begin, end, to);
}

// The function is not inlined, because the loops above become slower beside inlined code.
[[gnu::noinline]] AGRAD_INLINE void linearization::product_by_ranges(const entries_at& at, std::size_t k, double* y_adjoint,
                                                                     double* parameter_adjoint) const {
  const auto multiply_ranges = [&](const std::vector<detail::entry_range>& ranges, std::size_t begin, std::size_t end,
                                   double* to) {
    std::fill_n(to, end - begin, 0.0);
    for (const detail::entry_range& run : ranges) run.add_product(at.values, at.lambda, to);
    const Eigen::Map<const Eigen::VectorXd> sums(to, static_cast<Eigen::Index>(end - begin));
    if ((0 * sums).sum() != 0) multiply_carefully(at, begin, end, to);
  };
  if (y_adjoint != nullptr) multiply_ranges(of_states_[k], 0, states_, y_adjoint);
  if (parameter_adjoint != nullptr) multiply_ranges(of_parameters_[k], states_, first_.size() - 1, parameter_adjoint);
}

AGRAD_INLINE void linearization::multiply_carefully(const entries_at& at, std::size_t begin, std::size_t end,
                                                    double* to) const {
  for (std::size_t j = begin; j < end; ++j) {
    to[j - begin] = 0;
    for (std::uint32_t e = first_[j]; e < first_[j + 1]; ++e) {
      if (at.lambda[rows_[e]] != 0) to[j - begin] += at.lambda[rows_[e]] * at.entry(e);
    }
  }
}

}  // namespace agrad
