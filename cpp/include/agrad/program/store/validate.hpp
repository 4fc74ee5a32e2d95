// Validate: checks that data of a program are valid, before any operation runs.
//
// The checks of all operations are here: operands, lists and integers are within the program, results follow each other, and an
// operation reads inputs, constants and results of earlier operations. The kernel checks the rest (`kernel::fits`), beside the
// loops that rely on these checks. A program that passes can run its forward and reverse pass, whatever its source. Read next:
// program/store/portable.hpp, which reads programs from outside of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <agrad/program/machine/code.hpp>
#include <agrad/program/store/archive.hpp>

namespace agrad {

namespace detail {

class program_check {
 public:
  program_check(const program_code& code, const std::vector<double>& fixed, std::size_t size, const std::vector<slot>& inputs,
                const std::vector<slot>& outputs);

 private:
  using kind = operation_view::slot_kind;

  static void expect(bool holds, std::string_view part);
  static bool lies_within(std::size_t first, std::size_t count, std::size_t size);

  void check(const operation& op);

  bool is_ready(const span& x, bool may_list) const;

  const program_code& code_;
  const std::vector<double>& fixed_;
  std::vector<kind> slots_;
};

}  // namespace detail

/// Throws std::invalid_argument if the parts are not a program that can run.
void check_program(const program_code& code, const std::vector<double>& fixed, std::size_t size,
                   const std::vector<slot>& inputs, const std::vector<slot>& outputs);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/store/validate.ipp>
#endif
