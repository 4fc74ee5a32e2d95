// Checked: operations that return their first operand and throw where an entry does not meet a condition, or has not the
// relation to the second operand's entry.
//
// Functions whose results are entries, not sums, check their arguments by these operations, in each run of a program. An
// operation stores the place of its condition in `must_be::all`, or of its relation in `must_be::all_relations`, and the
// function's and the arguments' names for the message.
#pragma once

#include <string_view>

#include <agrad/program/recording/record.hpp>

namespace agrad {

namespace kernels {
extern const kernel checked;
extern const kernel checked_pair;
}  // namespace kernels

/// Records the check of an operand of n entries; the names together have at most 62 letters. Returns the first slot of the same
/// numbers.
slot record_checked(recorder& in, std::string_view function, std::string_view argument, std::size_t condition, const span& x,
                    std::size_t n);

/// Does the same for pairs of entries of two operands, of which the second is only read; three names have at most 61 letters.
slot record_checked_pair(recorder& in, std::string_view function, std::string_view first, std::string_view second,
                         std::size_t relation, const span& x, const span& y, std::size_t n);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/checked.ipp>
#endif
