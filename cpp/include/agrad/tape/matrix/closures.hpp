// Closures of elementwise functions of matrices: they propagate the adjoint of each entry to the operands' entries.
//
// The derivatives are computed in the reverse pass (`recomputed`), or were stored (`remembered`). A careful pass
// (tape/careful.hpp) goes entry by entry.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include <agrad/rules/passing_arrays.hpp>
#include <agrad/rules/structure.hpp>
#include <agrad/tape/matrix/operand.hpp>

namespace agrad::detail {

/// Returns whether one of n slopes is not finite where the adjoint is zero.
inline bool meet_zero(Eigen::Index n, const double* slopes, const double* bars) {
  std::int64_t found = 0;  // as wide as the numbers, so that the compiler vectorises the loop
  for (Eigen::Index i = 0; i < n; ++i) found |= static_cast<std::int64_t>(is_infinite_or_nan(slopes[i]) & (bars[i] == 0));
  return found != 0;
}

/// Calls sum(i, product) with the products of n adjoints and partial derivatives. Returns whether a derivative was infinite
/// where the adjoint is zero, false unless may_be_singular.
template <class Sum, class Bar, class Partial>
bool add_products(const Sum& sum, const Bar& bar, Eigen::Index n, const Partial& partial, bool may_be_singular) {
  constexpr Eigen::Index length = 64;
  double slopes[length], bars[length];
  bool has_met_zero = false;
  for (Eigen::Index begin = 0; begin < n; begin += length) {
    const Eigen::Index count = std::min(length, n - begin);
    for (Eigen::Index i = 0; i < count; ++i) slopes[i] = partial(begin + i), bars[i] = bar[begin + i];
    if (may_be_singular) has_met_zero |= meet_zero(count, slopes, bars);
    pass_entries(static_cast<std::size_t>(count), slopes, bars, slopes);
    for (Eigen::Index i = 0; i < count; ++i) sum(begin + i, slopes[i]);
  }
  return has_met_zero;
}

/// Propagates the adjoint of a result to operand I; `partial(j)` returns the partial derivatives in column j.
template <class Operand, class Adjoint, class Partial>
void propagate_columns(const Adjoint& adjoint, const matrix<var>& y, const Operand& x, const Partial& partial,
                       bool may_be_singular) {
  const adjoint_columns<Adjoint> bars(adjoint, y);
  bool has_met_zero = false;
  const auto add_column = [&](Eigen::Index j, const auto& sum) {
    has_met_zero |= add_products(sum, bars(j), y.rows(), partial(j), may_be_singular);
  };
  if constexpr (Operand::is_scalar) {
    double total = 0;
    for (Eigen::Index j = 0; j < y.cols(); ++j) add_column(j, [&](Eigen::Index, double product) { total += product; });
    adjoint.at(x.index) += total;
  } else {
    const adjoint_columns<Adjoint> sums(adjoint, x.x);
    for (Eigen::Index j = 0; j < y.cols(); ++j)
      add_column(j, [sum = sums(j)](Eigen::Index i, double product) { sum[i] += product; });
  }
  if (AGRAD_UNLIKELY(has_met_zero)) adjoint.note_zero();
}

/// Does the same in a careful pass (tape/careful.hpp); is_cut(j, i, slope) tells whether a slope is a zero of structure.
template <class Operand, class Adjoint, class Partial, class IsCut>
void propagate_carefully(const Adjoint& adjoint, const matrix<var>& y, const Operand& x, const Partial& partial,
                         bool may_be_singular, const IsCut& is_cut) {
  const adjoint_columns<Adjoint> bars(adjoint, y);
  const auto product = [&](Eigen::Index j, Eigen::Index i, double slope) {
    const double bar = bars(j)[i];
    if (adjoint.is_marking()) return is_cut(j, i, slope) ? 0.0 : bar;
    const bool is_unknown = may_be_singular && !std::isfinite(slope) && adjoint.is_computed_zero(y.index_of(i, j));
    return is_unknown ? quiet_nan : passed(slope, bar);
  };
  for (Eigen::Index j = 0; j < y.cols(); ++j) {
    const auto slopes = partial(j);
    for (Eigen::Index i = 0; i < y.rows(); ++i) {
      const double amount = product(j, i, slopes(i));
      if constexpr (Operand::is_scalar)
        adjoint.at(x.index) += amount;
      else
        adjoint_columns<Adjoint>(adjoint, x.x)(j)[i] += amount;
    }
  }
}

/// A rule whose derivatives are computed in the reverse pass.
template <class Rule, class... Stored>
struct recomputed {
  matrix<var> y;  // with as many columns as the loops have
  std::tuple<Stored...> operands;

