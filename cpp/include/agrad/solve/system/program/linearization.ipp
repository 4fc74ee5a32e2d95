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
  std::fill_n(to, states_, 0.0);
  const auto add = [&](std::size_t begin, std::size_t end, const double* factors) {
    for (std::size_t j = begin; j < end; ++j) {
      const double factor = factors[j - begin];
      if (factor == 0) continue;
      for (std::uint32_t e = first_[j]; e < first_[j + 1]; ++e) to[rows_[e]] += values[slots[e]] * factor;
    }
  };
  if (!has_ranges()) {
    add(0, states_, v);
  } else {
    for (const detail::entry_range& run : of_states_[k]) run.add_forward_product(values, v, to);
  }
  if (w != nullptr) add(states_, first_.size() - 1, w);
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
