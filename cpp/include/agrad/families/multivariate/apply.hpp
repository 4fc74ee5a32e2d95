// Apply multivariate: computes a multivariate rule on Eigen's matrices of numbers, duals and variables, in any mixture.
//
// Arguments are converted to matrices by their shapes in the rule: a number is 1 x 1, a vector is a row or a column. Their
// values are checked, then the rule is computed in the vocabulary `eigen_words`. Read next: families/multivariate/words.hpp.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/families/multivariate/rule.hpp>
#include <agrad/families/multivariate/words.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/tape/matrix.hpp>

namespace agrad {

namespace detail {

template <class X>
inline constexpr bool is_matrix_handle = !is_eigen<X> && (rank_of<X> > array_rank);

/// An argument as Eigen's object or as a number: a sequence becomes a vector, a matrix<var> a matrix of its variables.
template <class X>
decltype(auto) as_eigen(const X& x) {
  if constexpr (is_matrix_handle<X>)
    return x.variables();
  else
    return (x);
}
template <class T, class Allocator>
vector_of<promoted_t<T>> as_eigen(const std::vector<T, Allocator>& x) {
  vector_of<promoted_t<T>> v(static_cast<Eigen::Index>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) v[static_cast<Eigen::Index>(i)] = promoted_t<T>(x[i]);
  return v;
}

template <class X>
inline constexpr bool is_sequence = false;
template <class T, class Allocator>
inline constexpr bool is_sequence<std::vector<T, Allocator>> = true;

/// Returns the shape of an argument; a matrix<var> of one column is a vector.
template <class X>
given_shape shape_of_given(const X& x) {
  if constexpr (is_eigen<X>) {
    if (X::IsVectorAtCompileTime) return {x.size(), 1, 1};
    return {x.rows(), x.cols(), 2};
  } else if constexpr (is_matrix_handle<X>) {
    return {x.rows(), x.cols(), x.cols() == 1 ? 1 : 2};
  } else if constexpr (is_sequence<X>) {
    return {static_cast<std::ptrdiff_t>(x.size()), 1, 1};
  } else {
    return {};
  }
}

/// Returns the argument, or that for which a shorthand stands, as a matrix of the shape that the rule gives it.
template <class X>
matrix_of<promoted_t<X>> as_matrix(const X& x, const given_shape& s, shorthand form) {
  using T = promoted_t<X>;
  matrix_of<T> m(s.rows, s.cols);
  if constexpr (is_eigen<X>) {
    const auto& plain = x.eval();
    if (form == shorthand::diagonal) {
      m.setConstant(T(0.0));
      for (Eigen::Index i = 0; i < s.rows; ++i) m(i, i) = T(plain.coeff(i));
      return m;
    }
    const bool turns = plain.rows() != s.rows;  // a vector that becomes a row
    for (Eigen::Index j = 0; j < s.cols; ++j)
      for (Eigen::Index i = 0; i < s.rows; ++i) m(i, j) = T(turns ? plain.coeff(j, i) : plain.coeff(i, j));
  } else {
    m.setConstant(T(x));
  }
  return m;
}

template <class T>
Eigen::MatrixXd primal_matrix(const matrix_of<T>& x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    Eigen::MatrixXd values(x.rows(), x.cols());
    for (Eigen::Index i = 0; i < x.size(); ++i) values.data()[i] = primal_value(x.data()[i]);
    return values;
  }
}

inline matrix_values matrix_values_of(const Eigen::MatrixXd& x, shorthand form) {
  return {x.data(), x.rows(), x.cols(), 1, x.rows(), form};
}

/// Computes a rule. Data become numbers.
template <class Rule, bool propto>
struct multivariate_on {
  template <class... X>
  static promoted_t<X...> apply(const X&... x) {
    bound_sizes sizes;
    const all_shapes given{shape_of_given(x)...}, shapes = matrix_shapes<arity>(Rule::name, Rule::arguments, given, sizes);
    all_forms forms{};
    for (std::size_t k = 0; k < arity; ++k) forms[k] = shorthand_of(Rule::arguments[k], given[k]);
    return of_given(std::index_sequence_for<X...>{}, sizes, shapes, forms, as_eigen(x)...);
  }

 private:
  static constexpr std::size_t arity = std::size_t{Rule::arity};
  using all_shapes = std::array<given_shape, arity>;
  using all_forms = std::array<shorthand, arity>;

  template <std::size_t... K, class... X>
  static promoted_t<X...> of_given(std::index_sequence<K...> places, const bound_sizes& sizes, const all_shapes& shapes,
                                   const all_forms& forms, const X&... x) {
    return of_matrices(places, sizes, forms, as_matrix(x, shapes[K], forms[K])...);
  }
  template <std::size_t... K, class... M>
  static promoted_t<M...> of_matrices(std::index_sequence<K...>, const bound_sizes& sizes, const all_forms& forms,
                                      const M&... x) {
    (Rule::arguments[K].must.check(Rule::name, Rule::arguments[K].name, matrix_values_of(primal_matrix(x), forms[K]),
                                   static_cast<double>(sizes.of(Rule::arguments[K].limit))),
     ...);
    typename Rule::parts included;
    included.propto = propto;
    included.active = {(!std::is_same_v<typename M::Scalar, double> && !is_outcome<K>)...};
    const bool any = included.constants() || ((!std::is_same_v<typename M::Scalar, double> && !is_outcome<K>) || ...);
    if (!any || sizes.of('n') == 0) return promoted_t<M...>(0.0);
    return promoted_t<M...>(Rule::template log_density<eigen_words>(included, numbers_of<K>(x)...)(0, 0));
  }
  template <std::size_t K>
  static constexpr bool is_outcome = Rule::arguments[K].must.each.whole;
  template <std::size_t K, class M>
  static decltype(auto) numbers_of(const M& x) {
    if constexpr (is_outcome<K>)
      return primal_matrix(x);
    else
      return (x);
  }
};

}  // namespace detail

/// Returns the sum of a rule's log densities over all observations.
template <class Rule, bool propto = false, class... X>
promoted_t<X...> apply_multivariate(const X&... x) {
  static_assert(sizeof...(X) == Rule::arity, "the function takes another number of arguments");
  return detail::multivariate_on<Rule, propto>::apply(x...);
}

}  // namespace agrad