  template <class Adjoint>
  void operator()(const Adjoint& adjoint) const {
    propagate_each(adjoint, std::index_sequence_for<Stored...>{});
  }

 private:
  using structure = rule_structure<Rule, var>;
  static constexpr unsigned active = bits_of(Stored::is_active...);

  // The derivatives of a linear rule do not depend on its arguments, and constant arguments were not stored.
  template <class Column>
  static double argument(const Column& column, Eigen::Index i) {
    if constexpr (Rule::is_linear)
      return 0;
    else
      return column[i];
  }
  template <class Adjoint, std::size_t... I>
  void propagate_each(const Adjoint& adjoint, std::index_sequence<I...>) const {
    (propagate<I>(adjoint, std::get<I>(operands)), ...);
  }
  template <std::size_t I, class Adjoint, class Operand>
  void propagate(const Adjoint& adjoint, const Operand& x) const {
    if constexpr (Operand::is_active) {
      const auto slopes = [this](Eigen::Index j) { return slopes_in<I>(j); };
      if (AGRAD_UNLIKELY(adjoint.is_careful())) {
        propagate_carefully(
            adjoint, y, x, slopes, structure::may_be_singular, [this](Eigen::Index j, Eigen::Index i, double slope) {
              return std::apply(
                  [&](const Stored&... each) {
                    return structure::template is_structural_zero<I, active>(slope, argument(each.column(j), i)...);
                  },
                  operands);
            });
      } else {
        propagate_columns(adjoint, y, x, slopes, structure::may_be_singular);
      }
    }
  }
  /// Returns a function that returns the derivative of entry i of column j with respect to operand I.
  template <std::size_t I>
  auto slopes_in(Eigen::Index j) const {
    return std::apply(
        [&](const Stored&... each) {
          return [value = y.val().data() + j * y.outer(), columns = std::make_tuple(each.column(j)...)](Eigen::Index i) {
            return std::apply(
                [&](const auto&... column) -> double {
                  return Rule::derivative(wrt<static_cast<int>(I)>{}, argument(column, i)..., value[i]);
                },
                columns);
          };
        },
        operands);
  }
};

/// A rule whose partial derivatives were stored.
template <class... Stored>
struct remembered {
  matrix<var> y;
  std::tuple<Stored...> operands;
  std::array<const double*, sizeof...(Stored)> partials;
  std::array<bool, sizeof...(Stored)> zeros_are_structural;
  bool may_be_singular;

  template <class Adjoint>
  void operator()(const Adjoint& adjoint) const {
    propagate_each(adjoint, std::index_sequence_for<Stored...>{});
  }

 private:
  template <class Adjoint, std::size_t... I>
  void propagate_each(const Adjoint& adjoint, std::index_sequence<I...>) const {
    (propagate(adjoint, std::get<I>(operands), partials[I], zeros_are_structural[I]), ...);
  }
  template <class Adjoint, class Operand>
  void propagate(const Adjoint& adjoint, const Operand& x, const double* partial, bool are_structural) const {
    if constexpr (Operand::is_active) {
      const auto slopes = [&](Eigen::Index j) {
        return [column = partial + j * y.outer()](Eigen::Index i) { return column[i]; };
      };
      if (AGRAD_UNLIKELY(adjoint.is_careful()))
        propagate_carefully(adjoint, y, x, slopes, may_be_singular,
                            [&](Eigen::Index, Eigen::Index, double slope) { return are_structural && slope == 0; });
      else
        propagate_columns(adjoint, y, x, slopes, may_be_singular);
    }
  }
};

}  // namespace agrad::detail
