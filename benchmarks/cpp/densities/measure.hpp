// What one density takes, of agrad or of Stan Math: a value with its gradient, with observations constant or active.
//
// Both libraries are given the same arguments: std::vector of int, double or var, and scalars. A gradient is timed as a user
// waits for it: variables are made, the density is recorded, the reverse pass runs, adjoints are read, and the record is freed.
#pragma once

#ifdef BENCHMARK_STAN
#include <stan/math/rev.hpp>
namespace library = stan::math;
using own_scope = stan::math::nested_rev_autodiff;
#else
#include <agrad/agrad.hpp>
#include <agrad/probability.hpp>
namespace library = agrad;
using own_scope = agrad::scope;
#endif

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace densities {

inline double seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline library::var active(double x) { return x; }
inline int active(int x) { return x; }
inline double adjoint(const library::var& x) { return x.adj(); }
inline double adjoint(int) { return 0; }

template <class Y>
const Y& observed(const Y& y) {
  return y;
}

/// A value, and the sum of its derivatives.
struct result {
  double value = 0, slopes = 0;
};

template <bool with_observations, class Function, class Y, class... P>
result gradient(const Function& f, const std::vector<Y>& data, P... parameters) {
  const own_scope own;
  const auto variables = std::make_tuple(active(parameters)...);
  result of;
  const auto finish = [&](const auto& y) {
    library::var sum = std::apply([&](const auto&... x) { return f(y, x...); }, variables);
    sum.grad();
    of.value = sum.val();
    std::apply([&](const auto&... x) { of.slopes += (0.0 + ... + adjoint(x)); }, variables);
  };
  if constexpr (with_observations) {
    const std::vector<library::var> y(data.begin(), data.end());
    finish(y);
    for (const library::var& x : y) of.slopes += x.adj();
  } else {
    finish(data);
  }
  return of;
}

/// Prints name, mode, n, nanoseconds (the least of several batches), value and sum of slopes.
template <class Gradient>
void time_gradient(const char* name, const char* mode, int n, const Gradient& gradient) {
  const result of = gradient();
  double best = 1e300, spent = 0;
  int calls = 1;
  for (int batch = 0; batch < 9 && (batch < 2 || spent < 0.4); ++batch) {
    const double begin = seconds();
    for (int k = 0; k < calls; ++k) gradient();
    const double taken = seconds() - begin;
    best = std::min(best, taken / calls);
    spent += taken;
    if (taken < 2e-3) calls = static_cast<int>(std::max(2.0, 4e-3 / (taken / calls + 1e-12)));
  }
  std::printf("%s,%s,%d,%.1f,%.15g,%.15g\n", name, mode, n, best * 1e9, of.value, of.slopes);
  std::fflush(stdout);
}

/// The name of the row to run, and the numbers of observations.
struct choice {
  const char* name = "";
  std::vector<int> sizes;

  void read(int count, char** arguments) {
    name = arguments[1];
    for (int i = 2; i < count; ++i) sizes.push_back(std::atoi(arguments[i]));
  }
};
inline choice& chosen() {
  static choice of;
  return of;
}

/// Times a density of observations, whole numbers or between 0 and 1; parameters that are double are active.
template <bool is_whole, class Function, class... P>
void row(const char* name, bool is_product, int modulus, const Function& f, P... parameters) {
  using number = std::conditional_t<is_whole, int, double>;
  if (std::string_view(name) != chosen().name) return;
  for (const int n : chosen().sizes) {
    if (is_product && n > 1) continue;  // the product underflows
    std::vector<number> y;
    for (int i = 0; i < n; ++i) {
      if constexpr (is_whole)
        y.push_back(modulus == 2 ? (i + 1) % 2 : 1 + i % modulus);
      else
        y.push_back(0.1 + 0.8 * (i % 997) / 997.0);
    }
    if constexpr ((std::is_same_v<P, double> || ...))
      time_gradient(name, "constant", n, [&] { return gradient<false>(f, y, parameters...); });
    if constexpr (!is_whole) time_gradient(name, "active", n, [&] { return gradient<true>(f, y, parameters...); });
  }
}

}  // namespace densities
