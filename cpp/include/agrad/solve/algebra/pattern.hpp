// State pattern: chooses the linear algebra of a system, and evaluates the Jacobian in the form of this algebra.
//
// `choose_algebra` compares the costs of factorisations: dense for few states, banded for narrow bands, sparse for little
// fill-in. `state_jacobian` evaluates df/dy in the chosen form. A user's pattern is checked at the first evaluation: one
// product with a vector tells whether an entry outside of the pattern is nonzero.
// Read next: solve/algebra/newton_matrix.hpp, the factorisation.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/algebra/choice.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

/// The linear algebra of a system. The pattern, if any, has the whole diagonal.
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

inline csr_pattern with_diagonal(const csr_pattern& p) {
  csr_pattern full;
  full.cols = p.cols;
  std::vector<csr_pattern::index> row;
  for (std::size_t i = 0; i < p.rows(); ++i) {
    row.assign(p.row(i).begin(), p.row(i).end());
    row.push_back(static_cast<csr_pattern::index>(i));
    full.append_row(row);
  }
  return full;
}

inline csr_pattern band_pattern(std::size_t n, const half_bandwidths& widths) {
  const auto lower = static_cast<std::size_t>(widths.lower), upper = static_cast<std::size_t>(widths.upper);
  csr_pattern p;
  p.cols = n;
  std::vector<csr_pattern::index> row;
  for (std::size_t i = 0; i < n; ++i) {
    row.clear();
    for (std::size_t j = i - std::min(lower, i); j <= std::min(n - 1, i + upper); ++j)
      row.push_back(static_cast<csr_pattern::index>(j));
    p.append_row(row);
  }
  return p;
}

/// Return the seconds of a factorisation and twelve solves, as in a Rosenbrock step with its reverse pass, fitted to
/// measurements on bands and arrows of 16 to 1024 states. Only the ratios of the costs are used.
inline double dense_cost(std::size_t states) {
  const auto n = static_cast<double>(states);
  return n * (1e-7 + 6e-9 * n + 5e-11 * n * n);
}
inline double banded_cost(std::size_t states, std::size_t lower, std::size_t upper) {
  const auto n = static_cast<double>(states), l = static_cast<double>(lower), u = static_cast<double>(upper);
  return n * (1.5e-7 + 5e-10 * l * (l + u) + 6e-9 * (2 * l + u));
}
inline double sparse_cost(const csr_pattern& p) {  // twice the cost of a band, for fill-in
  return 1e-6 * static_cast<double>(p.rows()) + 2.4e-7 * static_cast<double>(p.size());
}

inline ode_algebra_kind cheapest(const chosen_algebra& of) {
  const double dense = dense_cost(of.states), banded = banded_cost(of.states, of.lower, of.upper);
  if (banded <= std::min(dense, sparse_cost(*of.pattern))) return ode_algebra_kind::banded;
  return sparse_cost(*of.pattern) < dense ? ode_algebra_kind::sparse : ode_algebra_kind::dense;
}

inline void set_pattern(chosen_algebra& chosen, csr_pattern pattern) {
  chosen.pattern = std::make_shared<const csr_pattern>(std::move(pattern));
  for (std::size_t i = 0; i < chosen.states; ++i) {
    const auto row = chosen.pattern->row(i);  // never empty, because of the diagonal
    chosen.lower = std::max(chosen.lower, i - *row.begin());
    chosen.upper = std::max<std::size_t>(chosen.upper, *(row.end() - 1) - i);
  }
}

}  // namespace detail

