// Event schedule: doses, ends of infusions and stops in the order of their times, and the checks of a dose table.
//
// At the same instant infusions end first; then come doses in the order of their table, then stops. The schedule leaves out all
// that lies after the last output time, and stops at this time or not after t0. An infusion whose duration is within rounding
// of its time becomes a dose at once: a solver could not resolve its rate, nor differences of rates its gradient.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/solve/solver/options.hpp>
#include <agrad/solve/system/event.hpp>

namespace agrad::detail {

/// A dose, an end of an infusion or a stop.
struct scheduled {
  enum kind_type { infusion_end, dose, stop };
  double time;
  kind_type kind;
  std::size_t index;
  bool is_at_once = false;  // of a dose
};

/// Durations up to this one vanish in the rounding of the infusion's time.
inline double too_short(double begin) { return 256 * std::numeric_limits<double>::epsilon() * std::abs(begin); }

/// Returns the duration of an infusion after rounding of its end time, so that the total amount is exact.
double infusion_length(const event_values& v, std::size_t i);

void check_dose(const std::string& function, std::size_t i, const dose_rule& rule, const event_values& v);

void check_plan(const std::string& function, const event_plan& plan, Eigen::Index states);

/// Checks a problem's numbers. The first output time may be t0.
void check_values(const std::string& function, const event_plan& plan, const event_values& v, Eigen::Index states);

/// Lists all doses, ends of infusions and stops until the last output time, in order.
void make_schedule(const event_plan& plan, const event_values& v, std::vector<scheduled>& schedule);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/events/schedule.ipp>
#endif
