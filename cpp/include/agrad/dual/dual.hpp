// dual: a value and its derivatives in K directions, propagated through every operation.
//
//     dual<double, 4> x{1.5, {1, 0, 0, 0}};    // four columns of a Jacobian in one pass
//     dual<var> x{v, {w}};                      // forward over reverse: gradients of directional derivatives
//
// Nothing is recorded. T may be double, var or a dual. A zero tangent contributes nothing even if the partial derivative is
// infinite or nan (rules/passing.hpp), so that constants remain constants.
#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <agrad/rules/arithmetic.hpp>
#include <agrad/rules/passing_arrays.hpp>
#include <agrad/rules/structure.hpp>

namespace agrad {

template <class T, int K = 1>
struct dual {
  static_assert(!std::is_arithmetic_v<T> || std::is_same_v<T, double>,
                "dual<T, K>: T must be double, agrad::var or a dual; derivatives of float, long double and integers are not "
                "computed");
  static_assert(K > 0, "dual<T, K>: K, the number of directions, must be positive");

  // The tangents come first: otherwise compilers read and write words across tangent and value, which stalls the processor.
  std::array<T, std::size_t{K}> tangent{};
  T value = 0;

  dual() = default;
  /// A constant: a number, or any value that converts to T.
  template <class X, class = std::enable_if_t<std::is_convertible_v<const X&, T>>>
  dual(const X& x) : value(x) {  // NOLINT: a number is a dual
    static_assert(detail::fits_double<X>::value);
  }
  dual(const T& v, const std::array<T, std::size_t{K}>& directions) : tangent(directions), value(v) {}

  const T& val() const { return value; }

  template <class X>
  dual& operator+=(const X& x) {
    return *this = *this + x;
  }
  template <class X>
  dual& operator-=(const X& x) {
    return *this = *this - x;
  }
  template <class X>
  dual& operator*=(const X& x) {
    return *this = *this * x;
  }
  template <class X>
  dual& operator/=(const X& x) {
    return *this = *this / x;
  }
  dual& operator++() { return *this += 1.0; }
  dual& operator--() { return *this -= 1.0; }
};

/// Returns whether a tangent is always zero: the number 0, a dual of zeros, or a variable without an assignment (tape/var.hpp).
inline bool is_constant_zero(double x) { return x == 0; }
template <class T, int K>
bool is_constant_zero(const dual<T, K>& x) {
  bool zero = is_constant_zero(x.value);
  for (const T& t : x.tangent) zero = zero && is_constant_zero(t);
  return zero;
}

namespace detail {

template <class T>
struct dual_traits {
  static constexpr bool is_dual = false;
};
template <class T, int K>
struct dual_traits<dual<T, K>> {
  static constexpr bool is_dual = true;
};
template <class T>
inline constexpr bool is_dual = dual_traits<T>::is_dual;

/// The dual type among the arguments; of two types, the one with the deeper nesting.
template <class... X>
struct dual_among;
template <class X>
struct dual_among<X> {
  using type = X;
};
template <class X, class Y, class... Rest>
struct dual_among<X, Y, Rest...> {
  static constexpr bool prefers_first = is_dual<X> && (!is_dual<Y> || std::is_convertible_v<Y, X>);
  using type = typename dual_among<std::conditional_t<prefers_first, X, Y>, Rest...>::type;
};

template <class T, std::size_t K>
bool all_constant_zero(const std::array<T, K>& tangent) {
  for (const T& t : tangent)
    if (!is_constant_zero(t)) return false;
  return true;
}

template <class T, std::size_t K>
void add_product(std::array<T, K>& sum, const T& factor, const std::array<T, K>& tangent) {
  if constexpr (std::is_same_v<T, double>) {
    add_passed_tangents<K>(factor, tangent.data(), sum.data());
  } else {
    for (std::size_t k = 0; k < K; ++k)
      if (!is_constant_zero(tangent[k])) sum[k] += agrad::apply<passed_rule>(factor, tangent[k]);
  }
}

/// Returns whether an argument is the number 0.
template <class X>
bool is_number_zero(const X& x) {
  if constexpr (std::is_arithmetic_v<X>)
    return x == 0;
  else
    return false;
}

}  // namespace detail

/// The engine of duals: the rule computes the value on T, its partial derivatives the tangents on T.
struct dual_engine {
  static constexpr int rank = 2;

