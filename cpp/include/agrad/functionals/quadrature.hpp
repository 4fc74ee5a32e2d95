// Quadrature: integrals of functions of one variable, with derivatives with respect to limits and parameters.
//
//     const auto f = [](const auto& x, const auto&, const auto& k) { return pow(x, k); };
//     agrad::var area = agrad::integrate_1d_gauss_kronrod(f, 0.0, b, k);
//
// The nodes are chosen on numbers, by the errors of the integrand and of its derivatives in a generic direction of the
// parameters. The integral is the sum over these nodes, of the arguments' scalar. Limits enter by Leibniz's rule.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/dual/dual.hpp>
#include <agrad/functionals/callable.hpp>
#include <agrad/functionals/search/partition.hpp>
#include <agrad/functionals/values.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

namespace detail {

/// Puts a parameter on the generic direction: factors between 0.5 and 1.5 of either sign, times the parameter's size.
template <class D>
struct generic_direction {
  D operator()(double value) {
    const double factor = (1 + 0.5 * std::cos(2.4 * place)) * (place % 2 ? -1 : 1) * (value == 0 ? 1 : std::abs(value));
    ++place;
    if constexpr (order_of<D>::value == 1)
      return D(value, {factor});
    else
      return D(dual<double>(value, {factor}), {dual<double>(factor)});
  }
  int place = 0;
};

inline void put_components(const dual<double>& y, double* values) { values[0] = y.value, values[1] = y.tangent[0]; }
inline void put_components(const dual<dual<double>>& y, double* values) {
  values[0] = y.value.value, values[1] = y.tangent[0].value, values[2] = y.tangent[0].tangent[0];
}

/// Returns zero with the derivatives of the integral of f(x, distance) with respect to its upper limit, by a Gauss rule on an
/// interval of length zero, whose derivatives are exact to the order of T. The distance is that to the limit's value, as at the
/// nodes, or nan.
template <class T, class F>
T to_limit(const F& f, const T& limit, bool has_distance) {
  static_assert(order_of<T>::value <= 4, "limits have derivatives of up to four orders");
  const double fixed = number_of(limit), shift = order_of<T>::value > 2 ? 0.28867513459481287 : 0;  // two nodes, or the middle
  const T width = limit - fixed;
  T sum = 0.0;
  for (const double c : {0.5 - shift, 0.5 + shift}) {
    const T moved = width * c, distance = has_distance ? T(-moved) : T(std::nan(""));
    const T value = f(T(fixed + moved), distance);
    if (!std::isfinite(number_of(value))) return sqrt(width);  // an infinite slope
    sum = sum + 0.5 * value;
  }
  return width * sum;
}

template <class F, class A, class B, class... Args>
promoted_t<A, B, Args...> integrate(std::string_view function, quadrature_method method, const F& f, const A& a, const B& b,
                                    double relative_tolerance, double absolute_tolerance, int depth, const Args&... args) {
  using T = promoted_t<A, B, Args...>;
  constexpr int orders = order_of<promoted_t<Args...>>::value < 2 ? order_of<promoted_t<Args...>>::value : 2;
  check(function, "relative_tolerance", relative_tolerance, must_be::positive_finite);
  check(function, "absolute_tolerance", absolute_tolerance, must_be::nonnegative);
  check(function, method == quadrature_method::gauss_kronrod ? "max_depth" : "max_refinements", depth, must_be::nonnegative);
  double from = values_of(a), to = values_of(b), sign = 1;
  check(function, "a", from, must_be::not_nan);
  check(function, "b", to, must_be::not_nan);
  if (std::isinf(from) && from == to) return T(0.0);
  const bool swapped = (std::isinf(from) && from > 0) || (std::isinf(to) && to < 0);
  if (swapped) std::swap(from, to), sign = -1;
  const substitution map(method, from, to);
  const bool takes_distance = method == quadrature_method::double_exponential;
  const auto distance_at = [&](const placed& at) { return takes_distance ? at.distance : std::nan(""); };
  const bool has_distance = takes_distance && map.low_finite && map.high_finite;
  const auto limit = first_intervals * (2 + static_cast<std::size_t>(depth));
  const quadrature_options options{relative_tolerance, absolute_tolerance, limit, has_distance};
  integrand sampled{{}, 1, 1 + orders};
  if constexpr (orders == 0) {
    const auto plain = std::make_tuple(values_of(args)...);
    sampled.values = [=](const placed* at, std::size_t n, double* values) {
      for (const placed* end = at + n; at != end; ++at)
        *values++ =
            std::apply([&](const auto&... each) { return as_scalar<double>(f(at->x, distance_at(*at), each...)); }, plain);
    };
  } else {
    using D = std::conditional_t<orders == 1, dual<double>, dual<dual<double>>>;
    generic_direction<D> direction;
    const std::tuple<std::decay_t<decltype(mapped(args, direction))>...> moved{mapped(args, direction)...};
    sampled.values = [=](const placed* at, std::size_t n, double* values) {
      for (const placed* end = at + n; at != end; ++at, values += 1 + orders)
        put_components(
            std::apply([&](const auto&... each) { return as_scalar<D>(f(at->x, distance_at(*at), each...)); }, moved), values);
    };
  }
  const partition found = divide(map, sampled, options);
  check_accuracy(function, found);

  T sum = 0.0;
  for (const auto& [left, right] : found.intervals)
    for (const rule_node& node : rule_nodes()) {
      const placed at = map.place((left + right) / 2 + (right - left) / 2 * node.place);
      if (!is_inner(found, at) || at.slope == 0) continue;
      sum = sum +
            as_scalar<promoted_t<Args...>>(f(at.x, distance_at(at), args...)) * (node.kronrod * at.slope * (right - left) / 2);
    }
  sum = sign * sum;
  const auto of_limit = [&](const auto& x, const auto& distance) {
    if constexpr (std::is_same_v<T, std::decay_t<decltype(x)>>) return as_scalar<T>(f(x, distance, args...));
  };
  if constexpr (order_of<promoted_t<A>>::value > 0)
    if (std::isfinite(values_of(a))) sum = sum - to_limit(of_limit, T(a), has_distance);
  if constexpr (order_of<promoted_t<B>>::value > 0)
    if (std::isfinite(values_of(b))) sum = sum + to_limit(of_limit, T(b), has_distance);
  return sum;
}

inline constexpr double root_epsilon = 1.4901161193847656e-08;  // the root of the distance of numbers at 1
inline constexpr int usual_depth = 15;

}  // namespace detail

