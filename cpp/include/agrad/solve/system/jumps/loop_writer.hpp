// Loop writer: writes a program again, with chosen loops written out.
//
// While it writes, slots of results have a bit of their own, because constants of bodies still come; `result` numbers them
// behind the constants.
// Read first: solve/system/jumps/unrolled_loops.hpp, the user.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agrad/program/loops/scan.hpp>
#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/program.hpp>
#include <agrad/program/schedule/schedule.hpp>

namespace agrad::detail {

class loop_writer {
 public:
  /// Thrown where a loop cannot be written out.
  struct refused {
    const external_operation* loop;
    std::string reason;
  };

  /// Writes f; loops: the operations to be written out, in f and in their bodies.
  loop_writer(const program& f, const std::set<const external_operation*>& loops);

  std::shared_ptr<const program> result();

 private:
  static constexpr slot of_results = slot{1} << 31U;
  static constexpr std::size_t most_operations = 20'000;

  struct decision {
    slot condition;
    bool value;
  };
  /// A path as it was written: the guards that it needs, and its results.
  struct written {
    std::vector<decision> guards = {};
    std::vector<slot> outputs = {};
  };
  /// Writes the operations of a program; is_one: whether it is one of several paths.
  written write(const program& p, const std::vector<slot>& inputs, bool is_one);
  void write(const program& p, const operation& op, std::vector<slot>& place, written& so_far, bool is_one);
  void write_computed(const program& p, const operation& op, std::vector<slot>& place);
  /// Writes a loop; returns its results.
  std::vector<slot> write_loop(const scan_operation& loop, const std::vector<slot>& operand);
  std::vector<slot> write_step(const scan_operation& loop, const std::vector<slot>& local, const std::vector<slot>& captured);
  /// Returns the results of those paths whose guards hold.
  std::vector<slot> chosen(const std::vector<written>& paths);

  const std::vector<operation>& steps_of(const program& p);
  /// Returns the slots of operand k.
  static std::vector<slot> operand_of(const program& p, const operation& op, std::size_t k, const std::vector<slot>& place);
  span dense(const std::vector<slot>& slots, const span& like);
  slot constant(double value);
  bool is_known(slot s) const { return s < of_results && (s >= is_input_.size() || is_input_[s] == 0); }
  /// Adds an operation, or finds an equal one; returns its first result.
  slot added(operation op, std::vector<std::uint32_t> integers);
  slot select(slot condition, slot then, slot otherwise);
  [[noreturn]] AGRAD_COLD void refuse(std::string reason) const;

  const std::set<const external_operation*>& loops_;
  program_parts parts_;  // slots of results with their bit
  std::vector<std::uint8_t> is_input_;
  slot results_ = 0;
  const external_operation* outermost_ = nullptr;  // the loop of f that is being written
  std::map<const program*, slot> blocks_;          // where the constants of a program are
  std::map<const program*, unrolled> steps_;
  std::unordered_map<std::uint64_t, slot> constants_;  // by bits
  std::unordered_map<operation_key, slot, operation_hash> equal_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/loop_writer.ipp>
#endif
