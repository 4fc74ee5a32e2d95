// Kinks: tells which comparisons of a recorded function decide nothing at their threshold.
//
// Where `x > 0` chooses between x and 0, both branches agree at x = 0: the function has a kink there, but no jump, and solvers
// need not know. The proof assumes that both sides of the comparison are equal, gives equal expressions equal numbers, and
// follows the comparison's result, once as true and once as false, until both cases have the same number everywhere. Where
// they do not, or the result enters an operation that does not work entry by entry, the comparison counts as a jump.
// Read next: solve/system/jumps/held_code.hpp, the user.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agrad/program/program.hpp>

namespace agrad {

struct held_entry;

class kinks {
 public:
  /// all: the program's operations, one by one.
  kinks(const program& f, const std::vector<operation>& all);

  bool is_kink(const held_entry& entry);

 private:
  using number = std::uint32_t;  // of an expression; equal expressions have equal numbers
  struct place {
    std::uint32_t operation, entry;
  };
  using key = std::pair<const kernel*, std::vector<number>>;

  void forget();
  /// Assumes that a slot, and with it every equal expression, equals what has a number.
  void assume_equal(slot s, number value);
  /// Returns the number that stands for a number under the assumption.
  number standing_for(number a) const;

  static constexpr int deepest = 200;  // operations in a row that are examined
  /// Returns the number of a slot that does not depend on the comparison, from at most `depth` operations in a row.
  number of(slot s, int depth = deepest);
  number of_result(slot s, int depth);
  std::vector<number> operands(const operation& op, std::uint32_t entry, int depth);
  /// Returns the number of an entry of an operation on these numbers.
  number made(const operation& op, const std::vector<number>& x);
  static key key_of(const operation& op, std::vector<number> x);
  /// Returns the number that such an expression equals by a law, or none.
  number simplified(const operation& op, const std::vector<number>& x);
  number constant(double value);
  number fresh() { return next_++; }
  bool is_constant(slot s) const;
  const double* value_of(number a) const;

  const program& f_;
  const std::vector<operation>& all_;
  std::vector<place> made_by_;               // of each result
  std::vector<std::vector<place>> used_by_;  // of each slot: the entries that read it; none for whole operations
  std::vector<std::uint8_t> used_whole_;     // of each slot: whether an operation that is not entrywise, or an output, reads it
  static constexpr number none = 0;

  number next_ = 1;
  std::unordered_map<slot, number> numbers_;
  std::map<key, number> expressions_;
  std::map<std::uint64_t, number> constants_;  // by bits
  std::unordered_map<number, double> values_;
  std::unordered_map<number, number> same_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/kinks.ipp>
#endif