/// Integrates f(x, xc, args...) from a to b by Gauss and Kronrod's rule of 21 nodes on bisected intervals, to given tolerances.
///
/// f: callable with numbers, with duals of numbers in args where these have derivatives, and with the arguments' common scalar;
/// xc is nan, of the common scalar for a limit that has derivatives, else a number. a, b: numbers, variables or duals; either
/// may be infinite, and a may be above b. The error estimate must be at most max(absolute_tolerance, relative_tolerance * L), L
/// the integral of |f|, and likewise for derivatives of f in a direction of the parameters, in at most 8 (max_depth + 2)
/// intervals. args: as for solve_newton_tol. Returns the integral, with derivatives with respect to args and limits, of every
/// order of the scalar for args and up to four for limits. Throws SolverError where the tolerance is not reached, f is not
/// finite between the limits, or f is 0 at all of more than a thousand nodes.
template <class F, class A, class B, class... Args>
promoted_t<A, B, Args...> integrate_1d_gauss_kronrod_tol(const F& f, const A& a, const B& b, double relative_tolerance,
                                                         double absolute_tolerance, int max_depth, const Args&... args) {
  return detail::integrate("integrate_1d_gauss_kronrod_tol", detail::quadrature_method::gauss_kronrod, f, a, b,
                           relative_tolerance, absolute_tolerance, max_depth, args...);
}

/// Integrates f(x, xc, args...) from a to b by Gauss and Kronrod's rule; see `integrate_1d_gauss_kronrod_tol`.
template <class F, class A, class B, class... Args>
promoted_t<A, B, Args...> integrate_1d_gauss_kronrod(const F& f, const A& a, const B& b, const Args&... args) {
  return detail::integrate("integrate_1d_gauss_kronrod", detail::quadrature_method::gauss_kronrod, f, a, b,
                           detail::root_epsilon, 0.0, detail::usual_depth, args...);
}

/// Integrates f(x, xc, args...) from a to b after the substitution x = tanh(pi / 2 sinh(t)) or its like for infinite intervals,
/// which removes singularities at the limits.
///
/// xc is the distance to the nearer limit, a - x or b - x, without the rounding of x, and nan in an infinite interval: near a
/// limit other than 0 a singular f must use xc. A derivative with respect to a limit takes f at that limit, where xc is 0, the
/// distance to the limit's value. Otherwise as `integrate_1d_gauss_kronrod_tol`, with max_refinements in the place of
/// max_depth.
template <class F, class A, class B, class... Args>
promoted_t<A, B, Args...> integrate_1d_double_exponential_tol(const F& f, const A& a, const B& b, double relative_tolerance,
                                                              double absolute_tolerance, int max_refinements,
                                                              const Args&... args) {
  return detail::integrate("integrate_1d_double_exponential_tol", detail::quadrature_method::double_exponential, f, a, b,
                           relative_tolerance, absolute_tolerance, max_refinements, args...);
}

/// Integrates f(x, xc, args...) after a double exponential substitution; see `integrate_1d_double_exponential_tol`.
template <class F, class A, class B, class... Args>
promoted_t<A, B, Args...> integrate_1d_double_exponential(const F& f, const A& a, const B& b, const Args&... args) {
  return detail::integrate("integrate_1d_double_exponential", detail::quadrature_method::double_exponential, f, a, b,
                           detail::root_epsilon, 0.0, detail::usual_depth, args...);
}

/// Integrates f(x, xc, theta, x_r, x_i) from a to b after a double exponential substitution: the older form of
/// `integrate_1d_double_exponential`, with parameters and data as three arguments.
///
/// f: callable with numbers, with theta of duals where theta has derivatives, and with the common scalar; xc is as for
/// `integrate_1d_double_exponential_tol`. a, b: numbers, variables or duals. theta: anything that args may be; the data x_r and
/// x_i are passed unchanged. relative_tolerance: as there; the absolute tolerance is 0. Derivatives and exceptions are those of
/// `integrate_1d_gauss_kronrod_tol`.
template <class F, class A, class B, class Theta>
promoted_t<A, B, Theta> integrate_1d(const F& f, const A& a, const B& b, const Theta& theta, const std::vector<double>& x_r,
                                     const std::vector<int>& x_i, double relative_tolerance = detail::root_epsilon) {
  return detail::integrate("integrate_1d", detail::quadrature_method::double_exponential, f, a, b, relative_tolerance, 0.0,
                           detail::usual_depth, theta, x_r, x_i);
}

}  // namespace agrad
