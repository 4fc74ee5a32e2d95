// CVODES interpolation: works around two faults of CVODES' interpolation between checkpoints.
//
// Between two checkpoints CVODES stores a segment of points and interpolates in the segment for the reverse pass.
// 1. At exactly a segment's first point, CVODES returns that point and marks the first interval as current without computing
// the interval's polynomial; later evaluations in the interval then use another interval's polynomial. A rejected step of the
// reverse pass that ends on a checkpoint, or an output time in that interval, is enough: errors as large as the states were
// seen. After such an evaluation, `cvodes_interpolation` evaluates elsewhere.
// 2. Polynomial interpolation takes as many points as the method's order from one segment. Where the last segment has fewer
// points, CVODES reads points left by an earlier segment. `is_short` detects such segments; solve/cvodes/adjoint.hpp avoids
// them.
// Both faults are silent: only the gradient is wrong. Seen in SUNDIALS 7.9 (cvodea.c, CVAfindIndex, CVAhermiteGetY,
// CVApolynomialGetY).
#pragma once

#include <vector>

#include <agrad/solve/sundials/handles.hpp>

namespace agrad::detail {

class cvodes_interpolation {
 public:
  /// Returns whether the last segment has too few points for polynomials of the given order.
  static bool is_short(long steps, long segment, long order) {
    return steps >= segment && steps % segment != 0 && steps % segment < order;
  }

  /// Reads the checkpoints of a forward integration that has just ended.
  void watch(void* forward, const sundials::vector_handle& like, long checkpoints) {
    forward_ = forward;
    if (!scratch_) scratch_.reset(N_VClone(like.get()));
    segments_.resize(static_cast<std::size_t>(checkpoints) + 1);
    CVodeGetAdjCheckPointsInfo(forward, segments_.data());
    current_ = 0;
  }

  /// The caller calls this function after CVODES has interpolated at t.
  void interpolated(double t) {
    void* address = nullptr;
    CVodeGetAdjCurrentCheckPoint(forward_, &address);
    // The reverse pass visits the segments from the last to the first.
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
