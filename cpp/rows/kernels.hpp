// Kernels by name: the names of a program's operations outside of memory, in both directions.
//
// Kernels of rules have the names of the rules; where several rules share a name (options of linear algebra), a number is
// appended. Programs with a kernel that is not listed here cannot be stored. Read next: program/store/portable.hpp.
#pragma once

#include <agrad/program/machine/operation.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace agrad {

struct named_kernel {
  std::string name;
  const kernel* what;
};

/// Returns all kernels of programs.
std::vector<named_kernel> named_kernels();

/// Adds kernels with new names (cpp/rows/added_rules.hpp), which live as long as the program.
void add_named_kernels(const std::vector<named_kernel>& kernels);

/// Returns the kernel's name; empty if it has none.
std::string_view name_of_kernel(const kernel* what);

/// Returns the kernel of this name; null if there is none.
const kernel* kernel_of_name(std::string_view name);

}  // namespace agrad
