// Summary: the contents and costs of a program, in numbers.
//
// Costs are estimates from the operations' sizes alone: a flop is one function or arithmetic operation of two numbers, for any
// function; bytes are read and written by operations. Straight code counts as its single operations. Levels is the length of
// the longest chain of operations that wait for each other (gathers do not count), depth is the same in flops, with sums by
// halves: the cost if everything else ran at once. Read next: program/inspect/describe.hpp (as text),
// program/inspect/profile.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/program.hpp>
#include <agrad/program/tiles/reads.hpp>

namespace agrad {

/// All operations of one kind.
struct kind_summary {
  std::string name;
  std::size_t operations = 0, entries = 0;
  double flops = 0, bytes = 0;
};

struct program_summary {
  std::size_t inputs = 0, outputs = 0;
  std::size_t operations = 0;               // each step of straight code counted
  std::size_t dispatches = 0;               // each sequence of straight code counted once
  std::size_t spans = 0, longest_span = 0;  // operations on ranges, and the largest result or operand
  std::size_t guards = 0;                   // comparisons that determine the path
  std::size_t levels = 0;
  double flops = 0, depth = 0;
  std::size_t constants = 0;                   // slots that are neither inputs nor results
  std::size_t program_bytes = 0;               // of the program: code and constants
  std::size_t workspace_bytes = 0;             // of a run: values, without large constants; adjoints take as much again
  std::vector<kind_summary> kinds;             // the most flops first
  std::size_t groups = 0, grouped = 0;         // groups that run in tiles (program/tiles/plan.hpp), and their operations
  double bytes_apart = 0, bytes_in_tiles = 0;  // that these operations move one by one, and in tiles
  std::size_t sums = 0, replaced = 0;  // sums by formulas (program/tiles/term_sums.hpp), and operations that they replace
};

namespace detail {

/// Calls use(slot) for each slot that the operation reads.
template <class Use>
void each_slot_read(const program_code& code, const operation& op, const Use& use) {
  each_read(code, op, [&](slot first, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) use(first + i);
  });
}

/// Returns the name of an operation; an external operation has a name of its own.
std::string name_in(const operation& op, const program_code& code);

/// Estimates for one operation: all flops, and the flops that wait for each other.
struct operation_cost {
  double flops = 0, depth = 0;

  operation_cost(const operation& op, const std::uint32_t* all_integers);

 private:
  /// Estimates an operation along lines or on everything: along lines each entry is read once; an operation on everything costs
  /// as much as a factorisation of its first matrix.
  void of_whole(const operation& op, const std::uint32_t* n);
};

class program_reader {
 public:
  explicit program_reader(const program& f);
  program_summary result() { return std::move(sum_); }

 private:
  void add(const operation& op);
  void add(const tile_group& group);

  const program& f_;
  unrolled operations_;
  std::vector<std::uint32_t> level_;
  std::vector<double> depth_;
  std::map<std::string, kind_summary> kinds_;
  program_summary sum_;
};

}  // namespace detail

inline program_summary summary_of(const program& f) { return detail::program_reader(f).result(); }

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/inspect/summary.ipp>
#endif
