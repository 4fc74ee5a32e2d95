// Statement: what one assignment leaves on the tape, as data.
//
// A statement is a row of edges, one for each leaf of the assigned expression, each with the partial derivative and the
// leaf's index. Its number of leaves and its target stand in the `note` of its last two edges, where the backward sweep
// comes by first; a statement of one leaf therefore has an empty second edge. An edge is 16 bytes, so that it never
// straddles a cache line and goes to memory in one store. A closure is a statement of one edge that holds a pointer.
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
  std::uint32_t note;  // last edge: number of leaves or `statement::closure`; the one before it: the target's index
};

/// What every closure begins with: how the sweep calls it, for one adjoint an index and for several side by side.
struct closure_base {
  void (*sweep)(closure_base&, tape&);
  void (*sweep_lanes)(closure_base&, tape&);
};

namespace statement {

inline constexpr std::uint32_t closure = 0xffffffff;
inline constexpr std::size_t max_leaves = 125;  // of an expression, for the compiler's sake

/// How many edges a statement of so many leaves takes.
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
