// State pattern: chooses the linear algebra of a system, and evaluates the Jacobian in the form of this algebra.
//
// `choose_algebra` compares the costs of factorisations: dense for few states, banded for narrow bands, sparse for little
// fill-in. `state_jacobian` evaluates df/dy in the chosen form. A user's pattern is checked at the first evaluation, the
// second, the fourth and so on, because an entry may be zero at first: one product with a vector tells whether an entry outside
// of the pattern is nonzero.
// Read next: solve/algebra/newton_matrix.hpp, the factorisation.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/algebra/choice.hpp>
#include <agrad/solve/system/mass_matrix.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

/// The linear algebra of a system. The pattern, if any, has the whole diagonal and the entries of the mass matrix.
struct chosen_algebra {
  ode_algebra_kind kind = ode_algebra_kind::dense;  // never automatic
  std::size_t states = 0;
  std::shared_ptr<const csr_pattern> pattern;  // null: every entry
  std::size_t lower = 0, upper = 0;            // half-bandwidths of the pattern
  bool is_claimed = false;                     // whether the pattern is a user's
  std::string argument;                        // name of the pattern in messages

  friend bool operator==(const chosen_algebra& a, const chosen_algebra& b) {
    const bool same_pattern = a.pattern && b.pattern ? *a.pattern == *b.pattern : a.pattern == b.pattern;
    return a.kind == b.kind && a.states == b.states && same_pattern && a.is_claimed == b.is_claimed && a.argument == b.argument;
  }
};

namespace detail {

/// Returns the pattern with the whole diagonal and the entries of a mass matrix, if there is one.
csr_pattern completed(const csr_pattern& p, const mass_matrix* mass);

csr_pattern band_pattern(std::size_t n, const half_bandwidths& widths);

/// Return the seconds of a factorisation and twelve solves, as in a Rosenbrock step with its reverse pass, fitted to
/// measurements on bands, arrows and random patterns of 3 to 1024 states. Only the ratios of the costs are used.
double dense_cost(std::size_t states);
double banded_cost(std::size_t states, std::size_t lower, std::size_t upper);
double sparse_cost(const csr_pattern& p);

ode_algebra_kind cheapest(const chosen_algebra& of);

void set_pattern(chosen_algebra& chosen, csr_pattern pattern);

}  // namespace detail

/// Returns the algebra that a user chose or, for `automatic`, the cheapest one. Tells the system the pattern to write. mass:
/// the mass matrix; null for the identity.
chosen_algebra choose_algebra(std::string_view function, ode_system& system, const ode_algebra& requested,
                              const mass_matrix* mass = nullptr);

/// Evaluates df/dy of a system in the form of an algebra.
class state_jacobian {
 public:
  state_jacobian(std::string function, ode_system& system, chosen_algebra how)
      : function_(std::move(function)), system_(system), how_(std::move(how)) {}

  /// Computes the entries of df/dy: all, column after column, or those of the pattern, in its order.
  void operator()(double t, const double* y, double* entries);

  const chosen_algebra& how() const { return how_; }

  /// Returns the row and the column of entry k.
  std::pair<std::size_t, std::size_t> place(std::size_t k) const;

 private:
  /// Compares J r computed from the entries and by the system, for a vector r with all entries different.
  void check_claim(double t, const double* y, const double* entries);

  AGRAD_COLD void name_missing(double t, const double* y, std::size_t i);

  std::string function_;
  ode_system& system_;
  chosen_algebra how_;
  long evaluations_ = 0, next_check_ = 1;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/algebra/pattern.ipp>
#endif
