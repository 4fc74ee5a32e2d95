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

#include <agrad/program/schedule/unrolled.hpp>

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
  std::size_t constants = 0;        // slots that are neither inputs nor results
  std::size_t program_bytes = 0;    // of the program: code and constants
  std::size_t workspace_bytes = 0;  // of a run: values; adjoints take as much again
  std::vector<kind_summary> kinds;  // the most flops first
};

namespace detail {

/// Calls use(slot) for each slot that the operation reads.
template <class Use>
void each_slot_read(const operation& op, const std::uint32_t* integers, const Use& use) {
  if (op.what->depends.how == dependence::gathered)
    for (std::uint32_t i = 0; i < op.count; ++i) use(integers[op.data + i]);
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    const span& x = op.operands[k];
    for (std::uint32_t i = 0; i < x.count; ++i) use(x.listed ? integers[x.first + i] : x.first + i);
  }
}

/// Returns the name of an operation; an external operation has a name of its own.
inline std::string name_in(const operation& op, const program_code& code) {
  return std::string(op.what == &kernels::external ? code.externals[code.integers[op.data]]->name() : op.what->name);
}

/// Estimates for one operation: all flops, and the flops that wait for each other.
struct operation_cost {
  double flops = 0, depth = 0;

  operation_cost(const operation& op, const std::uint32_t* all_integers) {
    const std::uint32_t* n = all_integers + op.data;
    const auto halves = [](double terms) { return terms > 1 ? std::ceil(std::log2(terms)) : 0.0; };
    switch (op.what->depends.how) {
      case dependence::gathered:
        return;
      case dependence::grouped:
        flops = static_cast<double>(op.count) * n[0], depth = halves(n[0]);
        return;
      case dependence::product:
      case dependence::products:
        flops = 2.0 * op.count * n[1], depth = 1 + halves(n[1]);
        return;
      case dependence::terms:
        flops = 2.0 * op.arity * n[0], depth = 1 + halves(n[0]);
        return;
      case dependence::entrywise:
      case dependence::on_nothing:
        flops = op.count, depth = op.count > 0 ? 1 : 0;
        return;
      default:
        of_whole(op, n);
    }
  }

 private:
  /// Along lines each entry is read once; an operation on everything costs as much as a factorisation of its first matrix.
  void of_whole(const operation& op, const std::uint32_t* n) {
    double read = op.count;
    for (std::uint32_t k = 0; k < op.arity; ++k) read = std::max<double>(read, op.operands[k].count);
    flops = read, depth = 1;
    if (op.what->depends.how != dependence::on_everything || op.what == &kernels::external) return;
    const bool is_matrix = op.data_count >= 2 && static_cast<double>(n[0]) * n[1] == op.operands[0].count;
    const double side = is_matrix ? std::min(n[0], n[1]) : 2;
    flops *= side, depth = side;
  }
};

class program_reader {
 public:
  explicit program_reader(const program& f) : f_(f), operations_(f.code()), level_(f.size(), 0), depth_(f.size(), 0) {
    sum_.inputs = f.input_size();
    sum_.outputs = f.output_size();
    sum_.dispatches = f.code().operations.size();
    sum_.constants = f.size() - f.input_size();
    for (const operation& op : operations_.operations()) add(op);
    for (auto& [name, kind] : kinds_) sum_.kinds.push_back(std::move(kind));
    std::stable_sort(sum_.kinds.begin(), sum_.kinds.end(),
                     [](const kind_summary& a, const kind_summary& b) { return a.flops > b.flops; });
    const program_code& code = f.code();
    sum_.program_bytes = code.operations.size() * sizeof(operation) + code.integers.size() * sizeof(std::uint32_t) +
                         code.instructions.size() * sizeof(instruction) + f.size() * sizeof(double) +
                         (f.input_size() + f.output_size()) * sizeof(slot);
    sum_.workspace_bytes = f.size() * sizeof(double);
  }
  program_summary result() { return std::move(sum_); }

 private:
  void add(const operation& op) {
    const std::uint32_t* integers = f_.code().integers.data();
    const operation_cost cost(op, integers);
    std::size_t read = 0, longest = op.count;
    std::uint32_t level = 0;
    double depth = 0;
    each_slot_read(op, integers, [&](slot s) {
      ++read;
      level = std::max(level, level_[s]);
      depth = std::max(depth, depth_[s]);
    });
    for (std::uint32_t k = 0; k < op.arity; ++k) longest = std::max<std::size_t>(longest, op.operands[k].count);
    if (op.what->depends.how != dependence::gathered && op.count > 0) ++level;
    std::fill_n(level_.begin() + op.result, op.count, level);
    std::fill_n(depth_.begin() + op.result, op.count, depth + cost.depth);
    kind_summary& kind = kinds_[name_in(op, f_.code())];
    kind.name = name_in(op, f_.code());
    kind.operations += 1;
    kind.entries += op.count;
    kind.flops += cost.flops;
    kind.bytes += static_cast<double>((read + op.count) * sizeof(double));
    sum_.operations += 1;
    sum_.spans += longest > 1 ? 1 : 0;
    sum_.longest_span = std::max(sum_.longest_span, longest);
    sum_.guards += op.what == &kernels::guard ? 1 : 0;
    sum_.levels = std::max<std::size_t>(sum_.levels, level);
    sum_.flops += cost.flops;
    sum_.depth = std::max(sum_.depth, depth + cost.depth);
    sum_.constants -= op.count;
  }

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
