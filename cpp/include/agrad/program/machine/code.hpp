// Code: a list of operations with their data, and the loops that run the list.
//
// A recording (program/recording/record.hpp) and a finished program (program/program.hpp) both hold code; a workspace holds the
// numbers of one run, so that threads can share the code.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/machine/spaces.hpp>
#include <agrad/program/machine/straight.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

struct program_code {
  std::vector<operation> operations;
  std::vector<std::uint32_t> integers;
  std::vector<instruction> instructions;
  std::vector<std::shared_ptr<const external_operation>> externals;
};

/// What is known of the slopes of a run's elementwise operations (program/machine/singular.hpp).
enum class slopes_are : std::uint8_t { unknown, finite, infinite };

/// Which values of the last run a workspace has: all; all but those that a reverse pass in tiles computes again; those that are
/// needed outside of tiles (program/tiles/plan.hpp).
enum class values_are : std::uint8_t { complete, enough_for_reverse, partial };

/// The spaces of one run and the states of the run's external operations; one workspace for each thread.
struct workspace {
  space values, adjoints;
  space tangents, adjoint_tangents;  // `width` numbers for each slot, while tangents are propagated
  space registers;                   // of tiles (program/tiles/plan.hpp)
  space slopes_of_terms;             // of sums that formulas computed (program/tiles/term_sums.hpp)
  std::vector<bool> by_formulas;     // for each of these sums, whether formulas computed it in the last run; empty: none
  std::vector<std::unique_ptr<external_operation::state>> states;
  std::uint64_t program = 0;                        // number of the program whose constants and states are in this workspace
  std::array<slopes_are, 2> slopes{};               // of first order, and up to second order
  std::shared_ptr<const std::vector<bool>> wanted;  // inputs whose derivatives are used, null: all; others are constants
  values_are held = values_are::complete;
  bool is_careful = true;  // whether passes tell a computed zero from a zero of structure (program/machine/careful.hpp)

  run_context context(const program_code& code, bool with_adjoint) {
    states.resize(code.externals.size());
    return {code.integers.data(), code.instructions.data(), code.externals.data(), states.data(), with_adjoint};
  }
};

/// Runs the operations in order on w.values, which hold the inputs and constants.
inline void run_forward(const program_code& code, workspace& w, bool with_adjoint) {
  const run_context context = w.context(code, with_adjoint);
  w.slopes = {};
  w.by_formulas.clear();
  double* values = w.values.data();
  for (const operation& op : code.operations) {
    op.what->forward(op, context, values);
    detail::poll_beside(op.count);
  }
}

/// Runs the reverse pass from the last operation to the first; w.adjoints hold the seeds and have the size of w.values.
inline void run_reverse(const program_code& code, workspace& w) {
  const run_context context = w.context(code, true);
  const double* values = w.values.data();
  double* adjoints = w.adjoints.data();
  for (auto op = code.operations.rbegin(); op != code.operations.rend(); ++op) {
    op->what->reverse(*op, context, values, adjoints);
    detail::poll_beside(op->count);
  }
}

/// Does the same for `count` spaces of adjoints in w.adjoints, one after the other; external operations get all adjoints at
/// once.
inline void run_reverse_rows(const program_code& code, workspace& w, std::size_t count) {
  const run_context context = w.context(code, true);
  const std::size_t slots = w.values.size();
  for (auto op = code.operations.rbegin(); op != code.operations.rend(); ++op) {
    if (op->what == &kernels::external) {
      detail::external_loops::reverse_rows(*op, context, count, w.adjoints.data(), slots);
      continue;
    }
    for (std::size_t row = 0; row < count; ++row)
      op->what->reverse(*op, context, w.values.data(), w.adjoints.data() + row * slots);
    detail::poll_beside(op->count * count);
  }
}

/// After run_forward: propagates the tangents in w.tangents.
template <int Width>
void run_tangent(const program_code& code, workspace& w) {
  const run_context context = w.context(code, true);
  const double* values = w.values.data();
  double* tangents = w.tangents.data();
  for (const operation& op : code.operations) {
    op.what->tangent.template at<Width>()(op, context, values, tangents);
    detail::poll_beside(op.count);
  }
}

/// After run_tangent: propagates adjoints and their tangents in a reverse pass.
template <int Width>
void run_second(const program_code& code, workspace& w) {
  const run_context context = w.context(code, true);
  const second_spaces spaces{w.values.data(), w.tangents.data(), w.adjoints.data(), w.adjoint_tangents.data()};
  for (auto op = code.operations.rbegin(); op != code.operations.rend(); ++op) {
    op->what->second.template at<Width>()(*op, context, spaces);
    detail::poll_beside(op->count);
  }
}

}  // namespace agrad
