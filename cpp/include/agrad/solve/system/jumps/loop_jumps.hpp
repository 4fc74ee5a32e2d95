// Loop jumps: finds the loops of a recorded function whose bodies jump where a state or t passes a threshold.
//
// A loop is one operation of the function around it, so the jumps in its body are not among that function's operations. Marks
// tell which of the loop's numbers move, that is, depend on t or a state: a comparison of the step's number or of data decides
// the same in each evaluation, and is no jump. A comparison that is a kink within the body is a kink of the loop.
// Read next: solve/system/jumps/unrolled_loops.hpp, the user.
#pragma once

#include <set>
#include <vector>

#include <agrad/program/loops/scan.hpp>
#include <agrad/program/sparse/reach.hpp>
#include <agrad/solve/system/jumps/held_code.hpp>

namespace agrad {

class loop_jumps {
 public:
  /// f: a function of (t, n states, parameters). kind: whether kinks count as jumps.
  loop_jumps(const program& f, std::size_t n, held_kind kind = held_kind::jumps);

  /// Returns the loops that jump, or whose bodies contain such a loop.
  const std::set<const external_operation*>& loops() const { return loops_; }

 private:
  enum mark : reach::marks { of_time = 1, of_state = 2 };

  /// Searches a program. of_inputs: the marks of its inputs. Returns whether it jumps; own: whether its own operations count.
  bool search(const program& f, const std::vector<reach::marks>& of_inputs, bool own);
  bool search(const scan_operation& loop, const std::vector<reach::marks>& operand);
  /// Returns the marks of a body's inputs, where the carry has those of all steps.
  static std::vector<reach::marks> marks_of(const scan_operation& loop, const std::vector<reach::marks>& operand);
  bool jumps(const program& f, const reach& flow) const;
  /// Returns whether a state decides an `if` in the body, one of whose sides may not have been recorded yet.
  static bool is_open(const scan_operation& loop, const std::vector<reach::marks>& inputs);

  bool with_kinks_;
  std::set<const external_operation*> loops_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/loop_jumps.ipp>
#endif
