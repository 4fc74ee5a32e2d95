// Partition: the division of an interval until integrals of several functions are accurate, on numbers.
//
// The parts of an interval of a variable t are bisected where Gauss and Kronrod's rule of 21 nodes has the largest error. A
// substitution maps t to x, which may be unbounded. Definitions are in functionals/search/partition.ipp.
// Read next: functionals/quadrature.hpp, functionals/search/quadrature_operation.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace agrad::detail {

enum class quadrature_method { gauss_kronrod, double_exponential };

/// A node of a rule: its place on (-1, 1), and its weights in Kronrod's and in Gauss's rule.
struct rule_node {
  double place, kronrod, gauss;
};
const std::array<rule_node, 21>& rule_nodes();

/// A place x with dx/dt and its distance to the nearer limit: a - x or b - x, nan in an infinite interval.
struct placed {
  double x, slope, distance;
};

/// The interval from a to b, where an infinite a is -infinity and an infinite b is infinity, as an image of an interval of t.
struct substitution {
  quadrature_method method;
  double a, b;
  bool low_finite, high_finite;

  substitution(quadrature_method how, double from, double to);
  std::pair<double, double> span() const;
  placed place(double t) const;
  placed inside() const;           // a place between the limits
  double inverse(double x) const;  // t for a given x, within the span
  bool contains(double x) const;   // whether x is between the limits
  bool is_bounded() const { return low_finite && high_finite; }
};

/// Computes values at n places, at most 21, the components of a place side by side: values of the integrand, which are
/// `results`, and behind them its derivatives in a direction.
struct integrand {
  std::function<void(const placed* at, std::size_t n, double* values)> values;
  std::size_t results, components;
};

struct quadrature_options {
  double relative_tolerance, absolute_tolerance;
  std::size_t limit;                // the most intervals
  bool takes_distance;              // near the limits f uses the distance, so that rounding of x does no harm
  std::vector<double> points = {};  // where the interval is divided first, as far as they are between the limits
};

inline constexpr std::size_t first_intervals = 8;  // besides those that begin at points

/// The intervals of t, and the integrals with estimates of their errors.
struct partition {
  std::vector<std::pair<double, double>> intervals = {};
  std::vector<double> integral = {}, error = {}, allowed = {};  // of all components
  std::vector<double> singular = {};  // limits and points at which the function is not finite; nodes may be rounded to them
  double odd = std::numeric_limits<double>::quiet_NaN();  // a place between the limits where it is not finite; nan for none
  bool has_values = true;                                 // whether the function is other than 0 at a node, or may be 0
  bool is_accurate = false;                               // whether the errors are allowed, and all else is well
};

/// Divides the interval from a to b until the errors of all components are allowed, or as far as it may be divided.
partition divide(const substitution& map, const integrand& f, const quadrature_options& options);

/// Throws SolverError unless the integral is accurate.
void check_accuracy(std::string_view function, const partition& found);

/// Returns whether the function is to be evaluated at a node.
bool is_inner(const partition& found, const placed& at);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/functionals/search/partition.ipp>
#endif
