// Tangents: records the directional derivative of a part of a recording, so that it can be differentiated again.
//
// This file is the forward counterpart of program/derive/adjoints.hpp: rules record the formulas of their derivatives, linear
// operations are repeated on tangents, and each other operation becomes one operation
// (program/derive/derivative_operations.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <agrad/program/derive/adjoints.hpp>
#include <agrad/program/derive/part.hpp>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/kernels/shares.hpp>
#include <agrad/program/recording/tracing.hpp>

namespace agrad {

class tangent_recorder {
 public:
  tangent_recorder(recorder& in, recorded_part& part) : in_(in), part_(part), tangent_(in.size(), 0), singular_(in.size()) {}

  void seed(slot input, slot tangent);

  void reverse();

  /// Returns the tangent of a slot after `reverse`; slot 0, a zero, where there is none.
  slot of(slot s) const { return s < tangent_.size() ? tangent_[s] : 0; }

 private:
  using Index = std::uint32_t;

  void propagate(const operation& op);

  static bool is_linear_in_first(const operation& op);

  std::vector<slot> tangent_slots(const span& x) const;
  span tangents_of(const span& x);

  void set_tangents(const operation& op, const span& tangents);
  void set_slots(const operation& op, const span& from);

  void propagate_gather(const operation& op);

  void propagate_elementwise(const operation& op);
  void propagate_repeated(const operation& op, const std::vector<span>& operands);

  void propagate_product(const operation& op);

  /// Returns the tangents of operand k times the slopes after it.
  traced product_of_links(const operation& op, Index k, const traced& tangent, const traced& slope);
  /// Returns whether the tangent of an operand may be infinite without an overflow.
  bool may_be_infinite(const span& operand) const;
  /// Returns the tangent of an operand times the slope after it, where a computed zero makes an infinite tangent unknown.
  traced linked(const span& operand, const traced& tangent, const traced& slope) const;
  /// Propagates through y = log(sum_j exp(x_j)): the tangent of y is the sum of the tangents of x_j times their shares.
  void propagate_log_sum_exp(const operation& op);
  void propagate_log_shares(const operation& op);
  void propagate_shares(const operation& op);

  /// Propagates through polygons: these are linear in the values of their points, and a shift of a point to the right is a
  /// shift of the argument to the left.
  void propagate_polygon(const operation& op);
  void propagate_polygon_slope(const operation& op);
  traced looked_up(const kernel& what, const operation& op, const span& values);
  span dense_now(const operation& op, Index k);

  void propagate_by_loops(operation op);

  recorder& in_;
  recorded_part& part_;
  std::vector<slot> tangent_;  // slot -> slot of its tangent
  detail::slot_set singular_;  // whose tangents may be infinite without an overflow
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/tangents.ipp>
#endif
