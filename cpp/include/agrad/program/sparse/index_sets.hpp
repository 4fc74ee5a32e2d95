// Index sets: the inputs on which values depend, for very many values with few or common inputs.
//
// A set is a number. Equal small sets have one number, so a union that adds nothing is recognised, and loops whose values
// depend on the same inputs soon make no new sets. A large union is stored as a list of its parts, and its elements are
// collected on demand: a running sum of 1e5 terms costs 1e5 unions, not the 5e9 elements of its partial sums.
// Read next: program/sparse/sparsity.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace agrad {

class index_sets {
 public:
  using index = std::uint32_t;
  using set = std::uint32_t;
  static constexpr set empty = 0;

  /// n: elements are numbers below n.
  explicit index_sets(std::size_t n);

  std::size_t universe() const { return n_; }
  set singleton(index i) const { return i + 1; }

  set unite(set a, set b);

  /// Returns the union of many sets and changes the list. Rows of a matrix product need the same union again and again.
  set unite(std::vector<set>& sets);

  /// Returns the number of the set's explicit form, the same for all equal sets.
  set explicit_form(set s);

  /// Elements in ascending order, for a range-based loop; valid until the next set is made.
  struct range {
    const index *first, *last;
    const index* begin() const { return first; }
    const index* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };
  range elements(set s);

 private:
  // Unions of more elements than this are stored as lists of parts: merging two sets of that size takes a microsecond.
  static constexpr std::size_t most_eager = 1024;

  // same_as: the set itself, or its explicit form as soon as that is known. The elements of an explicit set and the parts of a
  // union are `count` entries from `first` on.
  struct node {
    std::size_t first;
    std::uint32_t count;
    set same_as;
    bool is_union = false;
  };

  bool is_explicit(set s) const { return !nodes_[s].is_union; }
  const index* begin(set s) const { return elements_.data() + nodes_[s].first; }
  const index* end(set s) const { return begin(s) + nodes_[s].count; }

  /// Returns whether a is known to be a part of b; checked only where a is small.
  bool is_part(set a, set b) const;

  set union_of(std::vector<set>& sets);

  set lazy_union(set a, set b);

  set new_union(const set* parts, std::size_t count);

  /// Returns the explicit set of these elements, in ascending order; equal sets get one number.
  set interned(const std::vector<index>& sorted);

  /// Collects the elements of a union, in ascending order, in scratch_. Each part is visited once, however often it appears.
  void collect(set s);

  std::size_t n_;
  std::vector<index> elements_;
  std::vector<set> parts_;
  std::vector<node> nodes_;
  std::unordered_map<std::uint64_t, set> explicit_, unions_;  // keys: the hash of the elements; the two parts
  std::vector<std::uint32_t> stamp_of_index_, stamp_of_node_;
  std::uint32_t stamp_ = 0;
  std::vector<index> scratch_;
  std::vector<set> open_, last_;
  set last_union_ = empty;  // union of last_
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/index_sets.ipp>
#endif
