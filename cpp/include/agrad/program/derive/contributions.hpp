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

  void add(slot to, slot from) {
    all_.push_back({from, last_[to]});
    last_[to] = static_cast<std::uint32_t>(all_.size());
  }

  /// Returns the sums of the contributions of n slots; a constant zero where there are none.
  traced sum(slot first, std::uint32_t n) const {
    std::uint32_t most = 0, in_all = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint32_t count = 0;
      for (std::uint32_t at = last_[first + i]; at != none; at = all_[at - 1].before) ++count;
      most = std::max(most, count);
      in_all += count;
    }
    if (most == 0) return 0.0;
    return most <= few ? added(first, n, most) : scattered(first, n, in_all);
  }

 private:
  static constexpr std::uint32_t none = 0, few = 8;
  struct each {
    slot from;
    std::uint32_t before;  // the slot's contribution before this one, counted from 1; 0 for none
  };

  traced span_of(const std::vector<slot>& slots) const {
    return detail::number_of(in_, in_.consecutive(slots.data(), slots.size()));
  }

  /// Adds the last contributions, those before, and so on; slot 0 is zero.
  traced added(slot first, std::uint32_t n, std::uint32_t most) const {
    std::vector<std::uint32_t> at(last_.begin() + first, last_.begin() + first + n);
    std::vector<slot> slots(n);
    traced total(0.0);
    for (std::uint32_t round = 0; round < most; ++round) {
      for (std::uint32_t i = 0; i < n; ++i) {
        slots[i] = at[i] == none ? 0 : all_[at[i] - 1].from;
        if (at[i] != none) at[i] = all_[at[i] - 1].before;
      }
      total = round == 0 ? span_of(slots) : total + span_of(slots);
    }
    return total;
  }

  traced scattered(slot first, std::uint32_t n, std::uint32_t in_all) const {
    std::vector<slot> from, zeros(n, 0);
    std::vector<double> places;
    from.reserve(in_all);
    places.reserve(in_all);
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t at = last_[first + i]; at != none; at = all_[at - 1].before) {
        from.push_back(all_[at - 1].from);
        places.push_back(i);
      }
    const slot at = in_.constant(places.data(), places.size());
    const span operands[] = {in_.dense(zeros.data(), n), in_.dense(from.data(), from.size()),
                             in_.consecutive(at, places.size())};
    const slot sums = in_.apply(kernels::scatter_add, n, operands, 3);
    return {in_, {sums, n, static_cast<std::uint16_t>(n == 1 ? 0 : 1), in_.is_active(sums)}};
  }

  recorder& in_;
  std::vector<std::uint32_t> last_;
  std::vector<each> all_;
};

}  // namespace agrad
