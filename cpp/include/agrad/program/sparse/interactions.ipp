// Definitions of program/sparse/interactions.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/interactions.hpp>

namespace agrad {

AGRAD_INLINE void interactions::add(set a, set b) {
  if (a == index_sets::empty || b == index_sets::empty) return;
  a = sets_.explicit_form(a);
  b = sets_.explicit_form(b);
  if (seen_.insert(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b)).second) pairs_.push_back({a, b});
}

AGRAD_INLINE csr_pattern interactions::pattern() {
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

}  // namespace agrad
