// Kernel list: the kernels of all rules that a program or library was compiled with, whoever asked for them.
//
// Derivatives of rules are made of rules, some of which no table shows. Where all files are compiled with AGRAD_LIST_KERNELS, the
// kernel of each rule enters the list before `main`, so that a kept program finds it by its name, and nobody has to write the names
// down a second time. Without AGRAD_LIST_KERNELS the list is empty, and a file contains no more rules than it calls.
// Read next: program/keep/portable.hpp; cpp/rows/kernels.hpp, the names of all kernels.
#pragma once

#include <agrad/program/machine/operation.hpp>

namespace agrad::detail {

struct listed_kernel {
  explicit listed_kernel(const kernel& one) : what(one), next(first()) { first() = this; }
  listed_kernel(const listed_kernel&) = delete;

  /// The beginning of the list.
  static const listed_kernel*& first() {
    static const listed_kernel* begin = nullptr;
    return begin;
  }

  const kernel& what;
  const listed_kernel* next;
};

}  // namespace agrad::detail
