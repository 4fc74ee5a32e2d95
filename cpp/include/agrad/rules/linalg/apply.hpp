// Apply: passes a rule of linear algebra to the engine of its matrices.
//
//     const auto x = linalg::apply(solve_rule{}, a, b);     // a, b: MatrixXd, matrix<var> or dual_matrix, in any mixture
//
// `algebra<M>` is the engine of the matrix type M. The engine of doubles is here, the tape's in tape/matrix/linalg.hpp, the
// engine of duals in dual/matrix.hpp. A matrix of a lower rank is a constant to an engine of a higher rank. Read next:
// rules/linalg/algebra.hpp, the vocabulary in which tangents are written; rules/linalg/lift.hpp, users' matrices.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/rules/linalg/rule.hpp>

namespace agrad::linalg {

/// Memory for the data that a rule prepares, released with the room.
class heap_room {
 public:
  matrix_map matrix(Index rows, Index cols) { return matrix_map(allocate(rows * cols), rows, cols); }
  int* integers(Index n) { return reinterpret_cast<int*>(allocate((n + 1) / 2)); }
  /// Is called when everything has been prepared without an exception.
  void commit() {}

 private:
  double* allocate(Index n) { return blocks_.emplace_back(n).data(); }
  // Eigen's vectors are aligned: the last bits depend on where packets begin, and a second reverse pass must give the same
  // result.
  std::vector<Eigen::VectorXd> blocks_;
};

/// Whether a room has the data that the same rule prepared earlier from the same values: `prepare` then returns the place of
/// the data, computes nothing and reads no values.
template <class Room>
inline constexpr bool is_filled = false;

/// The engine of a matrix type: `rank`, `room_type`, `primal(m)`, which returns the values as doubles, and
/// `apply(rule, prepared, shapes, arguments...)`, which returns an array of results.
template <class M>
struct algebra;

/// The matrix type that names an argument's algebra; MatrixXd for blocks of doubles.
template <class A>
struct matrix_type {
  using type = A;
};
template <>
struct matrix_type<const_block> {
  using type = MatrixXd;
};
template <>
struct matrix_type<block> {
  using type = MatrixXd;
};
template <>
struct matrix_type<matrix_map> {
  using type = MatrixXd;
};
template <class A>
using algebra_of = algebra<typename matrix_type<A>::type>;

namespace detail {
template <class... A>
struct strongest;
template <class A>
struct strongest<A> {
  using type = typename matrix_type<A>::type;
};
template <class A, class B, class... Rest>
struct strongest<A, B, Rest...> {
  using other = typename strongest<B, Rest...>::type;
  using type = std::conditional_t<(algebra_of<A>::rank >= algebra<other>::rank), typename matrix_type<A>::type, other>;
};
}  // namespace detail

/// The type of the result of an operation on several matrix types.
template <class... A>
using strongest_t = typename detail::strongest<A...>::type;

template <>
struct algebra<MatrixXd> {
  static constexpr int rank = 0;
  using room_type = heap_room;
  using scalar = double;

  template <class A>
  static const A& primal(const A& a) {
    return a;
  }

  template <class Rule, class Prepared, class... A>
  static std::array<MatrixXd, Rule::results> apply(const Rule& rule, const Prepared& prepared,
                                                   const typename Rule::shapes& shapes, const A&... a) {
    return on(std::make_index_sequence<Rule::results>{}, rule, prepared, shapes, const_block(a)...);
  }

 private:
  template <std::size_t... R, class Rule, class Prepared, class... A>
  static std::array<MatrixXd, Rule::results> on(std::index_sequence<R...>, const Rule& rule, const Prepared& prepared,
                                                const typename Rule::shapes& shapes, const A&... a) {
    std::array<MatrixXd, Rule::results> y{MatrixXd(shapes[R].rows, shapes[R].cols)...};
    if (!all_empty(shapes)) rule.value(prepared, a..., block(y[R])...);
    return y;
  }
};

/// Returns the values of a matrix of any algebra.
template <class A>
const_block primal(const A& a) {
  return algebra_of<A>::primal(a);
}

namespace detail {
template <class M>
M unpacked(std::array<M, 1>&& y) {
  return std::move(y[0]);
}
template <class M, std::size_t N>
std::array<M, N> unpacked(std::array<M, N>&& y) {
  return std::move(y);
}
}  // namespace detail

/// Returns the rule's result, or an array of its results. `prepared` is prepared by the same rule, or by a rule with the same
/// preparation, from the same values: a matrix is then factorised once for any number of tangents.
template <class Rule, class Prepared, class... A>
auto apply_prepared(const Rule& rule, const Prepared& prepared, const A&... a) {
  static_assert(sizeof...(A) == Rule::arguments, "the rule takes another number of arguments");
  const typename Rule::shapes shapes = rule.results_of(shape{a.rows(), a.cols()}...);
  return detail::unpacked(algebra<strongest_t<A...>>::apply(rule, prepared, shapes, a...));
}

template <class Rule, class... A>
auto apply(const Rule& rule, const A&... a) {
  static_assert(sizeof...(A) == Rule::arguments, "the rule takes another number of arguments");
  using engine = algebra<strongest_t<A...>>;
  const typename Rule::shapes shapes = rule.results_of(shape{a.rows(), a.cols()}...);
  typename engine::room_type room;
  const auto prepared = rule.prepare(room, linalg::primal(a)...);
  room.commit();
  return detail::unpacked(engine::apply(rule, prepared, shapes, a...));
}

}  // namespace agrad::linalg
