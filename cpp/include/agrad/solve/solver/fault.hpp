// Step fault: the reasons why a one-step solver stops, as the SolverError that the user sees.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/base/finite.hpp>

namespace agrad::detail {

/// Returns "the derivative of y[2] is nan at t = 4.1", for instance, or an empty text.
AGRAD_COLD std::string not_finite_slope(const double* slope, std::size_t n, double t);

/// Returns "the tangent of y[2] becomes nan after t = 4.1", for instance, or an empty text.
AGRAD_COLD std::string not_finite_tangent(const double* tangent, std::size_t n, double t);

/// Does the same as `not_finite_slope` for all slopes of a step's record but the first, or returns which state at the step's
/// end is not finite.
AGRAD_COLD std::string not_finite_in(const std::vector<double>& record, std::size_t n, double t,
                                     const std::vector<double>& end);

/// Throws if a tangent or adjoint is not finite although the solution is. what: "the adjoint" or "the tangent". count: how many
/// numbers, `width` for each state or parameter. advice: the cause and what to do.
[[noreturn]] AGRAD_COLD void throw_not_finite(std::string_view function, const std::string& what, std::string_view of,
                                              const double* x, std::size_t count, std::size_t width, double t, long steps,
                                              const std::string& advice);

/// Sets denormal adjoints to zero: a denormal adjoint would remain denormal and slow down all later steps.
void drop_denormals(std::vector<double>& adjoints);

/// Returns the state with the largest error relative to its tolerance, or -1 if all errors are zero.
AGRAD_COLD Eigen::Index largest(const std::vector<double>& error, const Eigen::VectorXd& scale);

/// Returns "; the last step was 1e-6", for instance, for a stop after too many steps.
AGRAD_COLD inline std::string last_step(double h) { return "; the last step was " + to_text(std::abs(h)); }

/// Throws the SolverError of a stopped integration with the time, the number of steps, the code and advice.
[[noreturn]] AGRAD_COLD void throw_stopped(std::string_view function, const std::string& code, double t, long steps,
                                           std::string advice, Eigen::Index dominating);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/solver/fault.ipp>
#endif
