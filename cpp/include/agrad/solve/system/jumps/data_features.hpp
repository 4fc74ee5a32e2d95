// Data features: the points of a polygon that steps of a solver must not pass over.
//
// A right-hand side that interpolates measured data in t has a kink at each point. Smooth stretches need no stop there: the
// error control of a method sees them. But a pulse after a long rest lies between the points at which a long step evaluates.
// So the polygon is cut, from left to right, into the longest stretches whose integral one polynomial of degree 6 describes
// within the tolerance; the tolerance is relative to the integral of the distance from the stretch's first value, so a small
// pulse after a rest counts as a large one does. The ends are the features. Among stretches of similar length, such as those
// of a smooth curve or of noise, ends are dropped again, except at kinks that are far larger than others nearby: a step that
// is accurate in one stretch cannot pass over the next one. The search takes O(n log n) for n points.
// Read next: solve/system/jumps/time_switches.hpp, the user.
#pragma once

#include <cstddef>
#include <vector>

namespace agrad {

/// Returns the places x of the features of a polygon, the first and the last point among them; of all points where a number is
/// not finite or places repeat. tolerance: relative, as of the states.
std::vector<double> data_features(const std::vector<double>& x, const std::vector<double>& y, double tolerance);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/data_features.ipp>
#endif
