// The value and the first two derivatives of a function of one number, to be compared with known ones.
#pragma once

#include <doctest/doctest.h>
#include <agrad/dual/dual.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>
#include <cmath>

namespace bent_function {

struct bent {
  double value, slope, bend;
};

/// The value, and the derivatives by duals of duals; the slope is also that of the tape.
template <class F>
bent at(double x, const F& f) {
  using D = agrad::dual<double>;
  const agrad::dual<D> y = f(agrad::dual<D>(D(x, {1.0}), {D(1.0)}));
  const agrad::scope own;
  const agrad::var v = x, of_tape = f(v);
  of_tape.grad();
  const double slope = y.tangent[0].value;
  if (v.adj() != slope) CHECK(v.adj() == doctest::Approx(slope).epsilon(1e-12));  // both may be infinite
  return {y.value.value, slope, y.tangent[0].tangent[0]};
}

inline void check(const bent& given, const bent& truth, double epsilon = 1e-13) {
  const auto same = [&](double x, double y) { return x == y || std::abs(x - y) <= epsilon * std::abs(y); };
  CAPTURE(given.value);
  CAPTURE(given.slope);
  CAPTURE(given.bend);
  CHECK(same(given.value, truth.value));
  CHECK(same(given.slope, truth.slope));
  CHECK(same(given.bend, truth.bend));
}

}  // namespace bent_function
