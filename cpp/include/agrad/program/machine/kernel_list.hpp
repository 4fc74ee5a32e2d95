// Kernel list: lists the kernels of all rules in a program or library, including rules used only by other rules.
//
// Derivatives of rules are made of rules, some of which are in no table. Where all files are compiled with AGRAD_LIST_KERNELS,
// every kernel enters the list before `main`, so a stored program finds a kernel by name without a second list of names.
// Without the macro, the list is empty and a file contains only the rules that the file calls.
// Read next: program/store/portable.hpp; cpp/rows/kernels.hpp, the names of all kernels.
#pragma once

#include <agrad/program/machine/operation.hpp>

namespace agrad::detail {

struct listed_kernel {
  explicit listed_kernel(const kernel& one) : what(one), next(first()) { first() = this; }
  listed_kernel(const listed_kernel&) = delete;

  /// Returns the start of the list.
  static const listed_kernel*& first() {
    static const listed_kernel* begin = nullptr;
    return begin;
  }

  const kernel& what;
  const listed_kernel* next;
};

}  // namespace agrad::detail
