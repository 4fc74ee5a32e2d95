// Dual arguments: what the arguments of a right-hand side become with dual numbers in the place of their variables.
//
// `dual_argument<T>` knows the type and how it is made of the values. Read first: solve/ode_arguments.hpp.
#pragma once

#include <tuple>
#include <type_traits>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/solve/ode_arguments.hpp>

namespace agrad::detail {

/// Without variables: handed on as it is. `next(x)` is called for each active scalar x, in the order of `argument<T>::collect`, and
/// returns what is put in its place.
template <class T, class S, class = void>
struct dual_argument {
  using type = T;
  template <class Next>
  static const T& make(const T& x, const Next&) {
    return x;
  }
};
template <class T, class S>
using dual_argument_t = typename dual_argument<T, S>::type;

template <class S>
struct dual_argument<var, S> {
  using type = S;
  template <class Next>
  static S make(double x, const Next& next) {
    return next(x);
  }
};

template <class Passive, class Type>
struct dual_eigen_argument {
  using type = Type;
  template <class Next>
  static type make(const Passive& x, const Next& next) {
    type made(x.rows(), x.cols());
    for (Eigen::Index i = 0; i < x.size(); ++i) made.data()[i] = next(x.data()[i]);
    return made;
  }
};
template <class S, int R, int C, int O, int MR, int MC>
struct dual_argument<Eigen::Matrix<var, R, C, O, MR, MC>, S>
    : dual_eigen_argument<Eigen::Matrix<double, R, C, O, MR, MC>, Eigen::Matrix<S, R, C, O, MR, MC>> {};
template <class S, int R, int C, int O, int MR, int MC>
struct dual_argument<Eigen::Array<var, R, C, O, MR, MC>, S>
    : dual_eigen_argument<Eigen::Array<double, R, C, O, MR, MC>, Eigen::Array<S, R, C, O, MR, MC>> {};
template <class S>
struct dual_argument<matrix<var>, S> : dual_eigen_argument<Eigen::MatrixXd, Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>> {
};

template <class T, class S>
struct dual_argument<std::vector<T>, S, std::enable_if_t<argument<T>::active>> {
  using type = std::vector<dual_argument_t<T, S>>;
  template <class Next>
  static type make(const argument_value_t<std::vector<T>>& x, const Next& next) {
    type made;
    made.reserve(x.size());
    for (const auto& each : x) made.push_back(dual_argument<T, S>::make(each, next));
    return made;
  }
};

template <class S, class... T>
struct dual_argument<std::tuple<T...>, S, std::enable_if_t<(argument<T>::active || ...)>> {
  using type = std::tuple<dual_argument_t<T, S>...>;
  template <class Next>
  static type make(const std::tuple<argument_value_t<T>...>& x, const Next& next) {
    return std::apply([&](const auto&... each) { return type{dual_argument<T, S>::make(each, next)...}; }, x);
  }
};

/// The arguments as they come, in a tuple.
struct as_tuple {
  template <class... T>
  std::tuple<T...> operator()(const T&... each) const {
    return {each...};
  }
};

/// use(arguments...), with what `next` makes of the active scalars in `values`.
template <class S, class... Args, class Next, class Use>
auto with_duals(const std::tuple<argument_value_t<Args>...>& values, const Next& next, const Use& use) {
  return std::apply(
      [&](const argument_value_t<Args>&... each) {
        // Braces: from left to right, as the scalars are counted.
        return std::apply(use, std::tuple<dual_argument_t<Args, S>...>{dual_argument<Args, S>::make(each, next)...});
      },
      values);
}

}  // namespace agrad::detail