  template <class Rule, class... X>
  static typename detail::dual_among<X...>::type apply(const X&... x) {
    using D = typename detail::dual_among<X...>::type;
    static_assert((std::is_convertible_v<const X&, D> && ...),
                  "these scalars do not mix: duals of different numbers of tangents, or a dual of numbers and a tape variable");
    // A multiple of the number 0 is constant. Variables of a tape would not show that.
    if constexpr (!std::is_same_v<decltype(D::value), double> && detail::proportional_to<Rule> != 0)
      if ((detail::bits_of(detail::is_number_zero(x)...) & detail::proportional_to<Rule>) != 0)
        return D(Rule::value(detail::number_of(x)...));
    return on<Rule, D>(std::index_sequence_for<X...>{}, x...);
  }

 private:
  template <class Rule, class D, std::size_t... I, class... X>
  static D on(std::index_sequence<I...>, const X&... x) {
    return with_values<Rule, D>(std::index_sequence<I...>{}, std::tuple<decltype(value_of<D>(x))...>(value_of<D>(x)...), x...);
  }
  template <class Rule, class D, std::size_t... I, class Values, class... X>
  static D with_values(std::index_sequence<I...>, const Values& values, const X&... x) {
    D result;
    if constexpr (detail::has_slopes<Rule> && std::is_same_v<decltype(D::value), double>) {
      std::array<double, sizeof...(X)> slopes;
      result.value = Rule::value_and_slopes(slopes, {std::is_same_v<X, D>...}, std::get<I>(values)...);
      (add_slope(result, x, std::get<I>(slopes)), ...);
    } else {
      result.value = agrad::apply<Rule>(std::get<I>(values)...);
      (add<Rule, static_cast<int>(I)>(result, x, std::get<I>(values)...), ...);
    }
    return result;
  }
  template <class D, class X>
  static decltype(D::value) value_of(const X& x) {
    if constexpr (std::is_convertible_v<const X&, D> && !std::is_same_v<X, D>) {
      static_assert(detail::fits_double<X>::value);
      return x;
    } else {
      return x.value;
    }
  }
  template <class D, class X>
  static void add_slope(D& result, const X& x, double slope) {
    if constexpr (std::is_same_v<X, D>) detail::add_product(result.tangent, slope, x.tangent);
  }
  template <class Rule, int I, class D, class X, class... Value>
  static void add(D& result, const X& x, const Value&... values) {
    if constexpr (std::is_same_v<X, D>) {
      using T = decltype(D::value);
      if constexpr (!std::is_same_v<T, double>)
        if (detail::all_constant_zero(x.tangent)) return;  // before the derivative is recorded
      const T partial = Rule::derivative(wrt<I>{}, values..., result.value);
      detail::add_product(result.tangent, partial, x.tangent);
    }
  }
};

template <class T, int K>
struct engine_of<dual<T, K>> {
  using type = dual_engine;
};

// ---- comparison and streaming: by value ----------------------------------------------------------------------------------

namespace detail {
template <class X, class Y>
using if_dual_compared = std::enable_if_t<(is_dual<X> && (is_dual<Y> || std::is_convertible_v<const Y&, X>)) ||
                                              (is_dual<Y> && std::is_convertible_v<const X&, Y>),
                                          bool>;
template <class X>
const auto& primal(const X& x) {
  if constexpr (is_dual<X>)
    return x.value;
  else
    return x;
}
}  // namespace detail

template <class X, class Y>
detail::if_dual_compared<X, Y> operator<(const X& x, const Y& y) {
  return detail::primal(x) < detail::primal(y);
}
template <class X, class Y>
detail::if_dual_compared<X, Y> operator>(const X& x, const Y& y) {
  return detail::primal(x) > detail::primal(y);
}
template <class X, class Y>
detail::if_dual_compared<X, Y> operator<=(const X& x, const Y& y) {
  return detail::primal(x) <= detail::primal(y);
}
template <class X, class Y>
detail::if_dual_compared<X, Y> operator>=(const X& x, const Y& y) {
  return detail::primal(x) >= detail::primal(y);
}
template <class X, class Y>
detail::if_dual_compared<X, Y> operator==(const X& x, const Y& y) {
  return detail::primal(x) == detail::primal(y);
}
template <class X, class Y>
detail::if_dual_compared<X, Y> operator!=(const X& x, const Y& y) {
  return detail::primal(x) != detail::primal(y);
}

template <class C, class Traits, class T, int K>
std::basic_ostream<C, Traits>& operator<<(std::basic_ostream<C, Traits>& out, const dual<T, K>& x) {
  out << x.value;
  return out;
}

}  // namespace agrad

namespace std {
template <class T, int K>
class numeric_limits<agrad::dual<T, K>> : public numeric_limits<double> {};
}  // namespace std
