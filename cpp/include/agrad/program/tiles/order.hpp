// Order: makes operations that can run together neighbours.
#pragma once

#include <vector>

#include <agrad/program/machine/code.hpp>

namespace agrad::detail {

/// Reorders the operations of a program: each large operation over one index waits for others over that index, until an
/// operation of another kind reads a result. The operations of a sum with formulas come immediately before the sum. Others keep
/// their order.
void order_for_tiles(program_code& code, const std::vector<slot>& outputs);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/tiles/order.ipp>
#endif
