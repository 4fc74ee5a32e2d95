// Slot list: slots in an order of their own, such as those of a program's inputs and outputs, copied range by range.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <agrad/program/machine/operation.hpp>
#include <agrad/program/machine/slot_runs.hpp>

namespace agrad {

namespace detail {

/// Consecutive slots of a list from number `begin` on.
struct slot_range {
  std::uint32_t begin;
  slot first;
};

/// Returns the ranges of consecutive slots in a list of n slots; none where they are short.
inline std::vector<slot_range> ranges_of_slots(const slot* slots, std::size_t n) {
  constexpr std::size_t least_length = 16;  // on average
  std::vector<slot_range> ranges;
  for (std::size_t i = 0; i < n; i += consecutive_slots(slots + i, n - i)) {
    ranges.push_back({static_cast<std::uint32_t>(i), slots[i]});
    if (ranges.size() > 1 && ranges.size() * least_length > n) return {};
  }
  return ranges;
}

/// Calls use(i, first, n) for each range of consecutive slots from number begin + i on, between `begin` and `end`.
template <class Use>
void each_range(const std::vector<slot_range>& ranges, std::size_t begin, std::size_t end, const Use& use) {
  const auto is_before = [](std::size_t number, const slot_range& r) { return number < r.begin; };
  auto range = std::prev(std::upper_bound(ranges.begin(), ranges.end(), begin, is_before));
  for (std::size_t at = begin; at < end; ++range) {
    const std::size_t next = std::next(range) == ranges.end() ? end : std::min<std::size_t>(end, std::next(range)->begin);
    use(at - begin, range->first + (at - range->begin), next - at);
    at = next;
  }
}

}  // namespace detail

/// `count` numbers of a list from number `begin` on, where a caller has them.
template <class Number>
struct list_part {
  Number* at;
  std::size_t begin, count;
};
using list_sources = std::vector<list_part<const double>>;
using list_targets = std::vector<list_part<double>>;

class slot_list {
 public:
  explicit slot_list(std::vector<slot> slots)
      : slots_(std::move(slots)), ranges_(detail::ranges_of_slots(slots_.data(), slots_.size())) {}

  std::size_t size() const { return slots_.size(); }
  slot operator[](std::size_t i) const { return slots_[i]; }
  const std::vector<slot>& slots() const { return slots_; }

  /// Calls use(i, first, n) for each range of n consecutive slots from number begin + i on, of `count` numbers in all.
  template <class Use>
  void each(std::size_t begin, std::size_t count, const Use& use) const {
    if (ranges_.size() == 1) return use(std::size_t{0}, ranges_[0].first + begin, count);
    if (count != 0 && !ranges_.empty()) return detail::each_range(ranges_, begin, begin + count, use);
    for (std::size_t i = 0; i < count; ++i) use(i, std::size_t{slots_[begin + i]}, std::size_t{1});
  }
  template <class Use>
  void each(const Use& use) const {
    each(0, slots_.size(), use);
  }

  /// Copies `width` numbers for each slot from a space.
  void read(const double* all, double* to, std::size_t width = 1) const {
    each([&](std::size_t i, std::size_t first, std::size_t n) { std::copy_n(all + first * width, n * width, to + i * width); });
  }
  /// Copies parts of the list from a space.
  void read(const double* all, const list_targets& parts) const {
    for (const auto& part : parts)
      each(part.begin, part.count,
           [&](std::size_t i, std::size_t first, std::size_t n) { std::copy_n(all + first, n, part.at + i); });
  }
  void write(const double* from, double* all, std::size_t width = 1) const {
    each([&](std::size_t i, std::size_t first, std::size_t n) {
      std::copy_n(from + i * width, n * width, all + first * width);
    });
  }
  void write(const list_sources& parts, double* all) const {
    for (const auto& part : parts)
      each(part.begin, part.count,
           [&](std::size_t i, std::size_t first, std::size_t n) { std::copy_n(part.at + i, n, all + first); });
  }
  void add(const double* from, double* all, std::size_t width = 1) const {
    each([&](std::size_t i, std::size_t first, std::size_t n) {
      for (std::size_t k = 0; k < n * width; ++k) all[first * width + k] += from[i * width + k];
    });
  }
  void clear(double* all, std::size_t width = 1) const {
    each([&](std::size_t, std::size_t first, std::size_t n) { std::fill_n(all + first * width, n * width, 0.0); });
  }

 private:
  std::vector<slot> slots_;
  std::vector<detail::slot_range> ranges_;
};

}  // namespace agrad
