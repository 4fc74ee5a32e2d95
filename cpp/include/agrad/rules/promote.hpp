// Promote: the common scalar of a computation with mixed scalars, for the results of templated code.
//
//     template <class Y, class P>
//     auto rate(double t, const vector_of<Y>& y, const P& p) {
//       vector_of<promoted_t<Y, P>> dy(2);
//
// The common scalar is the one to which all others convert: a double converts to var, a var to dual<var>. This header names no
// engine, so that new scalars need no change here.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/rules/arithmetic.hpp>

namespace agrad {

namespace detail {

/// The one of two scalars to which the other converts.
template <class A, class B>
struct wider {
  static_assert(std::is_convertible_v<A, B> || std::is_convertible_v<B, A>,
                "these scalars do not mix: of a var and a dual<double>, or of duals with other directions, neither converts to "
                "the other");
  using type = std::conditional_t<std::is_convertible_v<B, A>, A, B>;
};

template <class T, class = void>
struct scalar_in {
  using type = double;  // numbers, and types without a scalar
};
template <class... T>
struct scalar_in_any {
  using type = double;
};
template <class T, class... Rest>
struct scalar_in_any<T, Rest...> {
  using type = typename wider<typename scalar_in<std::decay_t<T>>::type, typename scalar_in_any<Rest...>::type>::type;
};

// Scalars of engines; an expression counts as the type that stores the expression.
template <class T>
struct scalar_in<T, std::enable_if_t<(rank_of<T> > 0 && rank_of<T> < array_rank)>> : stored<T> {};
// Eigen's dense and sparse objects and expressions.
template <class T>
struct scalar_in<T, std::enable_if_t<has_storage_kind<T>>> : scalar_in<typename T::Scalar> {};
// matrix<var> and agrad's other arrays.
template <class T>
struct scalar_in<T, std::enable_if_t<(!has_storage_kind<T> && rank_of<T> > array_rank)>>
    : scalar_in<std::decay_t<decltype(std::declval<const T&>()(0, 0))>> {};
template <class T, class Allocator>
struct scalar_in<std::vector<T, Allocator>> : scalar_in<T> {};
template <class T, std::size_t N>
struct scalar_in<std::array<T, N>> : scalar_in<T> {};
template <class... T>
struct scalar_in<std::tuple<T...>> : scalar_in_any<T...> {};
template <class First, class Second>
struct scalar_in<std::pair<First, Second>> : scalar_in_any<First, Second> {};

}  // namespace detail

/// The scalar of a result that is computed from arguments of the types T: double, or var if any argument contains a var or an
/// expression of vars, or a dual if any argument contains a dual. Eigen's objects, matrix<var>, std::vector, std::array,
/// std::pair and std::tuple are searched to any depth; references and const do not matter. Integers and float count as double,
/// as do types without a scalar. Other libraries call this promote_args or return_type.
template <class... T>
using promoted_t = typename detail::scalar_in_any<T...>::type;

}  // namespace agrad
