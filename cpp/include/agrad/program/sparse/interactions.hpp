// Interactions: the pairs of inputs that meet in a nonlinear operation, which determine the pattern of a Hessian.
//
// Inputs i and j have a second derivative only where some operation is curved in two operands (or twice in one), of which one
// depends on i and the other on j: the nonlinear interaction domains of Walther (2008), stored as distinct pairs of index sets.
// The pattern is computed at the end from the largest pairs first, so that a full row needs no further pairs.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>

#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/sparse/index_sets.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad {

class interactions {
 public:
  using set = index_sets::set;

  explicit interactions(index_sets& sets) : sets_(sets) {}

  /// Adds that all inputs in a meet all inputs in b.
  void add(set a, set b) {
    if (a == index_sets::empty || b == index_sets::empty) return;
    a = sets_.explicit_form(a);
    b = sets_.explicit_form(b);
    if (seen_.insert(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b)).second) pairs_.push_back({a, b});
  }

  /// Returns the pattern: n x n, symmetric; the diagonal has an entry where an input meets itself.
  csr_pattern pattern() {
    const std::size_t n = sets_.universe();
    const auto product = [&](const pair& p) { return sets_.elements(p.first).size() * sets_.elements(p.second).size(); };
    std::stable_sort(pairs_.begin(), pairs_.end(), [&](const pair& a, const pair& b) { return product(a) > product(b); });
    std::vector<std::vector<set>> meets(n);  // of each input, the sets it meets; none after a full set
    const auto meet = [&](set a, set b) {
      for (const auto i : sets_.elements(a))
        if (meets[i].empty() || sets_.elements(meets[i].back()).size() < n) meets[i].push_back(b);
    };
    detail::interrupt_pace pace;
    for (const auto& [a, b] : pairs_) {
      pace.step();
      meet(a, b);
      if (a != b) meet(b, a);
    }
    std::size_t at_least = 0;
    for (const auto& sets : meets) at_least += sets.empty() ? 0 : sets_.elements(sets.front()).size();
    csr_pattern::check_entries(at_least);
    csr_pattern p;
    p.cols = n;
    std::vector<std::uint32_t> stamp(n, 0);
    std::vector<csr_pattern::index> row;
    for (std::uint32_t i = 0; i < n; ++i) {
      pace.step();
      row.clear();
      for (const set s : meets[i]) {
        if (row.size() == n) break;
        for (const auto j : sets_.elements(s))
          if (std::exchange(stamp[j], i + 1) != i + 1) row.push_back(j);
      }
      p.append_row(row);
    }
    return p;
  }

 private:
  using pair = std::pair<set, set>;

  index_sets& sets_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<pair> pairs_;
};

}  // namespace agrad
