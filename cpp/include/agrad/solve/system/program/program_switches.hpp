// Program switches: the held switches of a recorded right-hand side.
//
// A comparison has one root, x - y, which may be crossed in both directions; a rounding has two, the whole numbers (or halves)
// below and above, which move on when one is crossed; so has a quotient, with whole multiples of y. All roots of a point are
// computed by one run of one program, with one tangent along the solution for their rates.
// Read first: solve/system/jumps/held_code.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/held_switches.hpp>
#include <agrad/solve/system/jumps/held_code.hpp>
#include <agrad/solve/system/program/function.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

class program_switches final : public held_switches {
 public:
  /// system: of the held code, n states.
  program_switches(std::shared_ptr<const held_code> code, program_system& system, Eigen::Index n);

  std::size_t size() const override { return roots_.size(); }
  AGRAD_INLINE std::unique_ptr<differentiable_function> root(std::size_t i) override;
  AGRAD_INLINE int direction(std::size_t i) const override;
  AGRAD_INLINE int side(std::size_t i) const override;
  bool is_kink(std::size_t i) const override { return code_->entries[roots_[i].entry].is_kink; }
  AGRAD_INLINE std::string name(std::size_t i) const override;

  const std::vector<double>& held() const override { return held_; }
  AGRAD_INLINE void hold(const std::vector<double>& sides) override;

  AGRAD_INLINE void evaluate(double t, const double* y, const double* slope) override;
  AGRAD_INLINE void evaluate(double t, const double* y) override;
  AGRAD_INLINE double value(std::size_t i) const override;
  AGRAD_INLINE double rate(std::size_t i) const override;
  AGRAD_INLINE double least(std::size_t i) const override;
  bool are_linear() const override { return are_linear_; }

  AGRAD_INLINE void start(double t, const double* y) override;
  AGRAD_INLINE void cross(std::size_t i) override;
  AGRAD_INLINE bool follow(const std::vector<std::size_t>& crossed) override;

 private:
  class root_function;

  struct root_of {
    std::size_t entry;
    int end;  // of the cell of a rounding: -1 below, 1 above; 0 for a comparison
  };
  /// Returns the ends of the interval of numbers that are rounded to a whole number.
  static std::pair<double, double> cell(const jump_site& site, double whole);
  /// Returns the side of an entry beside a threshold: above or below an end of cells, or where x is larger or smaller than y.
  static double side_beside(const held_entry& entry, double end, bool is_above);

  /// A root is factor * (x - multiple * y) - shift, of the two numbers of its entry.
  struct form {
    double factor, multiple, shift;
  };
  /// y: the value of the entry's second number.
  form form_of(std::size_t i, double y) const;
  /// Returns a root from the two numbers of its entry; always finite: infinite roots are large, and where a number is nan, the
  /// comparison does not change its result, so that the root stays on its side.
  double root_of_numbers(std::size_t i, double x, double y) const;

  /// Returns whether the numbers of an entry are away from its places, where another entry that crossed at the same time has
  /// changed them.
  bool is_clear(std::size_t entry) const;

  /// Returns the side of an entry where it is clear; where the numbers meet, the side to which the rates lead.
  double side_of(std::size_t entry) const;
  /// Stores the largest numbers so far, and finds the followers.
  void take_values();
  /// Marks entries whose numbers and sides equal those of an earlier entry, as in the steps of a loop after its end. Their
  /// roots stay on their side, because the earlier root crosses first, and may change them. Kinks with equal numbers are none,
  /// because the derivatives of their numbers may differ.
  void find_followers();

  static constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();  // numbers this close, relatively, meet

  std::shared_ptr<const held_code> code_;
  program_system& system_;
  program_function sides_;
  std::vector<root_of> roots_;
  bool are_linear_ = true;
  std::vector<double> held_, values_, rates_;  // values_, rates_: x and y of each entry
  std::vector<double> largest_;                // of each entry, the largest number so far
  std::vector<std::uint8_t> follows_;          // of each entry
  std::vector<std::size_t> order_;
  workspace plain_work_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/program/program_switches.ipp>
#endif
