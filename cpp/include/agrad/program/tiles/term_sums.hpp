// Term sums: sums of terms, such as log densities, that formulas compute in place of the operations that the terms consist of.
//
// A density is recorded as elementwise operations and their sum, from which all derivatives follow. Values and gradients need
// less: where a sum has formulas for eight terms at once (`term_functions` in program/machine/operation.hpp), and nothing else
// reads what its operations compute, these operations are left out, the formulas give the sum and its slopes, and the reverse
// pass multiplies the slopes. Where the formulas do not suit a term, and for tangents, the operations run.
#pragma once

#include <cstdint>
#include <vector>

#include <agrad/program/machine/code.hpp>

namespace agrad::detail {

struct term_sum {
  std::uint32_t first = 0, number = 0;  // operations from `first` on compute terms for operation `number`, the sum, alone
  std::uint32_t terms = 0;
  std::size_t slopes = 0;  // where the slopes begin in w.slopes_of_terms: those of each active argument
};

/// For each operation, the number of the sum that it belongs to: a sum with formulas, or an operation whose result nothing but
/// that sum's terms depends on.
class term_owners {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  term_owners(const program_code& code, const std::vector<slot>& outputs);

  bool is_empty() const { return owners_.empty(); }
  std::uint32_t of(std::size_t operation) const { return owners_.empty() ? none : owners_[operation]; }
  /// Returns the sums, and gives up operations that do not come immediately before their sum.
  std::vector<term_sum> sums();

 private:
  const program_code& code_;
  std::vector<std::uint32_t> owners_;  // empty if there are no sums with formulas
};

/// Returns the number of a sum's slopes.
std::size_t slopes_of(const program_code& code, const term_sum& s);

/// Computes a sum by formulas, and its slopes if derivatives follow. Returns false where the formulas do not suit a term.
bool sum_by_formulas(const program_code& code, const term_sum& s, workspace& w, bool with_derivatives);

/// Propagates the adjoint of a sum that formulas computed to the arguments.
void propagate_by_formulas(const program_code& code, const term_sum& s, workspace& w);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/tiles/term_sums.ipp>
#endif
