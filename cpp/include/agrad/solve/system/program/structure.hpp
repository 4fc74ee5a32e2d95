// Program structure: patterns, colours and derivative programs of a recorded right-hand side, for all solves.
//
// Each is computed at its first use and kept. Threads may share the object.
// Read next: solve/system/program/ode.hpp.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <agrad/base/fork_safe_mutex.hpp>
#include <agrad/program/derive/entries_program.hpp>
#include <agrad/program/sparse/sparse.hpp>
#include <agrad/program/sparse/sparsity.hpp>
#include <agrad/solve/system/program/linearization.hpp>

namespace agrad {

/// The pattern of the derivatives with respect to states and parameters, as the rows of each column, and colours of the
/// columns.
struct coloured_pattern {
  csr_pattern columns;
  colouring colours;
};

/// The structure of a program's derivatives, computed at first use. Threads may share this object.
class program_structure {
 public:
  /// The pattern of df/dy; null if it has more entries than a pattern can have.
  std::shared_ptr<const csr_pattern> pattern(const program& f, Eigen::Index n) {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    if (is_known_) return pattern_;
    try {
      pattern_ = std::make_shared<const csr_pattern>(jacobian_pattern(f, states(n)));
    } catch (const std::length_error&) {  // factorisation would gain nothing
    }
    is_known_ = true;
    return pattern_;
  }

  /// Whether no output depends on t.
  bool is_autonomous(const program& f) {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    if (!is_autonomous_) is_autonomous_ = jacobian_pattern(f, {0}).size() == 0;
    return *is_autonomous_;
  }

  /// The pattern for all inputs but t; null if it has more entries than a pattern can have.
  std::shared_ptr<const coloured_pattern> coloured(const program& f) {
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

  /// The program of the entries on a pattern, or of all entries; null if not worthwhile. Keeps the last program.
  std::shared_ptr<const program> entries(const program& f, Eigen::Index n, std::shared_ptr<const csr_pattern> pattern) {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    if (!has_entries_ || entries_on_ != pattern) {
      entries_ = entries_program(f, 1, static_cast<std::size_t>(n), pattern.get(), most_runs);
      entries_on_ = std::move(pattern);
      has_entries_ = true;
    }
    return entries_;
  }

  /// df/d(y, p) of n states and m parameters at `points` points at once; null if not worthwhile. Keeps the last.
  std::shared_ptr<const linearization> linear(const program& f, Eigen::Index n, Eigen::Index m, int points) {
    const std::shared_ptr<const coloured_pattern> known = coloured(f);
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    if (linear_in_ != m || linear_at_ != points) {
      const auto states = static_cast<std::size_t>(n), wanted = static_cast<std::size_t>(n + m);
      linear_ = known == nullptr ? nullptr : linearization::of(f, states, known->columns, wanted, points);
      linear_in_ = m, linear_at_ = points;
    }
    return linear_;
  }

  /// The compression that computes the entries on a pattern. Keeps the last.
  std::shared_ptr<const sparse_jacobian> compressed(const program& f, Eigen::Index n, const csr_pattern& pattern) {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    if (compressed_ == nullptr || compressed_->pattern() != pattern)
      compressed_ = std::make_shared<const sparse_jacobian>(f, states(n), pattern);
    return compressed_;
  }

 private:
  static std::vector<std::uint32_t> states(Eigen::Index n) {
    std::vector<std::uint32_t> inputs(static_cast<std::size_t>(n));
    for (std::size_t j = 0; j < inputs.size(); ++j) inputs[j] = static_cast<std::uint32_t>(j + 1);
    return inputs;
  }

  static constexpr std::size_t most_runs = 6;  // the passes that coloured columns need, and more

  fork_safe_mutex mutex_;
  bool is_known_ = false, is_coloured_ = false, has_entries_ = false;
  std::optional<bool> is_autonomous_;
  std::shared_ptr<const csr_pattern> pattern_;
  std::shared_ptr<const coloured_pattern> coloured_;
  std::shared_ptr<const sparse_jacobian> compressed_;
  std::shared_ptr<const program> entries_;
  std::shared_ptr<const csr_pattern> entries_on_;
  std::shared_ptr<const linearization> linear_;
  Eigen::Index linear_in_ = 0;
  int linear_at_ = 0;
};

}  // namespace agrad
