// Definitions of solve/system/program/structure.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/structure.hpp>

namespace agrad {

AGRAD_INLINE std::shared_ptr<const csr_pattern> program_structure::pattern(const program& f, Eigen::Index n) {
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  if (is_known_) return pattern_;
  try {
    pattern_ = std::make_shared<const csr_pattern>(jacobian_pattern(f, states(n)));
  } catch (const std::length_error&) {  // factorisation would gain nothing
  }
  is_known_ = true;
  return pattern_;
}

AGRAD_INLINE bool program_structure::is_autonomous(const program& f) {
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  if (!is_autonomous_) is_autonomous_ = jacobian_pattern(f, {0}).size() == 0;
  return *is_autonomous_;
}

AGRAD_INLINE std::shared_ptr<const program_code> program_structure::moving(const program& f, Eigen::Index n) {
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  if (!has_moving_) moving_ = moving_code(f, static_cast<std::size_t>(1 + n));
  has_moving_ = true;
  return moving_;
}

AGRAD_INLINE std::shared_ptr<const coloured_pattern> program_structure::coloured(const program& f) {
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  if (is_coloured_) return coloured_;
  try {
    const csr_pattern p = jacobian_pattern(f, states(static_cast<Eigen::Index>(f.input_size() - 1)));
    coloured_ = std::make_shared<const coloured_pattern>(coloured_pattern{transposed_pattern(p), colour_columns(p)});
  } catch (const std::length_error&) {
  }
  is_coloured_ = true;
  return coloured_;
}

AGRAD_INLINE std::shared_ptr<const program> program_structure::entries(const program& f, Eigen::Index n,
                                                                       std::shared_ptr<const csr_pattern> pattern) {
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  if (!has_entries_ || entries_on_ != pattern) {
    entries_ = entries_program(f, 1, static_cast<std::size_t>(n), pattern.get(), most_runs);
    entries_on_ = std::move(pattern);
    has_entries_ = true;
  }
  return entries_;
}

AGRAD_INLINE std::shared_ptr<const linearization> program_structure::linear(const program& f, Eigen::Index n, Eigen::Index m,
                                                                            int points) {
  const std::shared_ptr<const coloured_pattern> known = coloured(f);
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  if (linear_in_ != m || linear_at_ != points) {
    const auto states = static_cast<std::size_t>(n), required = static_cast<std::size_t>(n + m);
    linear_ = known == nullptr ? nullptr : linearization::of(f, states, known->columns, required, points);
    linear_in_ = m, linear_at_ = points;
  }
  return linear_;
}

AGRAD_INLINE std::shared_ptr<const sparse_jacobian> program_structure::compressed(const program& f, Eigen::Index n,
                                                                                  const csr_pattern& pattern) {
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  if (compressed_ == nullptr || compressed_->pattern() != pattern)
    compressed_ = std::make_shared<const sparse_jacobian>(f, states(n), pattern);
  return compressed_;
}

AGRAD_INLINE std::vector<std::uint32_t> program_structure::states(Eigen::Index n) {
  std::vector<std::uint32_t> inputs(static_cast<std::size_t>(n));
  for (std::size_t j = 0; j < inputs.size(); ++j) inputs[j] = static_cast<std::uint32_t>(j + 1);
  return inputs;
}

}  // namespace agrad
