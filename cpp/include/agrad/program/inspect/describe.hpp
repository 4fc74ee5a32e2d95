// Describe: a program in words, and a table with a line for each kind of operation.
//
//     12 inputs, 1 output; 40 operations, 3 of them on ranges of up to 1000 numbers; 9 dispatches; 1 guard
//     ...
//
// Read first: program/inspect/summary.hpp, which defines the counts. Read next: program/inspect/dot.hpp,
// program/inspect/profile.hpp.
#pragma once

#include <agrad/program/inspect/summary.hpp>
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <string>

namespace agrad {

namespace detail {

/// Returns a number with its noun: "1 operation", "3 operations".
std::string counted(std::size_t n, std::string_view one, std::string_view many);

/// Returns a number with three digits and a letter for thousands: 1.23k.
std::string scaled(double x);

}  // namespace detail

std::string describe(const program& f);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/inspect/describe.ipp>
#endif
