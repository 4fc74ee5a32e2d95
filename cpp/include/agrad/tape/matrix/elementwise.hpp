// Elementwise: the engine of matrix<var>, which applies a rule to every entry of its arguments by one closure.
//
//     exp(a), pow(a, 2.5), atan2(a, b), fmax(a, x), a + b, 2 * a - x, elementwise_product(a, m)
//
// Arguments are any mixture of matrices, constant Eigen matrices, scalar variables and numbers; scalars, rows and columns
// broadcast. A rule that computes its values as Eigen arrays (`values`, rules/rule.hpp) is evaluated at the speed of packets
// and stores nothing; its derivatives are computed in the reverse pass. For all other rules, value and partial derivatives are
// computed in one pass and stored.
// Read next: tape/matrix/product.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <agrad/rules/structure.hpp>
#include <agrad/tape/matrix/closures.hpp>
#include <agrad/tape/matrix/operand.hpp>

namespace agrad {

namespace detail {

template <class Rule, class... Operand>
class entrywise {
 public:
  static matrix<var> record(const Operand&... x) {
    common_shape shape;
    (shape.join(Rule::name, x), ...);
    if (AGRAD_UNLIKELY(!shape.same)) return record(repeated_to(x, shape.rows, shape.cols)...);
    const matrix<var> result = matrix_access::room(shape.rows, shape.cols);
    const matrix<var> y = shape.contiguous ? result.reshaped() : result;
    if constexpr (has_values<Rule> && !Rule::needs_wide_packets) {  // long formulas pay in registers only
      double* to = matrix_access::writable(y).data();
      for (Eigen::Index j = 0; j < y.cols(); ++j) values_into<Rule>(to + j * y.outer(), y.rows(), x.column(j)...);
      push(recomputed<Rule, std::decay_t<decltype(x.stored_copy(true))>...>{y, {x.stored_copy(!Rule::is_linear)...}});
    } else {
      const std::array<double*, sizeof...(x)> partials{room(x, y.size())...};
      for (Eigen::Index j = 0; j < y.cols(); ++j) fill(y, partials, j, std::index_sequence_for<Operand...>{}, x.column(j)...);
      remembered<std::decay_t<decltype(x.stored_copy(false))>...> closure{
          y,
          {x.stored_copy(false)...},
          {},
          structural_zeros(std::index_sequence_for<Operand...>{}),
          rule_structure<Rule, var>::may_be_singular};
      std::copy(partials.begin(), partials.end(), closure.partials.begin());
      push(closure);
    }
    return result;
  }

 private:
  // Of the rules that are a multiple of a constant, the derivative is zero only where the constant is.
  template <std::size_t... I>
  static constexpr std::array<bool, sizeof...(I)> structural_zeros(std::index_sequence<I...>) {
    using structure = rule_structure<Rule, var>;
    constexpr unsigned active = bits_of(Operand::is_active...);
    return {(structure::template has_structural_zeros<I, active> || structure::template constant_factors<I, active> != 0)...};
  }
  template <class X>
  static double* room(const X&, Eigen::Index size) {
    return X::is_active ? tape::current().memory().allocate_array<double>(static_cast<std::size_t>(size)) : nullptr;
  }
  template <std::size_t... I, class... Column>
  static void fill(const matrix<var>& y, const std::array<double*, sizeof...(I)>& partials, Eigen::Index j,
                   std::index_sequence<I...> each, const Column&... x) {
    const Eigen::Index n = y.rows(), skip = j * y.outer();
    double* to = matrix_access::writable(y).data() + skip;
    for (Eigen::Index i = 0; i < n; ++i) to[i] = fill_entry(partials, skip + i, each, double(x[i])...);
  }
  // Value and derivatives use the same copies of the arguments, so that common parts (sine and cosine) are computed once.
  template <std::size_t... I, class... T>
  static double fill_entry(const std::array<double*, sizeof...(I)>& partials, Eigen::Index i, std::index_sequence<I...>,
                           const T... x) {
    const double value = Rule::value(x...);
    (fill_partial<I, std::tuple_element_t<I, std::tuple<Operand...>>>(partials[I], i, value, x...), ...);
    return value;
  }
  template <std::size_t I, class X, class... T>
  static void fill_partial(double* partial, Eigen::Index i, double value, const T&... x) {
    if constexpr (X::is_active) partial[i] = Rule::derivative(wrt<static_cast<int>(I)>{}, x..., value);
  }
};

}  // namespace detail

/// The engine of `matrix<var>`.
struct matrix_engine {
  static constexpr int rank = detail::matrix_rank;
  template <class Rule, class... X>
  static matrix<var> apply(const X&... x) {
    return record<Rule>(detail::make_operand(x)...);
  }

