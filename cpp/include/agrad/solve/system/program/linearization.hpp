// Linearization: df/d(y, p) of a recorded right-hand side at several points at once, for adjoint products.
//
// The reverse pass through a step needs the derivatives at all stages, and the stages are known before it begins. A program
// computes the Jacobian's entries (program/derive/entries_program.hpp). It is recorded for all points side by side
// (program/derive/batch.hpp), so a single run computes all entries, and operations on parameters alone run once. A product is
// then a sum over the entries of each column, or over diagonals if these are long (solve/system/program/diagonals.hpp).
// Read next: solve/system/program/structure.hpp, the owner; solve/system/program/ode.hpp, the user.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <Eigen/Core>
#include <agrad/program/derive/batch.hpp>
#include <agrad/program/derive/entries_program.hpp>
#include <agrad/program/sparse/pattern.hpp>
#include <agrad/solve/system/program/diagonals.hpp>

namespace agrad {

class linearization {
 public:
  /// The memory of an evaluation. Each thread needs its own.
  struct workspace {
    agrad::workspace run;
    std::vector<double> inputs;
  };

  /// Returns the linearization, or null if the entries do not consist of rules or are so many that reverse passes of f are
  /// faster. f: a program of t, n states and parameters. rows_of_columns: the pattern of df/d(y, p); derivatives are required
  /// for the first `required` columns.
  static std::shared_ptr<const linearization> of(const program& f, std::size_t n, const csr_pattern& rows_of_columns,
                                                 std::size_t required, int points);

  /// Evaluates at the points, a time and n states each.
  void evaluate(workspace& w, const double* t, const double* y, const double* p) const;

  /// Computes y_adjoint = lambda' df/dy and parameter_adjoint = lambda' df/dp at point k; either may be null.
  void product(const workspace& w, std::size_t k, const double* lambda, double* y_adjoint, double* parameter_adjoint) const;

  /// Computes to = (df/dy) v + (df/dp) w at point k; w may be null.
  void forward_product(const workspace& at, std::size_t k, const double* v, const double* w, double* to) const;

  /// Returns how many numbers `keep` writes, from which `restore` makes the same products; 0: to evaluate again is as fast.
  std::size_t kept_size() const { return kept_size_; }
  void keep(const workspace& w, double* to) const;
  void restore(workspace& w, const double* from) const;

  std::size_t points() const { return points_; }
  /// Returns whether products use diagonals (solve/system/program/diagonals.hpp).
  bool has_ranges() const { return !of_states_.empty(); }
  /// Return the costs of an evaluation: the program's operations, and the entries that these compute.
  std::size_t operations() const { return entries_->code().operations.size(); }
  std::size_t work() const { return detail::work_of(*entries_); }

 private:
  linearization(std::size_t n, const csr_pattern& rows_of_columns, std::size_t required, int points);

  void record(const program& f, detail::derivative_flow& flow);

  /// Finds the slots of entries that are no constants.
  void find_kept();

  /// Finds diagonals; none if separate entries are faster.
  void find_ranges();

  struct entries_at {
    const double* values;
    const slot* slots;
    const double* lambda;
    double entry(std::uint32_t e) const { return values[slots[e]]; }
  };

  /// Computes the sums of columns begin .. end.
  void multiply(const entries_at& at, std::size_t begin, std::size_t end, double* to) const;
  void product_by_ranges(const entries_at& at, std::size_t k, double* y_adjoint, double* parameter_adjoint) const;
  /// Computes `forward_product` where some entries are not finite: a zero factor cancels such an entry.
  AGRAD_COLD void forward_carefully(const double* values, const slot* slots, const double* v, const double* w,
                                    double* to) const;
  /// Computes the same sums if entries are not finite: a zero adjoint cancels such an entry.
  AGRAD_COLD void multiply_carefully(const entries_at& at, std::size_t begin, std::size_t end, double* to) const;

  static constexpr std::size_t least_length = 20;  // of ranges, on average: shorter ranges wait for results just stored
  static constexpr std::size_t most_entries = std::size_t{1} << 18U;  // more exceed the caches
  static constexpr std::size_t most_kept = 4096;                      // memory gives more of them no faster than a run

  /// The entries of each point in the order of rows: those of the states from of_rows_[2 i] on, those of the parameters from
  /// of_rows_[2 i + 1] on.
  void order_by_rows();

  struct row_entry {
    slot value;
    std::uint32_t column;  // among those of the states or those of the parameters
  };

  struct slot_range {
    slot first;
    std::uint32_t count;
  };

  std::size_t states_, points_, kept_size_ = 0;
  std::vector<slot_range> kept_;
  std::vector<std::uint32_t> first_, rows_;  // of each column's entries
  std::vector<std::uint32_t> of_rows_;       // where rows begin in `by_rows_`
  std::vector<row_entry> by_rows_;
  std::shared_ptr<const program> entries_;                                   // outputs: the entries point by point
  std::vector<std::vector<detail::entry_range>> of_states_, of_parameters_;  // of each point, or empty
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/program/linearization.ipp>
#endif
