// CVODES interpolation: two faults of CVODES' interpolation between checkpoints, and how they are kept from doing harm.
//
// Between two checkpoints CVODES keeps a segment of stored points and interpolates in it for the backward pass.
// 1. Evaluated exactly at a segment's first point, it returns that point and notes the first interval as current without
//    computing that interval's polynomial; what follows in the interval then comes from another interval's polynomial. A
//    backward step that ends on a checkpoint and is rejected, or an output time in that interval, is enough: states were
//    seen to be wrong by their own size. `cvodes_interpolation` evaluates elsewhere in between.
// 2. Polynomial interpolation takes as many points as the method's order from one segment. Where the last segment has fewer,
//    it reads what an earlier one left there. `is_short` tells such segments; solve/cvodes/adjoint.hpp avoids them.
// Both are silent: only the gradient is wrong. Seen in SUNDIALS 7.9 (cvodea.c, CVAfindIndex, CVAhermiteGetY,
// CVApolynomialGetY).
#pragma once

#include <vector>

#include <agrad/solve/sundials/handles.hpp>

namespace agrad::detail {

class cvodes_interpolation {
 public:
  /// Whether the last of the segments has too few points for polynomials of the given order.
  static bool is_short(long steps, long segment, long order) {
    return steps >= segment && steps % segment != 0 && steps % segment < order;
  }

  /// Takes note of the checkpoints of a forward integration that has just ended.
  void watch(void* forward, const sundials::vector_handle& like, long checkpoints) {
    forward_ = forward;
    if (!scratch_) scratch_.reset(N_VClone(like.get()));
    segments_.resize(static_cast<std::size_t>(checkpoints) + 1);
    CVodeGetAdjCheckPointsInfo(forward, segments_.data());
    current_ = 0;
  }

  /// To be called when CVODES has interpolated at t.
  void interpolated(double t) {
    void* address = nullptr;
    CVodeGetAdjCurrentCheckPoint(forward_, &address);
    // Segments are passed one after the other, from the last to the first.
    for (std::size_t tried = 0; segments_[current_].my_addr != address && tried < segments_.size(); ++tried)
      current_ = current_ + 1 < segments_.size() ? current_ + 1 : 0;
    const CVadjCheckPointRec& segment = segments_[current_];
    if (t <= segment.t0 && segment.t0 < segment.t1) CVodeGetAdjY(forward_, segment.t1, scratch_.get());
  }

 private:
  void* forward_ = nullptr;
  sundials::vector_handle scratch_;
  std::vector<CVadjCheckPointRec> segments_;
  std::size_t current_ = 0;
};

}  // namespace agrad::detail
