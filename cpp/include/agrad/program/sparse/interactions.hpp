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
  void add(set a, set b);

  /// Returns the pattern: n x n, symmetric; the diagonal has an entry where an input meets itself.
  csr_pattern pattern();

 private:
  using pair = std::pair<set, set>;

  index_sets& sets_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<pair> pairs_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/interactions.ipp>
#endif
