// Code: a list of operations with what they refer to, and the two loops that run it.
//
// A recording (program/record.hpp) and a finished program (program/program.hpp) both hold one; a workspace holds what one
// run of it needs, so that threads can share the code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <agrad/program/operation.hpp>

namespace agrad {

struct program_code {
  std::vector<operation> operations;
  std::vector<std::uint32_t> integers;
  std::vector<std::shared_ptr<const external_operation>> externals;
};

/// Values and adjoints of one run, and the states of its external operations. One for each thread.
template <class S>
struct workspace {
  std::vector<S> values;
  std::vector<S> adjoints;
  std::vector<std::unique_ptr<external_operation::state>> states;
  std::uint64_t program = 0;  // the number of the program whose constants and states these are

  run_context context(const program_code& code, bool with_adjoint) {
    states.resize(code.externals.size());
    return {code.integers.data(), code.externals.data(), states.data(), with_adjoint};
  }
};

/// Carries out the operations in order on w.values, which hold the inputs and constants.
template <class S>
void run_forward(const program_code& code, workspace<S>& w, bool with_adjoint) {
  const run_context context = w.context(code, with_adjoint);
  S* values = w.values.data();
  for (const operation& op : code.operations) op.what->template loops<S>().forward(op, context, values);
}

/// Sends the adjoints back from the last operation to the first; w.adjoints hold the seeds and have the size of w.values.
template <class S>
void run_reverse(const program_code& code, workspace<S>& w) {
  const run_context context = w.context(code, true);
  const S* values = w.values.data();
  S* adjoints = w.adjoints.data();
  for (auto op = code.operations.rbegin(); op != code.operations.rend(); ++op)
    op->what->template loops<S>().reverse(*op, context, values, adjoints);
}

}  // namespace agrad
