// Minimum search: Newton's method with damping for the minimum of a smooth function of a vector, on numbers.
//
// Where the Hessian is indefinite, steps take its eigenvalues by their absolute values, so that they go downhill there, too. A
// step to a point outside of the function's domain is a step that is too long. Definitions are in
// functionals/search/minimum_search.ipp. Source: Nocedal and Wright (2006), Numerical Optimization, sections 3.4 and 4.1.
// Read next: functionals/latent_mode.hpp, modes; functionals/search/search_operation.hpp, searches in programs.
#pragma once

#include <Eigen/Core>
#include <functional>

#include <agrad/functionals/search/search_end.hpp>

namespace agrad::detail {

/// Computes the value at x, and the gradient and the Hessian where the pointers are not null.
using potential = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd* gradient, Eigen::MatrixXd* hessian)>;

/// When a search ends: where Newton's step is short, as `root_options` say it; or, where `deviations` is positive, where it is
/// at most so many standard deviations long, of the normal density whose negative logarithm has this Hessian, or rounding.
struct minimum_options {
  double relative_tolerance = 1e-10, absolute_tolerance = 0, deviations = 0;
  int max_steps = 200;
};

/// How a search for a minimum ended, and where. `hessian`, at x, is empty unless the minimum was found.
struct minimum_search {
  search_end end;
  int steps;
  Eigen::VectorXd x;
  Eigen::MatrixXd hessian;
};

/// Searches for the minimum to which the method leads from x. Throws what the function throws at the start.
minimum_search search_minimum(const potential& f, Eigen::VectorXd x, const minimum_options& options);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/functionals/search/minimum_search.ipp>
#endif
