// Statement: the data that one assignment stores on the tape.
//
// A statement is a range of edges, one for each leaf of the assigned expression, with the partial derivative and the leaf's
// index. The number of leaves and the target are in the `note` of the last two edges, which the reverse pass reads first; a
// statement of one leaf therefore has an empty second edge. An edge has 16 bytes, so that an edge never straddles a cache line
// and is written in one store. A closure is a statement of one edge with a pointer.
// Read next: tape/tape.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace agrad {

class tape;

struct alignas(16) edge {
  double partial;
  std::uint32_t index;
  std::uint32_t note;  // last edge: number of leaves or `statement::closure`; edge before: index of the target
};

/// The beginning of every closure: functions for the reverse pass, with one adjoint for each index and with several lanes.
struct closure_base {
  void (*reverse)(closure_base&, tape&);
  void (*reverse_lanes)(closure_base&, tape&);
};

namespace statement {

inline constexpr std::uint32_t closure = 0xffffffff;
inline constexpr std::size_t max_leaves = 125;  // of an expression, because of compile times

/// Returns the number of edges of a statement.
constexpr std::uint32_t size(std::uint32_t leaves) { return leaves < 2 ? 2 : leaves; }

inline edge of_closure(closure_base* which) {
  edge e{0, 0, closure};
  static_assert(sizeof which <= sizeof e.partial, "a pointer takes the place of a partial derivative");
  std::memcpy(&e.partial, &which, sizeof which);
  return e;
}
inline closure_base& closure_of(const edge& e) {
  closure_base* which;
  std::memcpy(&which, &e.partial, sizeof which);
  return *which;
}

}  // namespace statement
}  // namespace agrad
