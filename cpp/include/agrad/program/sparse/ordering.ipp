// Definitions of program/sparse/ordering.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/ordering.hpp>

namespace agrad::detail {

AGRAD_INLINE std::vector<std::uint32_t> by_descending_degree(const std::vector<std::size_t>& degrees) {
  std::vector<std::uint32_t> order(degrees.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return degrees[a] > degrees[b]; });
  return order;
}

AGRAD_INLINE incidence_queue::incidence_queue(const std::vector<std::uint32_t>& order)
    : next_(order.size(), none), previous_(order.size(), none), incidence_(order.size(), 0), head_(1, none) {
  for (auto v = order.rbegin(); v != order.rend(); ++v) insert(*v);
}

AGRAD_INLINE void incidence_queue::raise(std::uint32_t v) {
  remove(v);
  if (++incidence_[v] == head_.size()) head_.push_back(none);
  insert(v);
  highest_ = std::max<std::size_t>(highest_, incidence_[v]);
}

AGRAD_INLINE std::uint32_t incidence_queue::pop() {
  while (head_[highest_] == none) --highest_;
  const std::uint32_t v = head_[highest_];
  remove(v);
  incidence_[v] = ordered;
  return v;
}

AGRAD_INLINE void incidence_queue::insert(std::uint32_t v) {
  std::uint32_t& head = head_[incidence_[v]];
  previous_[v] = none;
  next_[v] = head;
  if (head != none) previous_[head] = v;
  head = v;
}

AGRAD_INLINE void incidence_queue::remove(std::uint32_t v) {
  if (previous_[v] != none)
    next_[previous_[v]] = next_[v];
  else
    head_[incidence_[v]] = next_[v];
  if (next_[v] != none) previous_[next_[v]] = previous_[v];
}

}  // namespace agrad::detail
