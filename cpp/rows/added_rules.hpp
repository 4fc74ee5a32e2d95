// Added rules: the rules of libraries (agrad/rule_library.hpp) that were loaded at run time.
//
// A library is checked as a whole before the first of its rules is added. It must stay loaded as long as the program lives.
#pragma once

#include <agrad/program/machine/rule_library.hpp>
#include <string>
#include <vector>

#include "rows.hpp"

namespace agrad {

/// Adds the rules of a library, whose kernels are then known by name, and returns their rows; only returns the rows of a
/// library that was added before. `file` is the library's name in messages. Throws std::invalid_argument for what is no library
/// of rules, for a library that was compiled with the headers of another agrad or for another processor, and for names that are
/// taken.
std::vector<const elementwise_row*> add_rules(const rule_library* library, const std::string& file);

}  // namespace agrad
