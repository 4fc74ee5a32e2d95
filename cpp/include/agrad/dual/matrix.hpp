// Linear algebra on duals: a matrix of values and K matrices of tangents, each in the algebra of T.
//
// Eigen::Matrix<dual<T, K>> is split into a dual_matrix, T's engine computes the values, the rules' tangent formulas in T's
// algebra the tangents, and the results are joined again. T may be double, var (then all operations are recorded as blocks) or
// a dual. A tangent that is always zero is absent, and costs nothing.
#pragma once

#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include <agrad/dual/dual.hpp>
#include <agrad/rules/linalg/algebra.hpp>
#include <agrad/rules/linalg/lift.hpp>

namespace agrad::linalg {

template <class M, int K>
struct dual_matrix {
  M value;
  std::array<std::optional<M>, static_cast<std::size_t>(K)> tangent{};

  Index rows() const { return value.rows(); }
  Index cols() const { return value.cols(); }
};

namespace detail {
template <class M>
void add_tangent(std::optional<M>& sum, M&& t) {
  if (sum)
    sum.emplace(plus(*sum, t));
  else
    sum.emplace(std::move(t));
}
template <class M, std::size_t N>
std::array<M, N> packed(std::array<M, N>&& t) {
  return std::move(t);
}
template <class M>
std::array<M, 1> packed(M&& t) {
  return {std::move(t)};
}
}  // namespace detail

template <class M, int K>
struct algebra<dual_matrix<M, K>> {
  using D = dual_matrix<M, K>;
  static constexpr int rank = algebra<M>::rank + 2;
  using room_type = typename algebra<M>::room_type;
  using scalar = dual<typename algebra<M>::scalar, K>;

  static decltype(auto) primal(const D& a) { return algebra<M>::primal(a.value); }

  template <class Rule, class Prepared, class... A>
  static std::array<D, Rule::results> apply(const Rule& rule, const Prepared& prepared, const typename Rule::shapes& shapes,
                                            const A&... a) {
    return on(std::make_index_sequence<Rule::results>{}, std::index_sequence_for<A...>{}, rule, prepared, shapes, a...);
  }

 private:
  template <class A>
  static const auto& value_of(const A& a) {
    if constexpr (std::is_same_v<A, D>)
      return a.value;
    else
      return a;
  }
  template <class A>
  static bool is_active(const A& a) {
    if constexpr (std::is_same_v<A, D>)
      for (const auto& t : a.tangent)
        if (t) return true;
    return false;
  }

  template <std::size_t... R, std::size_t... I, class Rule, class Prepared, class... A>
  static std::array<D, sizeof...(R)> on(std::index_sequence<R...> results, std::index_sequence<I...>, const Rule& rule,
                                        const Prepared& prepared, const typename Rule::shapes& shapes, const A&... a) {
    using engine = algebra<strongest_t<M, std::decay_t<decltype(value_of(a))>...>>;
    if constexpr (!std::is_same_v<typename Rule::through, nothing>) {
      const typename Rule::through full{};
      const auto shared = engine::apply(full, prepared, full.results_of(shape{a.rows(), a.cols()}...), value_of(a)...);
      std::array<D, sizeof...(R)> y{D{shared[Rule::through_result]}};
      (add_argument<I>(results, y, rule, prepared, shared, a, value_of(a)...), ...);
      return y;
    } else {
      std::array<M, sizeof...(R)> values = engine::apply(rule, prepared, shapes, value_of(a)...);
      std::array<D, sizeof...(R)> y{D{std::move(values[R])}...};
      if ((is_active(a) || ...)) {
        const auto shared = rule.linearize(prepared, value_of(a)..., y[R].value...);
        (add_argument<I>(results, y, rule, prepared, shared, a, value_of(a)...), ...);
      }
      return y;
    }
  }

  /// Adds the contributions of the I-th argument's tangents, if there are any, to the tangents of the results.
  template <std::size_t I, std::size_t... R, class Rule, class Prepared, class Shared, class X, class... V>
  static void add_argument(std::index_sequence<R...>, std::array<D, sizeof...(R)>& y, const Rule& rule,
                           const Prepared& prepared, const Shared& shared, const X& x, const V&... values) {
    if constexpr (std::is_same_v<X, D>) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(K); ++k) {
        if (!x.tangent[k]) continue;
        auto t =
            detail::packed(rule.tangent(wrt<static_cast<int>(I)>{}, prepared, shared, values..., y[R].value..., *x.tangent[k]));
        (detail::add_tangent(y[R].tangent[k], std::move(t[R])), ...);
      }
    }
  }
};

/// Eigen matrices of duals.
template <class T, int K>
struct scalar_algebra<dual<T, K>> {
  using part = typename scalar_algebra<T>::matrix;
  using matrix = dual_matrix<part, K>;

  template <class X>
  static matrix from(const X& expression) {
    const auto& x = expression.eval();
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> entries(x.rows(), x.cols());
    const auto part_of = [&](const auto& pick) {
      for (Index j = 0; j < x.cols(); ++j)
        for (Index i = 0; i < x.rows(); ++i) entries(i, j) = pick(x(i, j));
      return part(scalar_algebra<T>::from(entries));
    };
    matrix result{part_of([](const dual<T, K>& d) -> const T& { return d.value; })};
    for (std::size_t k = 0; k < static_cast<std::size_t>(K); ++k) {
      bool is_zero = true;
      for (Index j = 0; j < x.cols() && is_zero; ++j)
        for (Index i = 0; i < x.rows() && is_zero; ++i) is_zero = is_constant_zero(x(i, j).tangent[k]);
      if (!is_zero) result.tangent[k].emplace(part_of([k](const dual<T, K>& d) -> const T& { return d.tangent[k]; }));
    }
    return result;
  }
  static dual<T, K> entry(const matrix& m, Index i) {
    dual<T, K> d;
    d.value = scalar_algebra<T>::entry(m.value, i);
    for (std::size_t k = 0; k < static_cast<std::size_t>(K); ++k)
      if (m.tangent[k]) d.tangent[k] = scalar_algebra<T>::entry(*m.tangent[k], i);
    return d;
  }
};

}  // namespace agrad::linalg
