// Partition: the division of an interval until integrals of several functions are accurate, on numbers.
//
// The parts of an interval of a variable t are bisected where Gauss and Kronrod's rule of 21 nodes has the largest error. A
// substitution maps t to x, which may be unbounded. It is the method of python/agrad/_functionals/partition.py. Definitions are
// in functionals/partition.ipp. Read next: functionals/quadrature.hpp.
#pragma once

#include <array>
#include <functional>
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
  double inside() const;  // a place between the limits
};

/// Computes `components` values at x: the integrand, and its derivatives in a direction.
using integrand_values = std::function<void(const placed& at, double* values)>;

struct quadrature_options {
  double relative_tolerance, absolute_tolerance;
  int limit;            // the most intervals
  bool takes_distance;  // near the limits f uses the distance, so that rounding of x does no harm
};

/// The intervals of t, and the estimate of the integral's error.
struct partition {
  std::vector<std::pair<double, double>> intervals;
  double error;
  bool low_singular = false,
       high_singular = false;  // whether the function is not finite at a limit, which nodes may be rounded to
};

/// Returns a partition in which the errors of all components are allowed; throws SolverError if there is none.
partition divide(std::string_view function, const substitution& map, const integrand_values& f, int components,
                 const quadrature_options& options);

/// Returns whether the function is to be evaluated at a node.
bool is_inner(const substitution& map, const partition& found, const placed& at);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/functionals/partition.ipp>
#endif
