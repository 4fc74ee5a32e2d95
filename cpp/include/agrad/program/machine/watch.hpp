// Watch: somebody who looks at each operation of a recording, after it was carried out and after it was swept back.
//
// A recording without a watch pays one test of a pointer an operation. What a watch throws ends the recording's call, and the
// operation is no part of it. Read next: program/machine/record.hpp, python/bindings/debug.cpp (finding the first nan).
#pragma once

#include <cstddef>

#include <agrad/program/machine/code.hpp>

namespace agrad {

class operation_watch {
 public:
  virtual ~operation_watch() = default;
  /// n values of an argument were put in.
  virtual void after_input(const double* values, std::size_t n) = 0;
  /// The operation that will be number `index` of the code was carried out.
  virtual void after_forward(const operation& op, std::size_t index, const double* values) = 0;
  /// Operation number `index` has sent its adjoints to its operands.
  virtual void after_reverse(const operation& op, std::size_t index, const double* values, const double* adjoints) = 0;
};

/// `run_reverse` with a watch.
inline void run_reverse(const program_code& code, workspace& w, operation_watch& watch) {
  const run_context context = w.context(code, true);
  for (std::size_t i = code.operations.size(); i-- > 0;) {
    const operation& op = code.operations[i];
    op.what->reverse(op, context, w.values.data(), w.adjoints.data());
    watch.after_reverse(op, i, w.values.data(), w.adjoints.data());
  }
}

}  // namespace agrad
