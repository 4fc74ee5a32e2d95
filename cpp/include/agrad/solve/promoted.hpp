// Promoted: the scalar that comes out of a computation, for the result of a right-hand side that is templated on its scalars.
//
//     template <class Y, class P>
//     auto operator()(double t, const vector_of<Y>& y, const P& p) const {
//       vector_of<promoted_t<Y, P>> dy(2);
#pragma once

#include <Eigen/Core>
#include <tuple>
#include <type_traits>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/var.hpp>

namespace agrad {

namespace detail {

/// Of two scalars the one that a sum of them has.
template <class A, class B>
using wider_t = std::conditional_t<is_dual<A> || (std::is_same_v<A, var> && !is_dual<B>), A, B>;

template <class T, class = void>
struct scalar_in {
  using type = double;
};
template <class... T>
struct scalar_in_any {
  using type = double;
};
template <class T, class... Rest>
struct scalar_in_any<T, Rest...> {
  using type = wider_t<typename scalar_in<std::decay_t<T>>::type, typename scalar_in_any<Rest...>::type>;
};

template <class T>
struct scalar_in<T, std::enable_if_t<on_tape<T>>> {
  using type = var;
};
template <class T, int K>
struct scalar_in<dual<T, K>> {
  using type = dual<T, K>;
};
template <class T>
struct scalar_in<matrix<T>> : scalar_in<T> {};
template <class T>
struct scalar_in<T, std::enable_if_t<std::is_base_of_v<Eigen::EigenBase<T>, T>>> : scalar_in<typename T::Scalar> {};
template <class T>
struct scalar_in<std::vector<T>> : scalar_in<T> {};
template <class... T>
struct scalar_in<std::tuple<T...>> : scalar_in_any<T...> {};

}  // namespace detail

/// double, or var when there is a var in any of the types, or dual when there is a dual: looked for in Eigen objects,
/// matrix<var>, std::vector and std::tuple, to any depth. Integers count as double.
template <class... T>
using promoted_t = typename detail::scalar_in_any<T...>::type;

}  // namespace agrad
