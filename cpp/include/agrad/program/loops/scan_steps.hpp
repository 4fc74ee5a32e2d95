// Scan steps: records a loop step by step, for derivatives of any order at the present values (program/schedule/inlined.hpp).
//
// Each step takes the path that is valid for its values. Read first: program/loops/scan_loop.hpp, program/loops/body.hpp.
#pragma once

#include <cstddef>
#include <vector>

#include <agrad/program/loops/body.hpp>
#include <agrad/program/loops/scan_loop.hpp>

namespace agrad {

class recorder;

/// Records the loop on its operand: the carry, `captured` captured values, and those xs that are not constants. Returns the
/// last carry and then ys.
std::vector<slot> record_steps(recorder& in, const body& of, const scan_loop& loop, std::size_t captured, const span& x);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/loops/scan_steps.ipp>
#endif
