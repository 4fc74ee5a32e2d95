// Program structure: patterns, colours and derivative programs of a recorded right-hand side, for all solves.
//
// Each pattern or program is computed at its first use and stored. Threads may share the object.
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
#include <agrad/solve/system/program/moving_code.hpp>

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
  /// Returns the pattern of df/dy; null if it has more entries than a pattern can have.
  std::shared_ptr<const csr_pattern> pattern(const program& f, Eigen::Index n);

  /// Returns whether no output depends on t.
  bool is_autonomous(const program& f);

  /// Returns the operations that depend on t and the states; null if all do.
  std::shared_ptr<const program_code> moving(const program& f, Eigen::Index n);

  /// Returns the pattern for all inputs but t; null if it has more entries than a pattern can have.
  std::shared_ptr<const coloured_pattern> coloured(const program& f);

  /// Returns the program of the entries on a pattern, or of all entries; null if not worthwhile. Stores the last program.
  std::shared_ptr<const program> entries(const program& f, Eigen::Index n, std::shared_ptr<const csr_pattern> pattern);

  /// Returns df/d(y, p) of n states and m parameters at `points` points at once; null if not worthwhile. Stores the last.
  std::shared_ptr<const linearization> linear(const program& f, Eigen::Index n, Eigen::Index m, int points);

  /// Returns the compression that computes the entries on a pattern. Stores the last.
  std::shared_ptr<const sparse_jacobian> compressed(const program& f, Eigen::Index n, const csr_pattern& pattern);

 private:
  static std::vector<std::uint32_t> states(Eigen::Index n);

  static constexpr std::size_t most_runs = 6;  // the passes that coloured columns need, and more

  fork_safe_mutex mutex_;
  bool is_known_ = false, is_coloured_ = false, has_entries_ = false, has_moving_ = false;
  std::shared_ptr<const program_code> moving_;
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

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/program/structure.ipp>
#endif