 private:
  template <class Rule, class... Operand>
  static matrix<var> record(const Operand&... x) {
    return detail::entrywise<Rule, Operand...>::record(x...);
  }
};

template <>
struct engine_of<matrix<var>> {
  using type = matrix_engine;
};
template <>
struct engine_of<transposed> {
  using type = matrix_engine;
};

namespace detail {
template <class T>
inline constexpr bool is_matrix_argument = is_two_dimensional<T> || rank_of<T> == 0 || rank_of<T> == 1;
/// Whether one of two operands is a matrix<var> and the other may be combined with a matrix<var>.
template <class X, class Y>
inline constexpr bool are_matrix_operands = (is_var_matrix<X> ||
                                             is_var_matrix<Y>)&&is_matrix_argument<X>&& is_matrix_argument<Y>;
template <class X, class Y>
using if_matrix_operands = std::enable_if_t<are_matrix_operands<X, Y>, matrix<var>>;
template <class X, class Y>
using if_matrix_and_scalar =
    std::enable_if_t<are_matrix_operands<X, Y> && !(is_two_dimensional<X> && is_two_dimensional<Y>), matrix<var>>;
}  // namespace detail

/// Return sums and differences of matrices; scalars, one row and one column broadcast.
template <class X, class Y>
detail::if_matrix_operands<X, Y> operator+(const X& x, const Y& y) {
  return apply<add_rule>(x, y);
}
template <class X, class Y>
detail::if_matrix_operands<X, Y> operator-(const X& x, const Y& y) {
  return apply<subtract_rule>(x, y);
}
inline matrix<var> operator-(const matrix<var>& x) { return apply<negative_rule>(x); }
inline matrix<var> operator-(const transposed& x) { return apply<negative_rule>(x); }
/// Returns a multiple of a matrix. The product of two matrices is the matrix product; elementwise_product is the product of
/// entries.
template <class X, class Y>
detail::if_matrix_and_scalar<X, Y> operator*(const X& x, const Y& y) {
  return apply<multiply_rule>(x, y);
}
/// Returns a matrix divided by a scalar, or a scalar divided by each entry of a matrix.
template <class X, class Y>
detail::if_matrix_and_scalar<X, Y> operator/(const X& x, const Y& y) {
  return apply<divide_rule>(x, y);
}

namespace detail {
template <class X>
using if_assigned = std::enable_if_t<is_matrix_argument<X>, matrix<var>&>;
[[noreturn]] AGRAD_COLD inline void fail_assigned(const char* function, const matrix<var>& a, const matrix<var>& result) {
  fail_array_shape(function, result.rows(), result.cols(), a.rows(), a.cols());
}
/// Assigns the result to the matrix, which must have the same shape.
inline matrix<var>& assign_result(const char* function, matrix<var>& a, const matrix<var>& result) {
  if (AGRAD_UNLIKELY(result.rows() != a.rows() || result.cols() != a.cols())) fail_assigned(function, a, result);
  return a = result;
}
}  // namespace detail

/// a = a + x, and so on: `a` becomes a new matrix.
template <class X>
detail::if_assigned<X> operator+=(matrix<var>& a, const X& x) {
  return detail::assign_result("operator+=", a, a + x);
}
template <class X>
detail::if_assigned<X> operator-=(matrix<var>& a, const X& x) {
  return detail::assign_result("operator-=", a, a - x);
}
template <class X>
detail::if_assigned<X> operator*=(matrix<var>& a, const X& x) {
  return a = a * x;
}
template <class X>
detail::if_assigned<X> operator/=(matrix<var>& a, const X& x) {
  return a = a / x;
}

}  // namespace agrad
