// Values: arguments of functions of functions with other scalars in the place of their own.
//
// `mapped` applies a function to every value that has derivatives, in arguments of any structure (scalars, Eigen's objects,
// matrix<var>, std::vector, std::array, std::tuple, std::pair); numbers and other objects stay as they are. `values_of` maps to
// numbers; `value_of` is the same for users. Read next: functionals/roots.hpp.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/rules/array.hpp>
#include <agrad/rules/promote.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/var.hpp>

namespace agrad::detail {

/// The order of derivatives of type T: 0 for numbers, 1 for var and for duals of numbers, 2 for duals of var.
template <class T>
struct order_of : std::integral_constant<int, 0> {};
template <>
struct order_of<var> : std::integral_constant<int, 1> {};
template <class T, int K>
struct order_of<dual<T, K>> : std::integral_constant<int, 1 + order_of<T>::value> {};

inline double number_of(double x) { return x; }
inline double number_of(const var& x) { return x.val(); }
template <class T, int K>
double number_of(const dual<T, K>& x) {
  return number_of(x.value);
}

template <class X, class G>
auto mapped(const X& x, G& g);

template <class X, class = void>
struct mapping {
  template <class G>
  static const X& of(const X& x, G&) {
    return x;
  }
};
template <class X>
struct mapping<X, std::enable_if_t<(rank_of<X> > 0 && rank_of<X> < array_rank)>> {
  template <class G>
  static auto of(const X& x, G& g) {
    return g(number_of(stored_t<X>(x)));
  }
};
template <class X>
struct mapping<X, std::enable_if_t<is_eigen<X>>> {
  template <class G>
  static auto of(const X& x, G& g) {
    const typename X::PlainObject& plain = x;
    using entry = std::decay_t<decltype(mapped(plain.data()[0], g))>;
    same_shape_t<typename X::PlainObject, entry> result(x.rows(), x.cols());
    for (Eigen::Index i = 0; i < plain.size(); ++i) result.data()[i] = mapped(plain.data()[i], g);
    return result;
  }
};
template <class X>
struct mapping<X, std::enable_if_t<!is_eigen<X> && (rank_of<X> > array_rank)>> {
  template <class G>
  static auto of(const X& x, G& g) {
    Eigen::Matrix<std::decay_t<decltype(mapped(x(0, 0), g))>, Eigen::Dynamic, Eigen::Dynamic> result(x.rows(), x.cols());
    for (Eigen::Index j = 0; j < x.cols(); ++j)
      for (Eigen::Index i = 0; i < x.rows(); ++i) result(i, j) = mapped(x(i, j), g);
    return result;
  }
};
template <class X, class Allocator>
struct mapping<std::vector<X, Allocator>> {
  template <class G>
  static auto of(const std::vector<X, Allocator>& x, G& g) {
    std::vector<std::decay_t<decltype(mapped(x[0], g))>> result;
    result.reserve(x.size());
    for (const X& each : x) result.push_back(mapped(each, g));
    return result;
  }
};
template <class X, std::size_t N>
struct mapping<std::array<X, N>> {
  template <class G>
  static auto of(const std::array<X, N>& x, G& g) {
    std::array<std::decay_t<decltype(mapped(x[0], g))>, N> result;
    for (std::size_t i = 0; i < N; ++i) result[i] = mapped(x[i], g);
    return result;
  }
};
template <class... X>
struct mapping<std::tuple<X...>> {
  template <class G>
  static auto of(const std::tuple<X...>& x, G& g) {
    return std::apply(
        [&](const auto&... each) { return std::tuple<std::decay_t<decltype(mapped(each, g))>...>{mapped(each, g)...}; }, x);
  }
};
template <class A, class B>
struct mapping<std::pair<A, B>> {
  template <class G>
  static auto of(const std::pair<A, B>& x, G& g) {
    return std::make_pair(mapped(x.first, g), mapped(x.second, g));
  }
};

/// Returns an argument with g(x) in the place of values x that have derivatives.
template <class X, class G>
auto mapped(const X& x, G& g) {
  return mapping<X>::of(x, g);
}

/// Returns an argument with numbers in the place of values that have derivatives.
template <class X>
auto values_of(const X& x) {
  auto same = [](double value) { return value; };
  return mapped(x, same);
}

}  // namespace agrad::detail

namespace agrad {

/// Returns x without derivatives: a double for a var, a dual of any order or an expression, a matrix, vector or array of double
/// for Eigen's objects and expressions of these and for matrix<var>, and the same structure with doubles for std::vector,
/// std::array, std::tuple and std::pair. Numbers and other objects are copied. Pitfall: derivatives end here, so a result that
/// is computed from value_of(x) does not depend on x.
template <class X>
auto value_of(const X& x) {
  return detail::values_of(x);
}

}  // namespace agrad
