// Decreasing time: such a problem is solved in s = -t by a solver whose name says so. Messages of this solver are turned back
// to t when Python receives the messages, also in a reverse pass or a later call of a compiled function.
#pragma once

#include <string>

namespace agrad::python {

/// The suffix of the name of a solver that solves in s = -t (the Python side adds it, in _ode/problem.py).
constexpr const char* in_minus_time = " (s = -t)";

bool is_in_minus_time(const std::string& message);

/// Returns a message of such a solver with times t, without the suffix; any other message unchanged.
std::string in_time(const std::string& message);

/// Returns a time s of such a message as a time t: zero without a sign.
double in_time(double s);

/// Returns a text about s ("stopped at t = 1.5") with all times as times t.
std::string turned_text(const std::string& text);

}  // namespace agrad::python
