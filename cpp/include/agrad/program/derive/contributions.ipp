// Definitions of program/derive/contributions.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/contributions.hpp>

namespace agrad {

AGRAD_INLINE void contributions::seed(slot output, slot adjoint) {
  const bool is_zero = !in_.is_active(adjoint) && in_.value(adjoint) == 0;
  if (!is_zero) reached_.set_always(output);
  add(output, adjoint);
}

AGRAD_INLINE void contributions::add(slot to, slot from, const operation& op) {
  slot over = op.result;
  while (over + 1 < op.result + op.count && !reached_.is_always(over)) ++over;
  add(to, from, over, from);
}

AGRAD_INLINE void contributions::add(slot to, slot from) {
  all_.push_back({from, last_[to]});
  last_[to] = static_cast<std::uint32_t>(all_.size());
}

AGRAD_INLINE traced contributions::sum(slot first, std::uint32_t n) const {
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

AGRAD_INLINE traced contributions::span_of(const std::vector<slot>& slots) const {
  return detail::number_of(in_, in_.consecutive(slots.data(), slots.size()));
}

AGRAD_INLINE traced contributions::added(slot first, std::uint32_t n, std::uint32_t most) const {
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

AGRAD_INLINE traced contributions::scattered(slot first, std::uint32_t n, std::uint32_t in_all) const {
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
  const span operands[] = {in_.dense(zeros.data(), n), in_.dense(from.data(), from.size()), in_.consecutive(at, places.size())};
  const slot sums = in_.apply(kernels::scatter_add, n, operands, 3);
  return {in_, {sums, n, static_cast<std::uint16_t>(n == 1 ? 0 : 1), in_.is_active(sums)}};
}

}  // namespace agrad
