// Checked: an operation that returns its operand and throws where an entry does not meet a condition.
//
// Functions whose results are entries, not sums, check their arguments by this operation, in each run of a program. The
// operation stores the place of its condition in `must_be::all`, and the function's and the argument's name for the message.
#pragma once

#include <string_view>

#include <agrad/program/machine/record.hpp>

namespace agrad {

namespace kernels {
extern const kernel checked;
}

/// Records the check of an operand of n entries; the names together have at most 62 letters. Returns the first slot of the same
/// numbers.
slot record_checked(recorder& in, std::string_view function, std::string_view argument, std::size_t condition, const span& x,
                    std::size_t n);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/checked.ipp>
#endif
