// Released: records operations that depend on held arguments again, at the arguments themselves.
//
// A derivative by hand is recorded at held arguments (program/machine/custom.hpp), and may call functions with derivatives by
// hand, whose derivatives are recorded at held arguments of held arguments. Every slot has a level: the number of nested holds
// around it. A pass through an operation on a level needs the operands of this operation with all their dependences. So holds
// of the operation's level and of outer levels are replaced by their operands, and zeros with tangents (`perturbation`) on
// these levels by zeros. Inner holds stay: they belong to values with derivatives of their own, and are part of the next
// derivative. Only requested slots are recorded again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad {

class released {
 public:
  using level = std::uint16_t;

  /// Contains operations `begin` to before `end`.
  released(const recorder& in, std::size_t begin, std::size_t end);

  /// Returns an operand of an operation of the part, as the pass through that operation needs the operand.
  span operator()(recorder& in, const span& x, const operation& op);

 private:
  static constexpr level nowhere = std::numeric_limits<level>::max();
  /// New slots of the operations recorded again for one level.
  struct copies {
    std::vector<slot> now;
    std::vector<std::uint8_t> is_done;  // for each operation
  };

  /// An operation, counted from begin_, and the level up to which its holds are released.
  struct todo {
    std::uint32_t number;
    level of;
    bool operator==(const todo& other) const { return number == other.number && of == other.of; }
  };

  static bool begins_level(const operation& op) { return op.what == &kernels::hold || op.what == &kernels::perturbation; }

  /// Calls each(slot) for every slot that an operation reads.
  template <class Each>
  static void each_operand(const recorder& in, const operation& op, const Each& each) {
    if (op.what == &kernels::gather) {
      for (std::uint32_t j = 0; j < op.count; ++j) each(in.code().integers[op.data + j]);
      return;
    }
    for (std::uint32_t k = 0; k < op.arity; ++k)
      for (std::uint32_t j = 0; j < op.operands[k].count; ++j) each(op.operands[k].first + j);
  }

  void enter(const recorder& in, std::size_t number);

  /// Returns the level up to which holds of a slot are released for a pass on a level: further holds belong to the slot's
  /// derivatives.
  level released_of(slot s, level of) const { return std::min(of, level_[s]); }
  bool changes(slot s, level of) const { return outermost_[s] <= released_of(s, of); }
  bool changes(const span& x, level of) const;

  span at(recorder& in, const span& x, level of);
  slot slot_at(recorder& in, slot s, level of);
  copies& copies_of(level of);

  bool is_done(const todo& what) { return copies_of(what.of).is_done[what.number] != 0; }

  /// Records an operation again, after the operations that it reads. A loop, because chains may be too long for recursion.
  void record_all(recorder& in, const todo& last);

  void record(recorder& in, const operation& op, level of);

  /// Throws where the next reverse pass through a value was not recorded.
  void check_order(const operation& op, level of) const;

  std::size_t begin_, end_;
  std::vector<level> level_, outermost_;  // for each slot; empty where nothing is held
  std::vector<std::uint32_t> maker_;      // the operation that computed a slot, counted from begin_
  std::vector<copies> copies_;            // for each level
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/released.ipp>
#endif
