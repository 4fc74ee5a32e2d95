// Ordering: the order in which a greedy colouring visits columns or vertices.
//
// The number of colours depends on the order. Natural order is optimal for bands; largest first and incidence degree (Coleman &
// More 1983) do well on matrices with a few heavy columns and on irregular patterns. An order costs little compared with the
// products that a saved colour spares, so the colourings try all orders and keep the best.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <agrad/base/interrupt_pace.hpp>

namespace agrad {

enum class ordering { natural, largest_first, incidence_degree };
inline constexpr ordering all_orderings[] = {ordering::natural, ordering::largest_first, ordering::incidence_degree};

namespace detail {

/// Returns 0 .. n - 1 by descending degree; equal degrees stay in natural order.
std::vector<std::uint32_t> by_descending_degree(const std::vector<std::size_t>& degrees);

/// Vertices by the number of neighbours already taken (the incidence), highest first: doubly linked lists of equal incidence,
/// so that raising a vertex costs the same wherever the vertex stands.
class incidence_queue {
 public:
  /// Among equals, vertices that are earlier in `order` are preferred.
  explicit incidence_queue(const std::vector<std::uint32_t>& order);

  bool is_waiting(std::uint32_t v) const { return incidence_[v] != ordered; }
  void raise(std::uint32_t v);
  /// Removes and returns the vertex of highest incidence; the queue must not be empty.
  std::uint32_t pop();

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0}, ordered = none;

  void insert(std::uint32_t v);
  void remove(std::uint32_t v);

  std::vector<std::uint32_t> next_, previous_, incidence_, head_;
  std::size_t highest_ = 0;
};

/// Returns the order in which each vertex has as many earlier neighbours as possible; neighbours(v, call) calls `call` for each
/// neighbour of v.
template <class Neighbours>
std::vector<std::uint32_t> by_incidence(const std::vector<std::size_t>& degrees, const Neighbours& neighbours) {
  incidence_queue queue(by_descending_degree(degrees));
  std::vector<std::uint32_t> order(degrees.size());
  interrupt_pace pace;
  for (std::uint32_t& v : order) {
    pace.step();
    v = queue.pop();
    neighbours(v, [&](std::uint32_t w) {
      if (queue.is_waiting(w)) queue.raise(w);
    });
  }
  return order;
}

}  // namespace detail
}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/ordering.ipp>
#endif
