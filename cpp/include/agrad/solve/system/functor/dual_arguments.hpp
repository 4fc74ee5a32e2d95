// Dual arguments: the arguments of a right-hand side with dual numbers instead of variables.
//
// Read first: solve/system/arguments.hpp.
#pragma once

#include <tuple>

#include <agrad/solve/system/arguments.hpp>

namespace agrad::detail {

/// T with S instead of its variables.
template <class T, class S>
using dual_argument_t = typename active_scalars<T>::template with<S>;

/// Returns the arguments in a tuple.
struct as_tuple {
  template <class... T>
  std::tuple<T...> operator()(const T&... each) const {
    return {each...};
  }
};

/// Calls use(arguments...), with next(value) for each active scalar in `values`, in the order of `argument<T>::collect`.
template <class S, class... Args, class Next, class Use>
auto with_duals(const std::tuple<argument_value_t<Args>...>& values, const Next& next, const Use& use) {
  return std::apply(
      [&](const argument_value_t<Args>&... each) {
        // Braces evaluate from left to right, in the order in which scalars are counted.
        return std::apply(use, std::tuple<dual_argument_t<Args, S>...>{active_scalars<Args>::template make<S>(each, next)...});
      },
      values);
}

}  // namespace agrad::detail
