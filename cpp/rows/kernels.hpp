// Kernels by name: what a program's operations are called where it is kept outside of memory, and the way back.
//
// Rules' kernels have their rules' names; where several rows share one (options of linear algebra), a number tells them apart.
// A kernel that is not here belongs to nobody's program but the one in memory. Read next: program/keep/portable.hpp.
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

/// All kernels that programs are made of.
const std::vector<named_kernel>& named_kernels();

/// The kernel's name; empty for one that has none.
std::string_view name_of_kernel(const kernel* what);

/// The kernel of that name; null without any.
const kernel* kernel_of_name(std::string_view name);

}  // namespace agrad
