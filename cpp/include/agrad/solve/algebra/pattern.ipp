// Definitions of solve/algebra/pattern.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/algebra/pattern.hpp>

namespace agrad::detail {

AGRAD_INLINE csr_pattern completed(const csr_pattern& p, const mass_matrix* mass) {
  csr_pattern full;
  full.cols = p.cols;
  std::vector<csr_pattern::index> row;
  for (std::size_t i = 0; i < p.rows(); ++i) {
    row.assign(p.row(i).begin(), p.row(i).end());
    row.push_back(static_cast<csr_pattern::index>(i));
    if (mass != nullptr) row.insert(row.end(), mass->pattern.row(i).begin(), mass->pattern.row(i).end());
    full.append_row(row);
  }
  return full;
}

AGRAD_INLINE csr_pattern band_pattern(std::size_t n, const half_bandwidths& widths) {
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

AGRAD_INLINE double dense_cost(std::size_t states) {
  const auto n = static_cast<double>(states);
  return n * (1e-7 + 6e-9 * n + 5e-11 * n * n);
}

AGRAD_INLINE double banded_cost(std::size_t states, std::size_t lower, std::size_t upper) {
  const auto n = static_cast<double>(states), l = static_cast<double>(lower), u = static_cast<double>(upper);
  return n * (1.5e-7 + 5e-10 * l * (l + u) + 6e-9 * (2 * l + u));
}

AGRAD_INLINE double sparse_cost(const csr_pattern& p) { return 3.3e-8 * static_cast<double>(p.size()); }

AGRAD_INLINE ode_algebra_kind cheapest(const chosen_algebra& of) {
  const double dense = dense_cost(of.states), banded = banded_cost(of.states, of.lower, of.upper);
  const double sparse = sparse_cost(*of.pattern);
  if (banded <= std::min(dense, 2 * sparse))
    return ode_algebra_kind::banded;  // sparse factors are computed again in reverse passes
  return sparse < dense ? ode_algebra_kind::sparse : ode_algebra_kind::dense;
}

AGRAD_INLINE void set_pattern(chosen_algebra& chosen, csr_pattern pattern) {
  chosen.pattern = std::make_shared<const csr_pattern>(std::move(pattern));
  for (std::size_t i = 0; i < chosen.states; ++i) {
    const auto row = chosen.pattern->row(i);  // never empty, because of the diagonal
    chosen.lower = std::max(chosen.lower, i - *row.begin());
    chosen.upper = std::max<std::size_t>(chosen.upper, *(row.end() - 1) - i);
  }
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE chosen_algebra choose_algebra(std::string_view function, ode_system& system, const ode_algebra& requested,
                                           const mass_matrix* mass) {
  constexpr std::size_t few_states = 5;  // for fewer, dense and sparse matrices cost the same
  check_algebra(function, requested, system.states());
  chosen_algebra chosen;
  chosen.states = static_cast<std::size_t>(system.states());
  chosen.kind = requested.kind;
  chosen.argument = requested.argument;
  if (requested.kind == ode_algebra_kind::gmres) return chosen;
  if (requested.kind == ode_algebra_kind::automatic && chosen.states < few_states) chosen.kind = ode_algebra_kind::dense;
  if (requested.bandwidths || requested.pattern) {
    chosen.is_claimed = true;
    detail::set_pattern(
        chosen,
        detail::completed(
            requested.bandwidths ? detail::band_pattern(chosen.states, *requested.bandwidths) : *requested.pattern, mass));
  } else if (chosen.kind != ode_algebra_kind::dense) {
    if (const auto known = system.known_pattern()) detail::set_pattern(chosen, detail::completed(*known, mass));
  }
  if (chosen.kind == ode_algebra_kind::automatic)
    chosen.kind = chosen.pattern ? detail::cheapest(chosen) : ode_algebra_kind::dense;
  if (chosen.kind != ode_algebra_kind::dense && !chosen.pattern) {
    throw DomainError(detail::sentence(function, requested.argument, -1, "without half-bandwidths and pattern",
                                       "with one of them for banded or sparse matrices",
                                       "agrad does not know which entries of df/dy are zero"));
  }
  if (chosen.pattern) system.use_pattern(chosen.pattern);
  return chosen;
}

AGRAD_INLINE void state_jacobian::operator()(double t, const double* y, double* entries) {
  if (!how_.pattern) {
    const auto n = system_.states();
    system_.jacobian(t, y, Eigen::Map<Eigen::MatrixXd>(entries, n, n));
    return;
  }
  system_.jacobian_entries(t, y, entries);
  if (how_.is_claimed && ++evaluations_ >= next_check_) check_claim(t, y, entries);
}

AGRAD_INLINE std::pair<std::size_t, std::size_t> state_jacobian::place(std::size_t k) const {
  if (!how_.pattern) return {k % how_.states, k / how_.states};
  const auto after = std::upper_bound(how_.pattern->begin.begin(), how_.pattern->begin.end(), k);
  return {static_cast<std::size_t>(after - how_.pattern->begin.begin()) - 1, how_.pattern->col[k]};
}

AGRAD_INLINE void state_jacobian::check_claim(double t, const double* y, const double* entries) {
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
  next_check_ = 2 * evaluations_;
}

AGRAD_INLINE void state_jacobian::name_missing(double t, const double* y, std::size_t i) {
  std::vector<double> direction(how_.states, 0.0), product(how_.states);
  for (std::size_t j = 0; j < how_.states; ++j) {
    if (how_.pattern->contains(i, j)) continue;
    direction[j] = 1;
    system_.jvp(t, y, direction.data(), product.data());
    direction[j] = 0;
    if (product[i] == 0) continue;
    const std::string at = std::to_string(i) + ", " + std::to_string(j);
    throw DomainError(detail::sentence(function_, how_.argument, -1, "without the entry (" + at + ")",
                                       "with every entry of df/dy that is not zero",
                                       "df[" + std::to_string(i) + "]/dy[" + std::to_string(j) + "] is " +
                                           detail::to_text(product[i]) + " at t = " + detail::to_text(t)));
  }
}

}  // namespace agrad
