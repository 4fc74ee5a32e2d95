// ODE algebra: which linear algebra stands behind Newton's method and Rosenbrock steps, as a user may choose it.
//
// The matrices are I / (h g) - df/dy. Dense ones cost n^3 for a factorisation, banded ones n (lower + upper)^2, sparse ones what
// their fill costs, and GMRES takes products with df/dy only. `automatic` chooses from the pattern of df/dy: the one given here,
// or the one that the system knows (a recorded program does).
// Read next: solve/algebra/pattern.hpp, how it is chosen; solve/algebra/newton_matrix.hpp, the factorisations.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <string_view>

#include <agrad/base/check.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad {

enum class ode_algebra_kind { automatic, dense, banded, sparse, gmres };

/// How far below and above the diagonal df/dy has entries.
struct half_bandwidths {
  long lower = 0, upper = 0;
};

/// The kind, and at most one description of where df/dy may be other than zero; without one it is what the system knows.
struct ode_algebra {
  ode_algebra_kind kind = ode_algebra_kind::automatic;
  std::optional<half_bandwidths> bandwidths;
  std::optional<csr_pattern> pattern;  // n x n
  std::string argument = "algebra";    // what messages call the description
};

/// Checks a description for a system of n states; throws ShapeError or DomainError.
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
    const std::string wanted = std::to_string(n) + " x " + std::to_string(n);
    throw ShapeError(detail::sentence(function, algebra.argument, -1, "of shape " + shape, "of shape " + wanted,
                                      "a row and a column for each state"));
  }
}

}  // namespace agrad
