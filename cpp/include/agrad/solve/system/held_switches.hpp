// Held switches: the comparisons by which a right-hand side jumps, as a solver sees them.
//
// The sides of all comparisons are held while steps are taken. Each comparison has a root, a function that is zero where the
// side changes: an event of the solve without a reset (solve/events/solver.hpp). Where it happens, its side changes, and the
// solve goes on from the same state with another right-hand side. Where second derivatives are wanted, comparisons that make a
// kink are held, too: the right-hand side is then continuous, and its derivative jumps.
// Read next: solve/system/program/program_switches.hpp, the switches of recorded functions.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <agrad/solve/system/function.hpp>

namespace agrad {

class held_switches {
 public:
  virtual ~held_switches() = default;

  /// Returns the number of roots.
  virtual std::size_t size() const = 0;
  virtual std::unique_ptr<differentiable_function> root(std::size_t i) = 0;
  /// Returns the direction in which a root must cross zero, 0 for both.
  virtual int direction(std::size_t i) const = 0;
  /// Returns the side of zero, 1 or -1, on which the held side has a root.
  virtual int side(std::size_t i) const = 0;
  /// Returns whether the right-hand side is continuous where a root is zero.
  virtual bool is_kink(std::size_t i) const = 0;
  /// Returns a root in the user's words, for messages.
  virtual std::string name(std::size_t i) const = 0;

  virtual const std::vector<double>& held() const = 0;
  virtual void hold(const std::vector<double>& sides) = 0;

  /// Computes all roots and their rates of change at a point of a solution with this slope.
  virtual void evaluate(double t, const double* y, const double* slope) = 0;
  /// Computes all roots alone; `rate` is then unknown.
  virtual void evaluate(double t, const double* y) = 0;
  virtual double value(std::size_t i) const = 0;
  virtual double rate(std::size_t i) const = 0;
  /// Returns the size up to which a root counts as zero beside the numbers that it is the difference of.
  virtual double least(std::size_t i) const = 0;
  /// Returns whether all roots are known to be linear in time and state.
  virtual bool are_linear() const = 0;

  /// Holds the sides that the right-hand side itself has at a point.
  virtual void start(double t, const double* y) = 0;
  /// Changes the side of a root that has crossed zero.
  virtual void cross(std::size_t i) = 0;
  /// After `evaluate`: adopts sides that are clear from the values, and where a value is zero those to which its rate leads.
  /// The sides of the given roots stay where their values are near zero. Returns whether a side has changed.
  virtual bool follow(const std::vector<std::size_t>& crossed) = 0;
};

}  // namespace agrad
