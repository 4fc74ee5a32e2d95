// Order: makes operations that can run together in tiles neighbours.
#pragma once

#include <agrad/program/machine/code.hpp>

namespace agrad::detail {

/// Reorders the operations of a program: each large operation over one index waits for others over that index, until an
/// operation of another kind reads a result. Other operations keep their order.
void order_for_tiles(program_code& code);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/tiles/order.ipp>
#endif
