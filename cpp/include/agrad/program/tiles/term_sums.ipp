// Definitions of program/tiles/term_sums.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/program/tiles/reads.hpp>
#include <agrad/program/tiles/settings.hpp>
#include <agrad/program/tiles/term_sums.hpp>
#include <agrad/rules/passing_arrays.hpp>

namespace agrad::detail {

/// Returns the number of terms that formulas may sum; 0 for other operations.
inline std::uint32_t terms_by_formulas(const program_code& code, const operation& op) {
  constexpr std::uint32_t least = 16;  // operations on fewer terms are straight code
  if (op.what->terms == nullptr || !tile_settings::now().use_formulas) return 0;
  const std::uint32_t terms = op.what->terms->count(op, code.integers.data() + op.data);
  return terms < least ? 0 : terms;
}

// ---- owners

/// Finds the owners, from the last operation to the first: all that read a result come before it.
class owner_search {
 public:
  owner_search(const program_code& code, const std::vector<slot>& outputs)
      : code_(code), owners_(code.operations.size(), unread) {
    for (std::uint32_t number = 0; number < owners_.size(); ++number) {
      const operation& op = code.operations[number];
      if (op.count > 0) results_.add(op.result, {number, 0, op.count});
    }
    each_run(outputs.data(), outputs.size(), [&](std::size_t, slot first, std::size_t count) {
      mark(first, static_cast<std::uint32_t>(count), term_owners::none);
    });
    for (auto number = static_cast<std::uint32_t>(owners_.size()); number-- > 0;) visit(number);
  }
  std::vector<std::uint32_t> result() { return std::move(owners_); }

 private:
  static constexpr std::uint32_t unread = term_owners::none - 1;

  void visit(std::uint32_t number) {
    const operation& op = code_.operations[number];
    std::uint32_t& owner = owners_[number];
    if (terms_by_formulas(code_, op) != 0 && is_computed(op.operands[0])) {
      owner = number;
      mark(op.operands[0].first, op.operands[0].count, number);
      for (std::uint32_t k = 1; k < op.arity; ++k) mark(op.operands[k].first, op.operands[k].count, term_owners::none);
      return;
    }
    if (owner == unread || op.what->entries == nullptr) owner = term_owners::none;
    each_read(code_, op, [&](slot first, std::uint32_t count) { mark(first, count, owner); });
  }

  /// Returns whether the terms are results of the program. Where they are its inputs, as in the recorded reverse pass of the
  /// sum, derivatives belong to the terms, not to the arguments.
  bool is_computed(const span& terms) const {
    bool is = false;
    results_.each_overlapping(terms.first, terms.count, [&](const tiled_results::place&) { return is = true; });
    return is;
  }
  /// Records that an operation of this owner reads slots.
  void mark(slot first, std::uint32_t count, std::uint32_t reader) {
    results_.each_overlapping(first, count, [&](const tiled_results::place& at) {
      std::uint32_t& owner = owners_[at.group];
      owner = owner == unread || owner == reader ? reader : term_owners::none;
      return true;
    });
  }

  const program_code& code_;
  tiled_results results_;
  std::vector<std::uint32_t> owners_;
};

AGRAD_INLINE term_owners::term_owners(const program_code& code, const std::vector<slot>& outputs) : code_(code) {
  const bool has_sums = std::any_of(code.operations.begin(), code.operations.end(),
                                    [&](const operation& op) { return terms_by_formulas(code, op) != 0; });
  if (has_sums) owners_ = owner_search(code, outputs).result();
}

AGRAD_INLINE std::vector<term_sum> term_owners::sums() {
  std::vector<term_sum> found;
  std::size_t slopes = 0;
  for (std::uint32_t number = 0; number < owners_.size(); ++number) {
    if (owners_[number] != number) continue;
    const operation& op = code_.operations[number];
    term_sum next{number, number, terms_by_formulas(code_, op), slopes};
    while (next.first > 0 && owners_[next.first - 1] == number) --next.first;
    slopes += slopes_of(code_, next);
    found.push_back(next);
  }
  std::vector<std::uint32_t> kept(owners_.size(), none);
  for (const term_sum& s : found) std::fill(kept.begin() + s.first, kept.begin() + s.number + 1, s.number);
  if (!found.empty()) owners_ = std::move(kept);
  return found;
}

// ---- runs

AGRAD_INLINE std::size_t slopes_of(const program_code& code, const term_sum& s) {
  const operation& op = code.operations[s.number];
  std::size_t count = 0;
  for (std::uint32_t k = 1; k < op.arity; ++k) count += op.operands[k].stride == 0 ? 1 : s.terms;
  return count;
}

/// Calls use(k, slopes) for each argument that has derivatives, with the place of its slopes.
template <class Use>
void each_slope(const program_code& code, const term_sum& s, workspace& w, const Use& use) {
  const operation& op = code.operations[s.number];
  double* at = w.slopes_of_terms.data() + s.slopes;
  for (std::uint32_t k = 0; k + 1 < op.arity; ++k) {
    if (op.what->terms->is_active(code.integers.data() + op.data, k)) use(k, at);
    at += op.operands[k + 1].stride == 0 ? 1 : s.terms;
  }
}

AGRAD_INLINE bool sum_by_formulas(const program_code& code, const term_sum& s, workspace& w, bool with_derivatives) {
  const operation& op = code.operations[s.number];
  double* slopes[operation::most_operands] = {};
  if (with_derivatives) each_slope(code, s, w, [&](std::uint32_t k, double* at) { slopes[k] = at; });
  double total = 0;
  if (!op.what->terms->sum(op, code.integers.data() + op.data, w.values.data(), total, with_derivatives ? slopes : nullptr))
    return false;
  w.values[op.result] = total;
  return true;
}

AGRAD_INLINE void propagate_by_formulas(const program_code& code, const term_sum& s, workspace& w) {
  const operation& op = code.operations[s.number];
  const double adjoint = w.adjoints[op.result];
  if (adjoint == 0) return;
  each_slope(code, s, w, [&](std::uint32_t k, const double* slopes) {
    const span& x = op.operands[k + 1];
    add_passed_entries(x.stride == 0 ? 1 : s.terms, slopes, adjoint, w.adjoints.data() + x.first);
  });
}

}  // namespace agrad::detail
