// ODE algebra: lets users choose the linear algebra of Newton's method and of Rosenbrock steps.
//
// The matrices are I / (h g) - df/dy. A dense factorisation costs n^3, a banded one n (lower + upper)^2, a sparse one depends
// on the fill-in, and GMRES needs only products with df/dy. `automatic` chooses from the pattern of df/dy: the user's or the
// system's (a recorded program knows its pattern).
// Read next: solve/algebra/pattern.hpp, the choice; solve/algebra/newton_matrix.hpp, the factorisations.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <string_view>

#include <agrad/base/check.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad {

enum class ode_algebra_kind { automatic, dense, banded, sparse, gmres };

/// Numbers of diagonals of df/dy below and above the main diagonal.
struct half_bandwidths {
  long lower = 0, upper = 0;
};

/// A kind of linear algebra, and at most one description of the nonzeros of df/dy; without a description, the system's pattern.
struct ode_algebra {
  ode_algebra_kind kind = ode_algebra_kind::automatic;
  std::optional<half_bandwidths> bandwidths;
  std::optional<csr_pattern> pattern;  // n x n
  std::string argument = "algebra";    // name of the description in messages
};

/// Checks a description for a system of n states. Throws ShapeError or DomainError.
inline void check_algebra(std::string_view function, const ode_algebra& algebra, Eigen::Index n) {
  if (algebra.bandwidths) {
    if (algebra.pattern)
      throw DomainError(detail::sentence(function, algebra.argument, -1, "half-bandwidths and a pattern", "one of the two"));
    for (const long width : {algebra.bandwidths->lower, algebra.bandwidths->upper})
      if (width < 0 || width >= n)
        throw DomainError(detail::sentence(function, algebra.argument, -1, "a half-bandwidth of " + std::to_string(width),
                                           "0 or more and less than the number of states, " + std::to_string(n)));
  }
  if (algebra.pattern &&
      (algebra.pattern->rows() != static_cast<std::size_t>(n) || algebra.pattern->cols != static_cast<std::size_t>(n))) {
    const std::string shape = std::to_string(algebra.pattern->rows()) + " x " + std::to_string(algebra.pattern->cols);
    const std::string required = std::to_string(n) + " x " + std::to_string(n);
    throw ShapeError(detail::sentence(function, algebra.argument, -1, "of shape " + shape, "of shape " + required,
                                      "a row and a column for each state"));
  }
}

}  // namespace agrad
