// ODE arguments: the values, variables and new copies of the arguments that a user passes to a right-hand side.
//
// An argument may have any type. Its active scalars are the variables and duals in it, counted in memory order. Only
// `active_scalars<T>` knows where the active scalars are: in scalars, Eigen's matrices and arrays, matrix<var>, std::vector,
// std::array, std::tuple and std::pair, nested to any depth. All other code works on scalars.
// Read next: solve/system/functor/ode.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/rules/promote.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/var.hpp>

namespace agrad::detail {

/// For a type without active scalars, which is passed on unchanged; specialisations are for types with active scalars.
///
/// with<S>: the type with S for its active scalars. make<S>(x, next): a with<S> from x, a T or a with<...>, with next(scalar of
/// x) for each scalar. each(use, x, more...): calls use(scalar of x, scalars of more...) for each scalar; use receives a matrix
/// on the tape as a whole.
template <class T, class = void>
struct active_scalars {
  static constexpr bool any = false;
  template <class S>
  using with = T;
  template <class S, class Next>
  static const T& make(const T& x, const Next&) {
    return x;
  }
  template <class Use, class... X>
  static void each(const Use&, X&...) {}
};

template <class T>
struct active_scalars<T, std::enable_if_t<std::is_same_v<T, var> || is_dual<T>>> {
  static constexpr bool any = true;
  template <class S>
  using with = S;
  template <class S, class X, class Next>
  static S make(const X& x, const Next& next) {
    return next(x);
  }
  template <class Use, class... X>
  static void each(const Use& use, X&... x) {
    use(x...);
  }
};

template <template <class, int, int, int, int, int> class Dense, class T, int R, int C, int O, int MR, int MC>
struct active_scalars<Dense<T, R, C, O, MR, MC>, std::enable_if_t<active_scalars<T>::any>> {
  static constexpr bool any = true;
  template <class S>
  using with = Dense<S, R, C, O, MR, MC>;
  template <class S, class X, class Next>
  static with<S> make(const X& x, const Next& next) {
    with<S> result(x.rows(), x.cols());
    for (Eigen::Index i = 0; i < x.size(); ++i) result.data()[i] = next(x.data()[i]);
    return result;
  }
  template <class Use, class X, class... Others>
  static void each(const Use& use, X& x, Others&... others) {
    for (Eigen::Index i = 0; i < x.size(); ++i) use(x.data()[i], others.data()[i]...);
  }
};

template <>
struct active_scalars<matrix<var>> {
  static constexpr bool any = true;
  template <class S>
  using with = std::conditional_t<std::is_same_v<S, var>, matrix<var>, Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>;
  template <class S, class X, class Next>
  static with<S> make(const X& x, const Next& next) {
    if constexpr (std::is_same_v<S, var>) {
      return x;  // a matrix on the tape has no other scalars
    } else {
      with<S> result(x.rows(), x.cols());
      for (Eigen::Index i = 0; i < x.size(); ++i) result.data()[i] = next(entry(x, i));
      return result;
    }
  }
  template <class Use, class... X>
  static void each(const Use& use, X&... x) {
    use(x...);
  }

 private:
  static var entry(const matrix<var>& x, Eigen::Index i) { return x[i]; }
  template <class X>
  static const auto& entry(const X& x, Eigen::Index i) {
    return x.data()[i];
  }
};

template <class T>
struct active_scalars<std::vector<T>, std::enable_if_t<active_scalars<T>::any>> {
  static constexpr bool any = true;
  template <class S>
  using with = std::vector<typename active_scalars<T>::template with<S>>;
  template <class S, class X, class Next>
  static with<S> make(const X& x, const Next& next) {
    with<S> result;
    result.reserve(x.size());
    for (const auto& each : x) result.push_back(active_scalars<T>::template make<S>(each, next));
    return result;
  }
  template <class Use, class X, class... Others>
  static void each(const Use& use, X& x, Others&... others) {
    for (std::size_t i = 0; i < x.size(); ++i) active_scalars<T>::each(use, x[i], others[i]...);
  }
};

template <class T, std::size_t N>
struct active_scalars<std::array<T, N>, std::enable_if_t<active_scalars<T>::any>> {
  static constexpr bool any = true;
  template <class S>
  using with = std::array<typename active_scalars<T>::template with<S>, N>;
  template <class S, class X, class Next>
  static with<S> make(const X& x, const Next& next) {
    // Braces evaluate from left to right, in the order in which scalars are counted.
    return std::apply([&](const auto&... each) { return with<S>{active_scalars<T>::template make<S>(each, next)...}; }, x);
  }
  template <class Use, class X, class... Others>
  static void each(const Use& use, X& x, Others&... others) {
    for (std::size_t i = 0; i < N; ++i) active_scalars<T>::each(use, x[i], others[i]...);
  }
};

/// For std::tuple and std::pair, of the types T.
template <template <class...> class Tuple, class... T>
struct active_tuple {
  static constexpr bool any = true;
  template <class S>
  using with = Tuple<typename active_scalars<T>::template with<S>...>;
  template <class S, class X, class Next>
  static with<S> make(const X& x, const Next& next) {
    return std::apply([&](const auto&... each) { return with<S>{active_scalars<T>::template make<S>(each, next)...}; }, x);
  }
  template <class Use, class... X>
  static void each(const Use& use, X&... x) {
    each_of(use, std::index_sequence_for<T...>{}, x...);
  }

