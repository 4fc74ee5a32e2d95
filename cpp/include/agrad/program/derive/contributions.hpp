// Contributions: collects the adjoints that a recorded reverse pass adds to each slot, and records their sum when needed.
//
// A slot's contributions are slots. One contribution is used directly, a few are added, many are added at once by
// `scatter_add`.
// Read next: program/derive/adjoints.hpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/machine/tracing.hpp>

namespace agrad {

class contributions {
 public:
  explicit contributions(recorder& in) : in_(in), last_(in.size(), none) {}

  void add(slot to, slot from);

  /// Returns the sums of the contributions of n slots; a constant zero where there are none.
  traced sum(slot first, std::uint32_t n) const;

 private:
  static constexpr std::uint32_t none = 0, few = 8;
  struct each {
    slot from;
    std::uint32_t before;  // the slot's contribution before this one, counted from 1; 0 for none
  };

  traced span_of(const std::vector<slot>& slots) const;

  /// Adds the last contributions, those before, and so on; slot 0 is zero.
  traced added(slot first, std::uint32_t n, std::uint32_t most) const;

  traced scattered(slot first, std::uint32_t n, std::uint32_t in_all) const;

  recorder& in_;
  std::vector<std::uint32_t> last_;
  std::vector<each> all_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/contributions.ipp>
#endif
