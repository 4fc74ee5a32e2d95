// Reached: which adjoints of a recorded reverse pass are not zero by structure.
//
// An adjoint is zero by structure where no output was reached, and where every way to an output is cut: by a choice that took
// another entry, or by a constant factor of zero. Both depend on values, so a flag is recorded, but only where a slope may be
// infinite, and only where a way can be cut at all. Most slots are reached by some way that cannot be cut.
// Read next: program/derive/contributions.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include <agrad/program/recording/record.hpp>
#include <agrad/program/recording/tracing.hpp>

namespace agrad {

class reached_slots {
 public:
  explicit reached_slots(recorder& in) : in_(in), last_(in.size(), none) {}

  bool is_always(slot s) const { return s >= last_.size() || last_[s] == always; }
  void set_always(slot s) { last_[s] = always; }
  /// Adds the way from `to` over the slot `from`, which is cut where the slot `cut` is zero; cut 0 stands for no cut.
  void add(slot to, slot from, slot cut);

  /// Returns for each of n slots whether it is reached: the constant 1 where all are always.
  traced of(slot first, std::uint32_t n);

 private:
  static constexpr std::uint32_t none = 0, always = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t few = 8;
  struct way {
    slot from, cut;
    std::uint32_t before;  // the slot's way before this one, counted from 1; 0 for none
  };

  traced of(const std::vector<slot>& slots);
  /// Returns whether each way of a list is open.
  traced are_open(const std::vector<way>& ways);
  /// Records the flags of slots whose ways can all be cut.
  void record(const std::vector<slot>& slots);
  std::vector<way> ways_of(slot s) const;
  slot one();

  recorder& in_;
  std::vector<std::uint32_t> last_;
  std::vector<way> all_;
  std::unordered_map<slot, slot> flags_;
  slot one_ = 0;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/reached.ipp>
#endif
