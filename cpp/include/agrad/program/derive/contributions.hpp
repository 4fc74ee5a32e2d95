// Contributions: collects the adjoints that a recorded reverse pass adds to each slot, and records their sum when needed.
//
// A slot's contributions are slots, each from a slot whose adjoint is passed on (program/derive/reached.hpp). One contribution
// is used directly, a few are added, many are added at once by `scatter_add`.
// Read next: program/derive/adjoints.hpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <agrad/program/derive/reached.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/recording/tracing.hpp>

namespace agrad {

class contributions {
 public:
  explicit contributions(recorder& in) : in_(in), reached_(in), last_(in.size(), none) {}

  /// Adds the adjoint of an output.
  void seed(slot output, slot adjoint);
  /// Adds a contribution `from`, for which `add_way` tells whose adjoints it passes on.
  void add(slot to, slot from);
  /// Adds a slot whose adjoint a contribution to `to` passes on, unless `cut` is zero; cut 0 stands for no cut.
  void add_way(slot to, slot over, slot cut = 0) { reached_.add(to, over, cut); }
  /// Returns whether further ways change nothing.
  bool is_always_reached(slot s) const { return reached_.is_always(s); }
  void add(slot to, slot from, slot over, slot cut = 0) { add(to, from), add_way(to, over, cut); }
  /// Adds a contribution of an operation with unknown structure: where the contribution is zero, it is zero by structure.
  void add(slot to, slot from, const operation& op);

  /// Returns the sums of the contributions of n slots; a constant zero where there are none.
  traced sum(slot first, std::uint32_t n) const;

  /// Returns for each of n slots whether its adjoint is not zero by structure.
  traced are_reached(slot first, std::uint32_t n) { return reached_.of(first, n); }

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
  reached_slots reached_;
  std::vector<std::uint32_t> last_;
  std::vector<each> all_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/contributions.ipp>
#endif