/// Returns the algebra that a user chose or, for `automatic`, the cheapest one. Tells the system the pattern to write.
inline chosen_algebra choose_algebra(std::string_view function, ode_system& system, const ode_algebra& asked) {
  constexpr std::size_t few_states = 8;  // up to here, dense costs less than a comparison
  check_algebra(function, asked, system.states());
  chosen_algebra chosen;
  chosen.states = static_cast<std::size_t>(system.states());
  chosen.kind = asked.kind;
  chosen.argument = asked.argument;
  if (asked.kind == ode_algebra_kind::gmres) return chosen;
  if (asked.kind == ode_algebra_kind::automatic && chosen.states < few_states) chosen.kind = ode_algebra_kind::dense;
  if (asked.bandwidths || asked.pattern) {
    chosen.is_claimed = true;
    detail::set_pattern(chosen, asked.bandwidths ? detail::band_pattern(chosen.states, *asked.bandwidths)
                                                 : detail::with_diagonal(*asked.pattern));
  } else if (chosen.kind != ode_algebra_kind::dense) {
    if (const auto known = system.known_pattern()) detail::set_pattern(chosen, detail::with_diagonal(*known));
  }
  if (chosen.kind == ode_algebra_kind::automatic)
    chosen.kind = chosen.pattern ? detail::cheapest(chosen) : ode_algebra_kind::dense;
  if (chosen.kind != ode_algebra_kind::dense && !chosen.pattern) {
    throw DomainError(detail::sentence(function, asked.argument, -1, "without half-bandwidths and pattern",
                                       "given for banded or sparse matrices",
                                       "nothing else tells where the right-hand side's derivatives are zero"));
  }
  if (chosen.pattern) system.use_pattern(chosen.pattern);
  return chosen;
}

/// Evaluates df/dy of a system in the form of an algebra.
class state_jacobian {
 public:
  state_jacobian(std::string function, ode_system& system, chosen_algebra how)
      : function_(std::move(function)), system_(system), how_(std::move(how)), is_checked_(!how_.is_claimed) {}

  /// Computes the entries of df/dy: all, column after column, or those of the pattern, in its order.
  void operator()(double t, const double* y, double* entries) {
    if (!how_.pattern) {
      const auto n = system_.states();
      system_.jacobian(t, y, Eigen::Map<Eigen::MatrixXd>(entries, n, n));
      return;
    }
    system_.jacobian_entries(t, y, entries);
    if (!is_checked_) check_claim(t, y, entries);
  }

  const chosen_algebra& how() const { return how_; }

  /// Returns the row and the column of entry k.
  std::pair<std::size_t, std::size_t> place(std::size_t k) const {
    if (!how_.pattern) return {k % how_.states, k / how_.states};
    const auto after = std::upper_bound(how_.pattern->begin.begin(), how_.pattern->begin.end(), k);
    return {static_cast<std::size_t>(after - how_.pattern->begin.begin()) - 1, how_.pattern->col[k]};
  }

 private:
  /// Compares J r computed from the entries and by the system, for a vector r with all entries different.
  void check_claim(double t, const double* y, const double* entries) {
    std::vector<double> r(how_.states), product(how_.states);
    for (std::size_t j = 0; j < how_.states; ++j) {
      const double irrational = static_cast<double>(j) * 0.6180339887498949;
      r[j] = 1 + irrational - std::floor(irrational);
    }
    system_.jvp(t, y, r.data(), product.data());
    for (std::size_t i = 0; i < how_.states; ++i) {
      double sum = 0, size = std::abs(product[i]);
      for (std::size_t k = how_.pattern->begin[i]; k < how_.pattern->begin[i + 1]; ++k) {
        sum += entries[k] * r[how_.pattern->col[k]];
        size += std::abs(entries[k]);
      }
      if (!std::isfinite(sum) || !std::isfinite(product[i])) return;  // checked again at the next evaluation
      if (std::abs(sum - product[i]) > 1e-9 * size) name_missing(t, y, i);
    }
    is_checked_ = true;
  }

  AGRAD_COLD void name_missing(double t, const double* y, std::size_t i) {
    std::vector<double> direction(how_.states, 0.0), product(how_.states);
    for (std::size_t j = 0; j < how_.states; ++j) {
      if (how_.pattern->contains(i, j)) continue;
      direction[j] = 1;
      system_.jvp(t, y, direction.data(), product.data());
      direction[j] = 0;
      if (product[i] == 0) continue;
      const std::string at = std::to_string(i) + ", " + std::to_string(j);
      throw DomainError(detail::sentence(function_, how_.argument, -1, "without the entry (" + at + ")",
                                         "true for every entry of df/dy that is not zero",
                                         "df[" + std::to_string(i) + "]/dy[" + std::to_string(j) + "] is " +
                                             detail::to_text(product[i]) + " at t = " + detail::to_text(t)));
    }
  }

  std::string function_;
  ode_system& system_;
  chosen_algebra how_;
  bool is_checked_;
};

}  // namespace agrad
