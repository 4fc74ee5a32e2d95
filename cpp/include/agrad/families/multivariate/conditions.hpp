// Conditions on whole matrices: what the arguments of multivariate densities must meet, as data with checks that name the
// entry.
//
// A condition holds for each entry, or for a matrix or each of its rows as a whole. Checks read plain numbers and record
// nothing; they run at each call, and in a recorded program at each run. Read next: families/multivariate/rule.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <agrad/base/inline.hpp>
#include <agrad/probability/rule.hpp>

namespace agrad {

/// What may be given instead of a matrix: its diagonal, the other entries being 0, or one number for all entries.
enum class shorthand : std::uint8_t { none, diagonal, number };

/// The values of a matrix in memory, by rows or by columns. Messages name the entries of what was given instead of it.
struct matrix_values {
  const double* data;
  std::ptrdiff_t rows, cols, row_stride, col_stride;
  shorthand given = shorthand::none;

  double operator()(std::ptrdiff_t i, std::ptrdiff_t j) const { return data[i * row_stride + j * col_stride]; }
};

/// A condition on a matrix. `each` holds for every entry; `whole`, if there is one, checks the rest, and `name` names all. The
/// limit is a number that the call's shapes give, such as the number of categories.
struct matrix_condition {
  using check_of_all = void (*)(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
  std::string_view name;
  condition each;
  check_of_all whole = nullptr;

  constexpr matrix_condition(const condition& of_each)  // NOLINT: a condition on a number is one on each entry
      : name(of_each.name), each(of_each) {}
  constexpr matrix_condition(std::string_view text, const condition& of_each, check_of_all of_all)
      : name(text), each(of_each), whole(of_all) {}

  /// Throws DomainError unless the condition holds.
  void check(std::string_view function, std::string_view argument, const matrix_values& x, double limit) const;
};

namespace detail {

/// Returns the argument's name with the indices of an entry: none for a single number, one for a vector.
std::string entry_name(std::string_view argument, const matrix_values& x, std::ptrdiff_t i, std::ptrdiff_t j);

/// Rounding errors that simplexes, symmetric matrices and unit vectors may have.
inline constexpr double allowed_rounding = 1e-8;

void check_symmetric(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_variances(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_positive_definite(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_unit_diagonal(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_cholesky_factor(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_correlation_factor(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_simplex(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_ordered(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_below(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_up_to(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_degrees(std::string_view function, std::string_view argument, const matrix_values& x, double limit);
void check_possible(std::string_view function, std::string_view argument, const matrix_values& x, double limit);

inline constexpr condition finite_or_nan{"finite, or nan where missing",
                                         [](double x) { return std::isnan(x) || std::isfinite(x); }};
inline constexpr condition below_infinity{"finite or -inf", [](double x) { return x < infinity; }};

}  // namespace detail

namespace must_be {
inline constexpr matrix_condition positive_definite{"symmetric and positive definite", finite, detail::check_positive_definite};
inline constexpr matrix_condition symmetric{"symmetric", finite, detail::check_symmetric};
inline constexpr matrix_condition covariance{"symmetric with a nonnegative diagonal", finite, detail::check_variances};
inline constexpr matrix_condition correlation_matrix{"a correlation matrix: symmetric, positive definite, with diagonal 1",
                                                     finite, detail::check_unit_diagonal};
inline constexpr matrix_condition cholesky_factor{"lower triangular with a positive diagonal", finite,
                                                  detail::check_cholesky_factor};
inline constexpr matrix_condition correlation_factor{"the Cholesky factor of a correlation matrix: rows have norm 1", finite,
                                                     detail::check_correlation_factor};
inline constexpr matrix_condition simplex{"nonnegative, of sum 1", nonnegative, detail::check_simplex};
inline constexpr matrix_condition ordered{"finite and increasing", finite, detail::check_ordered};
inline constexpr matrix_condition category{"a whole number from 0 to the number of categories less 1", whole_nonnegative,
                                           detail::check_below};
inline constexpr matrix_condition ordered_category{"a whole number from 0 to the number of cutpoints", whole_nonnegative,
                                                   detail::check_up_to};
/// Values of which some may not have been observed.
inline constexpr matrix_condition finite_or_missing{detail::finite_or_nan};
/// Log odds of categories, some of which may be impossible.
inline constexpr matrix_condition log_odds{"finite or -inf, one of them finite", detail::below_infinity,
                                           detail::check_possible};
inline constexpr matrix_condition degrees{"greater than the number of rows of the matrices less 1", positive_finite,
                                          detail::check_degrees};
}  // namespace must_be

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/families/multivariate/conditions.ipp>
#endif
