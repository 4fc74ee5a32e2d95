// Watch: an observer of a recording, called after each operation of the forward pass and of the reverse pass.
//
// Without a watch, an operation costs one more test of a pointer. An exception from a watch ends the call of the recorder, and
// the operation is not recorded. Read next: program/recording/record.hpp, python/bindings/arrays/debug.cpp (finding the first
// nan).
#pragma once

#include <cstddef>

#include <agrad/program/machine/code.hpp>

namespace agrad {

class operation_watch {
 public:
  virtual ~operation_watch() = default;
  /// Is called after n values of an argument became inputs.
  virtual void after_input(const double* values, std::size_t n) = 0;
  /// Is called after an operation has run; the operation will have number `index` in the code.
  virtual void after_forward(const operation& op, std::size_t index, const double* values) = 0;
  /// Is called after operation number `index` has propagated its adjoints to its operands.
  virtual void after_reverse(const operation& op, std::size_t index, const double* values, const double* adjoints) = 0;
};

/// Does the same as `run_reverse`, with a watch.
inline void run_reverse(const program_code& code, workspace& w, operation_watch& watch) {
  const run_context context = w.context(code, true);
  for (std::size_t i = code.operations.size(); i-- > 0;) {
    const operation& op = code.operations[i];
    op.what->reverse(op, context, w.values.data(), w.adjoints.data());
    watch.after_reverse(op, i, w.values.data(), w.adjoints.data());
  }
}

}  // namespace agrad
