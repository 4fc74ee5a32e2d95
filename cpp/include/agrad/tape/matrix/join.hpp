// Joining: matrices beside and below each other, by one closure for any number of parts.
//
//     concatenate_columns(a, x, m)       // beside each other;  concatenate_rows(a, b): below each other
//
// Parts are matrix<var>, Eigen matrices of numbers or variables, scalar variables and numbers.
#pragma once

#include <array>

#include <agrad/tape/matrix/elementwise.hpp>

namespace agrad {

namespace detail {

/// A part of a joined matrix; scalars are 1 x 1.
template <class Operand>
struct part {
  Operand operand;
  Eigen::Index rows, cols;

  /// Calls f(i, j, entry) for all entries.
  template <class F>
  void each(const F& f) const {
    for (Eigen::Index j = 0; j < cols; ++j) {
      const auto column = operand.column(j);
      for (Eigen::Index i = 0; i < rows; ++i) f(i, j, column[i]);
    }
  }
};
template <class Operand>
auto make_part(const Operand& x) {
  if constexpr (Operand::is_scalar)
    return part<Operand>{x, 1, 1};
  else
    return part<Operand>{x, x.rows(), x.cols()};
}

struct joined_place {
  Eigen::Index row, col;
};

template <class Operand, class Adjoint, class Bar>
void propagate_part(const Adjoint& adjoint, const Operand& x, const Bar& bar) {
  if constexpr (!Operand::is_active)
    return;
  else if constexpr (Operand::is_scalar)
    adjoint.at(x.index) += bar(0, 0);
  else
    adjoint[x.x] += bar;
}

/// Joins parts beside each other or below each other.
template <bool beside, class... Operand, std::size_t... I>
matrix<var> join(const char* function, std::index_sequence<I...>, const part<Operand>&... parts) {
  constexpr std::size_t count = sizeof...(parts);
  const std::array<Eigen::Index, count> rows{parts.rows...}, cols{parts.cols...};
  std::array<joined_place, count> places{};
  Eigen::Index along = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (AGRAD_UNLIKELY(beside ? rows[k] != rows[0] : cols[k] != cols[0]))
      fail_matrix_shape(function, beside ? "with as many rows as" : "with as many columns as", rows[0], cols[0], rows[k],
                        cols[k]);
    places[k] = beside ? joined_place{0, along} : joined_place{along, 0};
    along += beside ? cols[k] : rows[k];
  }
  const matrix<var> y = beside ? matrix_access::room(rows[0], along) : matrix_access::room(along, cols[0]);
  matrix<var>::map to = matrix_access::writable(y);
  (parts.each([&](Eigen::Index i, Eigen::Index j, double x) { to(places[I].row + i, places[I].col + j) = x; }), ...);
  push([y, places, rows, cols, stored_copy = std::make_tuple(parts.operand.stored_copy(false)...)](auto& adjoint) {
    const auto bar = adjoint[y];
    (propagate_part(adjoint, std::get<I>(stored_copy), bar.block(places[I].row, places[I].col, rows[I], cols[I])), ...);
  });
  return y;
}

template <class... X>
using if_joined =
    std::enable_if_t<((is_var_matrix<X> || rank_of<X> == 1) || ...) && (is_matrix_argument<X> && ...), matrix<var>>;
}  // namespace detail

/// Joins parts beside each other; all have the same number of rows.
template <class... X>
detail::if_joined<X...> concatenate_columns(const X&... parts) {
  return detail::join<true>("concatenate_columns", std::index_sequence_for<X...>{},
                            detail::make_part(detail::make_operand(parts))...);
}

/// Joins parts below each other; all have the same number of columns.
template <class... X>
detail::if_joined<X...> concatenate_rows(const X&... parts) {
  return detail::join<false>("concatenate_rows", std::index_sequence_for<X...>{},
                             detail::make_part(detail::make_operand(parts))...);
}

}  // namespace agrad
