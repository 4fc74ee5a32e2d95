// Linearity: tells which last slots of a recording depend on given slots, and whether linearly.
//
// A derivative by hand must be linear in the tangents. Kernels tell which operations are linear. Doubtful cases are run along
// three directions, one of which is a combination of the others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/machine/traced.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad {

class linearity {
 public:
  /// Examines operations from number `begin`, which were recorded after the slots `on`.
  linearity(const recorder& in, std::size_t begin, std::vector<slot> on);

  bool depends(const std::vector<slot>& slots) const;

  /// Returns whether the slots are linear in the slots `on`, whose values are zero.
  bool is_linear(const std::vector<slot>& slots) const;

 private:
  enum how : std::uint8_t { not_at_all, linearly, somehow };

  how how_of(slot s) const { return s < first_ ? not_at_all : how_[s - first_]; }
  how most(const span& x) const;
  bool is_zero(const span& x) const;

  void enter(const operation& op);

  how of(const operation& op) const;

  static bool moves_or_adds(const operation& op);

  // ---- by runs

  /// Returns numbers of both signs and of different sizes.
  static double direction(std::size_t i);

  bool is_linear_in_ranges(const std::vector<slot>& slots) const;

  /// Computes the values of slots for values x of the slots `on`.
  std::vector<double> run(const std::vector<double>& x, const std::vector<slot>& slots) const;
  bool reads(const operation& op) const;

  const recorder& in_;
  std::size_t begin_;
  std::vector<slot> on_;
  slot first_ = 0;
  std::vector<how> how_;  // for each slot from first_
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/linearity.ipp>
#endif
