// Typelists: a family of rules is listed once, and everything else is derived from the list.
//
// A typelist is a type; `for_each` calls a generic callable with a `type_tag` of each member, `concat_t` joins lists and
// `index_of_v` is a member's position, the opcode in recorded programs.
#pragma once

#include <cstddef>
#include <type_traits>

namespace agrad {

template <class... T>
struct typelist {
  static constexpr std::size_t size = sizeof...(T);
};

template <class T>
struct type_tag {
  using type = T;
};

template <class... T, class F>
constexpr void for_each(typelist<T...>, F&& f) {
  (f(type_tag<T>{}), ...);
}

template <class... Lists>
struct concat;
template <class... T>
struct concat<typelist<T...>> {
  using type = typelist<T...>;
};
template <class... A, class... B, class... Rest>
struct concat<typelist<A...>, typelist<B...>, Rest...> : concat<typelist<A..., B...>, Rest...> {};
template <class... Lists>
using concat_t = typename concat<Lists...>::type;

template <class T, class List>
struct index_of;
template <class T, class... Rest>
struct index_of<T, typelist<T, Rest...>> : std::integral_constant<std::size_t, 0> {};
template <class T, class Head, class... Rest>
struct index_of<T, typelist<Head, Rest...>> : std::integral_constant<std::size_t, 1 + index_of<T, typelist<Rest...>>::value> {};
template <class T, class List>
inline constexpr std::size_t index_of_v = index_of<T, List>::value;

}  // namespace agrad
