// Recorded problem: the recorded functions, sizes and options of a problem, from which solves are posed.
// Read next: solve/record/solve_operation.hpp; solve/record/ode_problem.hpp, a kind.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agrad/program/store/portable.hpp>
#include <agrad/solve/posed/posed_solve.hpp>

namespace agrad {

class recorded_problem {
 public:
  virtual ~recorded_problem() = default;

  /// Returns the name at the start of messages.
  virtual const std::string& function() const = 0;

  /// Poses a solve, for reverse passes and tangents if `differentiated`.
  virtual std::unique_ptr<posed_solve> pose(bool differentiated) const = 0;

  /// Poses a solve with the same argument and result for second derivatives; null where the solve for reverse passes serves.
  virtual std::unique_ptr<posed_solve> pose_second() const { return nullptr; }

  /// Returns whether tangents and adjoints of the recorded functions agree to rounding.
  virtual bool tangents_match() const { return true; }

  /// Declares that, from the next run on, results whose number depends on values are read; another number of them is then an
  /// error.
  virtual void expect_hits() const {}

  /// Returns the problem for derivatives with respect to some entries of the argument alone; null where this problem serves.
  virtual std::shared_ptr<const recorded_problem> for_entries(const std::vector<bool>&) const { return nullptr; }

  /// Returns the kind's name in stored programs; empty if the problem cannot be stored.
  virtual std::string_view kind() const = 0;
  /// Writes the data from which an equal problem can be made.
  virtual void write(portable_writer& to) const = 0;
};

}  // namespace agrad
