// Definitions of program/sparse/index_sets.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/index_sets.hpp>

namespace agrad {

AGRAD_INLINE index_sets::index_sets(std::size_t n) : n_(n), elements_(n), nodes_(n + 1), stamp_of_index_(n, 0) {
  for (index i = 0; i < n; ++i) {
    elements_[i] = i;
    nodes_[i + 1] = {i, 1, i + 1};
  }
  nodes_[0] = {0, 0, 0};
}

AGRAD_INLINE index_sets::set index_sets::unite(set a, set b) {
  a = nodes_[a].same_as;
  b = nodes_[b].same_as;
  if (a == b || b == empty) return a;
  if (a == empty) return b;
  if (is_part(a, b)) return b;
  if (is_part(b, a)) return a;
  if (!is_explicit(a) || !is_explicit(b) || nodes_[a].count + nodes_[b].count > most_eager) return lazy_union(a, b);
  scratch_.clear();
  std::set_union(begin(a), end(a), begin(b), end(b), std::back_inserter(scratch_));
  if (scratch_.size() == nodes_[a].count) return a;
  if (scratch_.size() == nodes_[b].count) return b;
  return interned(scratch_);
}

AGRAD_INLINE index_sets::set index_sets::unite(std::vector<set>& sets) {
  if (sets == last_) return last_union_;
  last_ = sets;
  return last_union_ = union_of(sets);
}

AGRAD_INLINE index_sets::set index_sets::explicit_form(set s) {
  s = nodes_[s].same_as;
  if (is_explicit(s)) return s;
  collect(s);
  const set found = interned(scratch_);
  nodes_[s].same_as = found;
  return found;
}

AGRAD_INLINE index_sets::range index_sets::elements(set s) {
  s = explicit_form(s);
  return {begin(s), end(s)};
}

AGRAD_INLINE bool index_sets::is_part(set a, set b) const {
  if (!is_explicit(a) || !is_explicit(b) || nodes_[a].count > 8) return false;
  return std::all_of(begin(a), end(a), [&](index i) { return std::binary_search(begin(b), end(b), i); });
}

AGRAD_INLINE index_sets::set index_sets::union_of(std::vector<set>& sets) {
  std::size_t total = 0;
  for (set& s : sets) s = nodes_[s].same_as;
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (!sets.empty() && sets.front() == empty) sets.erase(sets.begin());
  if (sets.empty()) return empty;
  if (sets.size() < 3) return unite(sets.front(), sets.back());
  bool is_small = true;
  for (const set s : sets) is_small = is_small && is_explicit(s) && (total += nodes_[s].count) <= most_eager;
  const set joined = new_union(sets.data(), sets.size());
  return is_small ? explicit_form(joined) : joined;
}

AGRAD_INLINE index_sets::set index_sets::lazy_union(set a, set b) {
  const set parts[] = {std::min(a, b), std::max(a, b)};
  const auto [found, is_new] = unions_.try_emplace(std::uint64_t{parts[0]} << 32 | parts[1], empty);
  if (is_new) found->second = new_union(parts, 2);
  return found->second;
}

AGRAD_INLINE index_sets::set index_sets::new_union(const set* parts, std::size_t count) {
  const auto joined = static_cast<set>(nodes_.size());
  nodes_.push_back({parts_.size(), static_cast<std::uint32_t>(count), joined, true});
  parts_.insert(parts_.end(), parts, parts + count);
  return joined;
}

AGRAD_INLINE index_sets::set index_sets::interned(const std::vector<index>& sorted) {
  if (sorted.size() <= 1) return sorted.empty() ? empty : singleton(sorted.front());
  std::uint64_t hash = sorted.size();
  for (const index i : sorted) hash = (hash ^ i) * 0x9E3779B97F4A7C15U + (hash >> 29);
  for (;; ++hash) {  // another set may have the same hash
    const auto [found, is_new] = explicit_.try_emplace(hash, empty);
    if (is_new) {
      found->second = static_cast<set>(nodes_.size());
      nodes_.push_back({elements_.size(), static_cast<std::uint32_t>(sorted.size()), found->second});
      elements_.insert(elements_.end(), sorted.begin(), sorted.end());
    }
    const set s = found->second;
    if (is_new || std::equal(sorted.begin(), sorted.end(), begin(s), end(s))) return s;
  }
}

AGRAD_INLINE void index_sets::collect(set s) {
  ++stamp_;
  stamp_of_node_.resize(nodes_.size(), 0);
  scratch_.clear();
  open_.assign(1, s);
  while (!open_.empty() && scratch_.size() < n_) {
    const set here = nodes_[open_.back()].same_as;
    open_.pop_back();
    if (stamp_of_node_[here] == stamp_) continue;
    stamp_of_node_[here] = stamp_;
    const node& at = nodes_[here];
    if (at.is_union) {
      open_.insert(open_.end(), parts_.begin() + static_cast<std::ptrdiff_t>(at.first),
                   parts_.begin() + static_cast<std::ptrdiff_t>(at.first + at.count));
      continue;
    }
    for (const index* i = begin(here); i != end(here); ++i) {
      if (stamp_of_index_[*i] == stamp_) continue;
      stamp_of_index_[*i] = stamp_;
      scratch_.push_back(*i);
    }
  }
  std::sort(scratch_.begin(), scratch_.end());
}

}  // namespace agrad
