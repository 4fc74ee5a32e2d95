// By parts: functions of data computed part by part, one part after the other on the calling thread.
//
// Parts of a tape that several threads record are the caller's responsibility, since each thread has a tape of its own.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/functionals/callable.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

namespace detail {

template <class F, class X, class... Shared>
promoted_t<X, Shared...> sum_of_parts(std::string_view function, const F& f, const std::vector<X>& x, int grainsize,
                                      std::size_t size, const Shared&... shared) {
  using T = promoted_t<X, Shared...>;
  if (grainsize < 1) throw DomainError(sentence(function, "grainsize", -1, grainsize, "at least 1"));
  T total = 0.0;
  for (std::size_t start = 0; start < x.size(); start += size) {
    const std::size_t end = std::min(start + size, x.size());
    const std::vector<X> part(x.begin() + static_cast<std::ptrdiff_t>(start), x.begin() + static_cast<std::ptrdiff_t>(end));
    total = total + as_scalar<T>(f(part, start, end, shared...));
  }
  return total;
}

}  // namespace detail

/// Returns f(x, 0, x.size(), shared...), the sum of f's terms over the entries of x; 0 where x is empty.
///
/// f: callable as f(part, start, end, shared...), where part holds the entries from start to end - 1 of x. grainsize, at least
/// 1, is a recommendation for the length of parts and has no effect.
template <class F, class X, class... Shared>
promoted_t<X, Shared...> reduce_sum(const F& f, const std::vector<X>& x, int grainsize, const Shared&... shared) {
  return detail::sum_of_parts("reduce_sum", f, x, grainsize, std::max<std::size_t>(x.size(), 1), shared...);
}

/// Does the same as `reduce_sum`, in parts of grainsize entries.
template <class F, class X, class... Shared>
promoted_t<X, Shared...> reduce_sum_static(const F& f, const std::vector<X>& x, int grainsize, const Shared&... shared) {
  return detail::sum_of_parts("reduce_sum_static", f, x, grainsize, static_cast<std::size_t>(std::max(grainsize, 1)),
                              shared...);
}

/// Returns the results f(phi, theta[n], x_r[n], x_i[n]) of all jobs n, one after the other in a vector.
template <class F, class Phi, class Theta>
vector_of<promoted_t<Phi, Theta>> map_rect(const F& f, const Phi& phi, const std::vector<Theta>& theta,
                                           const std::vector<std::vector<double>>& x_r,
                                           const std::vector<std::vector<int>>& x_i) {
  using T = promoted_t<Phi, Theta>;
  for (const auto& [name, size] : {std::make_pair("x_r", x_r.size()), std::make_pair("x_i", x_i.size())})
    if (size != theta.size())
      throw ShapeError(std::string("map_rect: ") + name + " is of length " + std::to_string(size) + ", but must be of length " +
                       std::to_string(theta.size()) + ", as theta is");
  std::vector<T> results;
  for (std::size_t n = 0; n < theta.size(); ++n) {
    const vector_of<T> result = detail::as_vector<T>("map_rect", f(phi, theta[n], x_r[n], x_i[n]));
    for (Eigen::Index i = 0; i < result.size(); ++i) results.push_back(result[i]);
  }
  return Eigen::Map<const vector_of<T>>(results.data(), static_cast<Eigen::Index>(results.size()));
}

}  // namespace agrad
