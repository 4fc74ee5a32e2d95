// Sorting and quantiles of vectors of any scalar, under Stan's names.
//
// Sorted entries are the entries themselves in another order, which their values decide: each keeps its derivatives, equal ones
// keep their order, and nothing is recorded. Arguments are Eigen's vectors and std::vector. A nan is refused, since it has no
// place in an order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/rules/array.hpp>
#include <agrad/rules/arrays/reduce.hpp>
#include <agrad/rules/density/conditions.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

namespace detail {

/// Eigen's vectors and std::vector.
template <class X>
struct is_sortable : std::bool_constant<is_eigen<X>> {};
template <class T, class Allocator>
struct is_sortable<std::vector<T, Allocator>> : std::true_type {};
template <class X>
using if_sortable = std::enable_if_t<is_sortable<X>::value>;

/// The argument as an object with entries; a std::vector itself.
template <class X>
decltype(auto) sortable(const X& x) {
  if constexpr (is_eigen<X>) {
    static_assert(X::IsVectorAtCompileTime, "the argument must be a vector");
    return x.eval();
  } else {
    return (x);
  }
}

/// Returns the places of the entries in ascending order, or in descending order (Sign -1).
template <int Sign, class X>
std::vector<int> places_in_order(std::string_view function, const X& x) {
  std::vector<int> places(static_cast<std::size_t>(x.size()));
  std::iota(places.begin(), places.end(), 0);
  for (const int i : places)
    if (AGRAD_UNLIKELY(x[i] != x[i])) fail_check(function, "x", i, quiet_nan, must_be::not_nan, {});
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return Sign > 0 ? x[a] < x[b] : x[b] < x[a]; });
  return places;
}

template <int Sign, class X>
auto sorted_entries(std::string_view function, const X& given) {
  const auto& x = sortable(given);
  std::decay_t<decltype(x)> result(x);
  const std::vector<int> places = places_in_order<Sign>(function, x);
  for (std::size_t i = 0; i < places.size(); ++i) result[static_cast<int>(i)] = x[places[i]];
  return result;
}

/// Returns the quantile of sorted entries: at the place p (n - 1), between the entries around it.
template <class T, class X>
T quantile_of_sorted(const X& x, double p) {
  const double place = p * static_cast<double>(x.size() - 1), below = std::floor(place), share = place - below;
  const T low = x[static_cast<int>(below)];
  if (share == 0) return low;
  const T high = x[static_cast<int>(below) + 1], gap = high - low;
  if (gap < infinity) return low + share * gap;  // exact for equal entries
  return (1 - share) * low + share * high;
}

inline void check_probability(double p, long index) { check("quantile", "p", p, must_be::probability, index); }
template <class X>
void check_quantile(const X& x) {
  if (AGRAD_UNLIKELY(x.size() == 0)) fail_empty("quantile");
}
}  // namespace detail

/// Returns the entries of a vector in ascending order, as a vector of the same kind. Throws DomainError for a nan.
template <class X, class = detail::if_sortable<X>>
auto sort_asc(const X& x) {
  return detail::sorted_entries<1>("sort_asc", x);
}

/// Returns the entries of a vector in descending order.
template <class X, class = detail::if_sortable<X>>
auto sort_desc(const X& x) {
  return detail::sorted_entries<-1>("sort_desc", x);
}

/// Returns the places, from 0, of a vector's entries in ascending order: x[result[0]] is the smallest. Equal entries keep their
/// order.
template <class X, class = detail::if_sortable<X>>
std::vector<int> sort_indices_asc(const X& x) {
  return detail::places_in_order<1>("sort_indices_asc", detail::sortable(x));
}

/// Returns the places, from 0, of a vector's entries in descending order. Equal entries keep their order.
template <class X, class = detail::if_sortable<X>>
std::vector<int> sort_indices_desc(const X& x) {
  return detail::places_in_order<-1>("sort_indices_desc", detail::sortable(x));
}

/// Returns the value below which a share p of the entries lies: between sorted entries the result is interpolated, such that
/// the smallest is the quantile of 0, the largest that of 1.
///
/// x: a vector of any scalar, not empty (else ShapeError), without nan (else DomainError); p: a number between 0 and 1, a
/// constant. The derivative is the share of the two entries that are interpolated; where entries are equal, it is that of those
/// which the order chooses. Source: Hyndman and Fan (1996), The American Statistician 50:361, definition 7.
template <class X, class = detail::if_sortable<X>>
promoted_t<X> quantile(const X& x, double p) {
  detail::check_quantile(x);
  detail::check_probability(p, -1);
  return detail::quantile_of_sorted<promoted_t<X>>(detail::sorted_entries<1>("quantile", x), p);
}

/// Returns the quantiles of several p; the entries are sorted once.
template <class X, class = detail::if_sortable<X>>
std::vector<promoted_t<X>> quantile(const X& x, const std::vector<double>& p) {
  detail::check_quantile(x);
  for (std::size_t i = 0; i < p.size(); ++i) detail::check_probability(p[i], static_cast<long>(i));
  const auto entries = detail::sorted_entries<1>("quantile", x);
  std::vector<promoted_t<X>> result;
  for (const double each : p) result.push_back(detail::quantile_of_sorted<promoted_t<X>>(entries, each));
  return result;
}

}  // namespace agrad
