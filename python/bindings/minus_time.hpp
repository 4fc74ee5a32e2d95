// Time that decreases: such a problem is solved in s = -t by a solver whose name says so, and what it says is turned back to t
// where it becomes Python's, whenever that is: in a sweep or a later call of a compiled function, too.
#pragma once

#include <string>

namespace agrad::python {

/// What follows the name of a solver that solves in s = -t (the Python side names it, in _ode/record.py).
constexpr const char* in_minus_time = " (s = -t)";

bool is_in_minus_time(const std::string& message);

/// A message of such a solver with times of t, and without that note on the solver; any other message as it is.
std::string in_time(const std::string& message);

/// The number in such a message, as a time of t: zero without a sign.
double in_time(double s);

/// Each time in a text about s ("stopped at t = 1.5") as that of t.
std::string turned_text(const std::string& text);

}  // namespace agrad::python