 private:
  template <class Use, std::size_t... I, class... X>
  static void each_of(const Use& use, std::index_sequence<I...>, X&... x) {
    (at<I, T>(use, x...), ...);
  }
  template <std::size_t I, class Each, class Use, class... X>
  static void at(const Use& use, X&... x) {
    active_scalars<Each>::each(use, std::get<I>(x)...);
  }
};
template <class... T>
struct active_scalars<std::tuple<T...>, std::enable_if_t<(active_scalars<T>::any || ...)>> : active_tuple<std::tuple, T...> {};
template <class A, class B>
struct active_scalars<std::pair<A, B>, std::enable_if_t<active_scalars<A>::any || active_scalars<B>::any>>
    : active_tuple<std::pair, A, B> {};

/// An argument with variables as active scalars.
template <class T>
struct argument {
  using scalars = active_scalars<T>;
  static constexpr bool active = scalars::any;
  using value_type = typename scalars::template with<double>;

  static decltype(auto) values(const T& x) {
    return scalars::template make<double>(x, [](const var& each) { return each.val(); });
  }

  /// Appends the tape indices of the variables. The variables are marked as shared: an increment must not reuse an index.
  static void collect(const T& x, std::vector<tape::index_type>& indices) { scalars::each(collector{indices}, x); }

  /// Replaces the variables by new independent variables with the given values.
  static void renew(T& x, const value_type& v) { scalars::each(renewer{}, x, v); }

  /// Copies the variables' adjoints to `to` and advances `to`.
  static void read_adjoints(const T& x, double*& to) { scalars::each(reader{to}, x); }

 private:
  struct collector {
    std::vector<tape::index_type>& indices;
    void operator()(const var& x) const { indices.push_back(tape_access::index_of("solve", x)); }
    void operator()(const matrix<var>& x) const {
      for (Eigen::Index i = 0; i < x.size(); ++i) indices.push_back(x[i].index());
    }
  };
  struct renewer {
    void operator()(var& x, double value) const { x = var(value); }
    void operator()(matrix<var>& x, const Eigen::MatrixXd& values) const { x = matrix<var>(values); }
  };
  struct reader {
    double*& to;
    void operator()(const var& x) const { *to++ = x.adj(); }
    void operator()(const matrix<var>& x) const {
      const Eigen::MatrixXd adjoints = x.adj();
      to = std::copy_n(adjoints.data(), adjoints.size(), to);
    }
  };
};

template <class T>
using argument_value_t = typename argument<T>::value_type;

/// Whether any argument contains duals.
template <class... T>
inline constexpr bool hold_duals = is_dual<promoted_t<T...>>;

template <class T>
inline constexpr bool is_second_dual = false;
template <class S, int K>
inline constexpr bool is_second_dual<dual<S, K>> = !std::is_same_v<S, double>;
/// Whether any argument contains duals of variables, for second derivatives.
template <class... T>
inline constexpr bool hold_second_duals = is_second_dual<promoted_t<T...>>;

/// Returns a copy of an argument: evaluates expressions of the tape and of Eigen, copies references.
template <class X>
auto stored_argument(const X& x) {
  if constexpr (is_expression<X>)
    return var(x);
  else if constexpr (has_storage_kind<X>)
    return typename X::PlainObject(x);
  else
    return std::decay_t<const X&>(x);
}
template <class X>
using stored_argument_t = decltype(stored_argument(std::declval<const X&>()));

}  // namespace agrad::detail
