// What is measured of one row: is the gradient right, how long does it take beside the function itself, what memory does it
// take.
//
// Times are of the thread's own processor time, because other programs share the machine. Batches of the plain function and of
// its gradient take turns; the ratio is taken within each turn, and the median of the turns is the result.
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cases/case.hpp"

namespace bench {

namespace detail {
template <class Case>
auto folds(int) -> decltype(Case::fold(std::declval<vector_of<double>&>()), std::true_type());
template <class Case>
std::false_type folds(...);
template <class Case>
auto counts(int) -> decltype(std::declval<Case>().operations(), std::true_type());
template <class Case>
std::false_type counts(...);
}  // namespace detail
template <class Case>
inline constexpr bool has_fold = decltype(detail::folds<Case>(0))::value;
template <class Case>
inline constexpr bool has_operations = decltype(detail::counts<Case>(0))::value;

/// Largest error of a value and a gradient beside the gradient by hand, at two points, and at the first one again: a second
/// call must not see what the first one left behind. Relative to the largest derivative.
template <class Case, class Gradient>
double largest_error(const Case& f, const Gradient& gradient) {
  double worst = 0;
  for (const int seed : {0, 1, 0}) {
    const vector_of<double> x = f.start(seed);
    vector_of<double> g = vector_of<double>::Zero(x.size()), reference = g;
    const double value = gradient(x, g), expected = f.gradient(x, reference);
    if constexpr (has_fold<Case>) {
      Case::fold(g);
      Case::fold(reference);
    }
    const double error =
        std::max(std::abs(value - expected) / std::max(1.0, std::abs(expected)),
                 (g - reference).template lpNorm<Eigen::Infinity>() / reference.template lpNorm<Eigen::Infinity>());
    if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
  return worst;
}

/// The same for the gradient by hand, beside central differences of sixth order in some twenty coordinates.
template <class Case>
double largest_error_of_differences(const Case& f) {
  vector_of<double> x = f.start(0), g = vector_of<double>::Zero(x.size());
  double worst = std::abs(f.gradient(x, g) - f(x)) / std::max(1.0, std::abs(f(x)));
  if constexpr (has_fold<Case>) Case::fold(g);
  const double scale = g.template lpNorm<Eigen::Infinity>(), h = 1e-3;
  const Eigen::Index last = x.size() - 1, samples = std::min<Eigen::Index>(last, 20);
  for (Eigen::Index sample = 0; sample <= samples; ++sample) {
    const Eigen::Index i = samples == 0 ? 0 : sample * last / samples;
    const double centre = x[i];
    const auto difference = [&](double distance) {
      x[i] = centre + distance;
      const double ahead = f(x);
      x[i] = centre - distance;
      const double behind = f(x);
      x[i] = centre;
      return ahead - behind;
    };
    const double derivative = (45 * difference(h) - 9 * difference(2 * h) + difference(3 * h)) / (60 * h);
    worst = std::max(worst, std::abs(g[i] - derivative) / scale);
  }
  return worst;
}

inline double processor_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Nanoseconds a call, of `calls` calls.
template <class F>
double time_of(const F& f, const vector_of<double>& x, long calls) {
  const double start = processor_ns();
  for (long i = 0; i < calls; ++i) {
    asm volatile("" : : "r"(x.data()) : "memory");  // x may have changed, and the result is needed: each call is made
    const double result = f(x);
    asm volatile("" : : "m"(result));
  }
  return (processor_ns() - start) / static_cast<double>(calls);
}

/// How many calls make a batch of `ns`.
template <class F>
long calls_in(double ns, const F& f, const vector_of<double>& x) {
  for (long calls = 1;; calls *= 4) {
    const double each = time_of(f, x, calls);
    if (each * static_cast<double>(calls) > ns / 8) return std::max(1L, std::lround(ns / each));
  }
}

inline double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

struct times {
  double plain_ns, gradient_ns, ratio, lower_quartile, upper_quartile;
};

struct effort {
  int repetitions = 15, fewest = 3;
  double batch_ns = 4e6, budget_ns = 6e9;  // slow rows stop after the fewest repetitions when the budget is spent
};

template <class Plain, class Gradient>
times compare(const Plain& plain, const Gradient& gradient, const vector_of<double>& x, const effort& spend) {
  const long plain_calls = calls_in(spend.batch_ns, plain, x), gradient_calls = calls_in(spend.batch_ns, gradient, x);
  std::vector<double> plain_ns, gradient_ns, ratios;
  const double start = processor_ns();
  for (int i = 0; i < spend.repetitions; ++i) {
    plain_ns.push_back(time_of(plain, x, plain_calls));
    gradient_ns.push_back(time_of(gradient, x, gradient_calls));
    ratios.push_back(gradient_ns.back() / plain_ns.back());
    if (i + 1 >= spend.fewest && processor_ns() - start > spend.budget_ns) break;
  }
  return {quantile(plain_ns, 0.5), quantile(gradient_ns, 0.5), quantile(ratios, 0.5), quantile(ratios, 0.25),
          quantile(ratios, 0.75)};
}

/// A line of /proc/self/status, in bytes: VmRSS is the memory that the process holds now, VmHWM the most that it has held.
/// (getrusage's maximum would include the process that started this one.)
inline double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == name + ":" && status >> kibibytes) return 1024 * kibibytes;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

struct growth {
  double bytes, ns;
};

/// Growth of the resident size by one call of `gradient` at x, and its time, with the system's for new pages.
template <class Gradient>
growth growth_of_memory(const Gradient& gradient, const vector_of<double>& x, vector_of<double>& g) {
  const double before = status_bytes("VmRSS"), start = processor_ns();
  gradient(x, g);
  const double ns = processor_ns() - start;
  return {status_bytes("VmHWM") - before, ns};
}

}  // namespace bench
