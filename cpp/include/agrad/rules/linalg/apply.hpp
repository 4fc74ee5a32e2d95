// Apply: hands a rule of linear algebra to the engine that its matrices belong to.
//
//     const auto x = linalg::apply(solve_rule{}, a, b);     // a, b: MatrixXd, matrix<var> or dual_matrix, in any mixture
//
// `algebra<M>` is the engine of the matrix type M. Here stands the one of doubles; the tape's is in tape/matrix/linalg.hpp, the
// duals' in dual/matrix.hpp. A matrix of a lower rank is a constant to an engine of a higher one. Read next:
// rules/linalg/algebra.hpp, the vocabulary in which tangents are written; rules/linalg/lift.hpp, users' matrices.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/rules/linalg/rule.hpp>

namespace agrad::linalg {

/// Memory for what a rule keeps, given back when the room goes.
class heap_room {
 public:
  kept_matrix matrix(Index rows, Index cols) { return kept_matrix(take(rows * cols), rows, cols); }
  int* integers(Index n) { return reinterpret_cast<int*>(take((n + 1) / 2)); }
  /// Called when all has been prepared and nothing thrown.
  void keep() {}

 private:
  double* take(Index n) { return blocks_.emplace_back(n).data(); }
  // Eigen's, because they are aligned: where packets begin decides about last bits, and a second sweep must find the same.
  std::vector<Eigen::VectorXd> blocks_;
};

/// Whether a room holds what the same rule has prepared from the same values before: `prepare` then says where it is, computes
/// nothing and reads no values.
template <class Room>
inline constexpr bool is_filled = false;

/// Engine of a matrix type: `rank`, `room_type`, `primal(m)`, the values as doubles, and
/// `apply(rule, kept, shapes, arguments...)`, which gives an array of results.
template <class M>
struct algebra;

/// The matrix type whose algebra an argument belongs to; blocks of doubles belong to MatrixXd.
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
struct matrix_type<kept_matrix> {
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

/// Of several matrix types the one that the result of an operation on them has.
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

  template <class Rule, class Kept, class... A>
  static std::array<MatrixXd, Rule::results> apply(const Rule& rule, const Kept& kept, const typename Rule::shapes& shapes,
                                                   const A&... a) {
    return on(std::make_index_sequence<Rule::results>{}, rule, kept, shapes, const_block(a)...);
  }

 private:
  template <std::size_t... R, class Rule, class Kept, class... A>
  static std::array<MatrixXd, Rule::results> on(std::index_sequence<R...>, const Rule& rule, const Kept& kept,
                                                const typename Rule::shapes& shapes, const A&... a) {
    std::array<MatrixXd, Rule::results> y{MatrixXd(shapes[R].rows, shapes[R].cols)...};
    if (!all_empty(shapes)) rule.value(kept, a..., block(y[R])...);
    return y;
  }
};

/// The values of a matrix of any algebra.
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

/// The rule's result, or an array of its results. With `kept`, what the same rule, or one that prepares the same, has
/// prepared from the same values: a matrix is then factored once, however many tangents need it.
template <class Rule, class Kept, class... A>
auto apply_kept(const Rule& rule, const Kept& kept, const A&... a) {
  static_assert(sizeof...(A) == Rule::arguments, "the rule takes another number of arguments");
  const typename Rule::shapes shapes = rule.results_of(shape{a.rows(), a.cols()}...);
  return detail::unpacked(algebra<strongest_t<A...>>::apply(rule, kept, shapes, a...));
}

template <class Rule, class... A>
auto apply(const Rule& rule, const A&... a) {
  static_assert(sizeof...(A) == Rule::arguments, "the rule takes another number of arguments");
  using engine = algebra<strongest_t<A...>>;
  const typename Rule::shapes shapes = rule.results_of(shape{a.rows(), a.cols()}...);
  typename engine::room_type room;
  const auto kept = rule.prepare(room, linalg::primal(a)...);
  room.keep();
  return detail::unpacked(engine::apply(rule, kept, shapes, a...));
}

}  // namespace agrad::linalg
