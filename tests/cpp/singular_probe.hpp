// Probing a function at a singular point: its gradient by a plain recording, by a program's adjoints and by tangents of both
// widths, and its Hessian, against expected numbers, which may be infinite or nan.
#pragma once

#include <doctest/doctest.h>
#include <agrad/program/derive/adjoints.hpp>
#include <agrad/program/derive/tangents.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "program_probe.hpp"
#include "recording.hpp"

namespace singular_probe {

using agrad::recorder;
using program_probe::numbers;
using recording::slots;

inline constexpr double inf = std::numeric_limits<double>::infinity(), unknown = std::numeric_limits<double>::quiet_NaN();

/// Records a function of inputs.
using function = std::function<slots(recorder&, const slots&)>;

inline bool is_same(const numbers& a, const numbers& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::isnan(b[i]) ? !std::isnan(a[i]) : !(a[i] == b[i] || std::abs(a[i] - b[i]) < 1e-12)) return false;
  return true;
}

inline std::shared_ptr<const agrad::program> program_of(const function& f, const numbers& x) {
  recorder r;
  const slots y = f(r, recording::range(r.input(x.data(), x.size()), x.size()));
  return agrad::schedule(r, y);
}

inline numbers plain_gradient(const function& f, const numbers& x) {
  recorder r;
  const slots in = recording::range(r.input(x.data(), x.size()), x.size());
  const slots y = f(r, in);
  numbers adjoints(x.size());
  const double one = 1;
  r.reverse(y.data(), &one, 1, in.data(), adjoints.data(), in.size());
  return adjoints;
}

template <int Width>
numbers tangents(const agrad::program& f, const numbers& x) {
  numbers all;
  for (std::size_t i = 0; i < x.size(); ++i) {
    agrad::workspace w;
    double y = 0;
    f.forward(w, x.data(), &y);
    numbers seeds(x.size() * Width, 0.0), results(Width);
    seeds[i * Width] = 1;
    f.tangent<Width>(w, seeds.data(), results.data());
    all.push_back(results[0]);
  }
  return all;
}

/// Returns the gradient and then the rows of the Hessian.
template <int Width>
numbers second(const agrad::program& f, const numbers& x) {
  numbers all, gradient;
  for (std::size_t i = 0; i < x.size(); ++i) {
    agrad::workspace w;
    double y = 0;
    const double one = 1;
    f.forward(w, x.data(), &y);
    numbers seeds(x.size() * Width, 0.0), results(Width), products(x.size() * Width);
    gradient.assign(x.size(), 0.0);
    seeds[i * Width] = 1;
    f.tangent<Width>(w, seeds.data(), results.data());
    f.second<Width>(w, &one, gradient.data(), products.data());
    for (std::size_t j = 0; j < x.size(); ++j) all.push_back(products[j * Width]);
  }
  all.insert(all.begin(), gradient.begin(), gradient.end());
  return all;
}

/// Returns the gradient as recorded by a reverse pass, from the recording (`compiled` false) or from its program.
inline numbers recorded_gradient(const function& f, const numbers& x, bool compiled) {
  recorder r;
  const slots in = recording::range(r.input(x.data(), x.size()), x.size());
  const slots y = f(r, in);
  agrad::recorded_part part(r, 0, r.code().operations.size(), in);
  agrad::adjoint_recorder back(r, part);
  back.seed(y[0], r.constant(1.0));
  back.reverse();
  const slots gradient = back.of(in);
  if (compiled) return program_probe::run(*agrad::schedule(r, gradient), x);
  numbers values;
  for (const agrad::slot s : gradient) values.push_back(r.value(s));
  return values;
}

/// Returns the gradient as recorded by tangents, one direction after the other.
inline numbers recorded_tangents(const function& f, const numbers& x) {
  numbers values;
  for (std::size_t i = 0; i < x.size(); ++i) {
    recorder r;
    const slots in = recording::range(r.input(x.data(), x.size()), x.size());
    const slots y = f(r, in);
    agrad::recorded_part part(r, 0, r.code().operations.size(), in);
    agrad::tangent_recorder along(r, part);
    along.seed(in[i], r.constant(1.0));
    along.reverse();
    values.push_back(r.value(along.of(y[0])));
  }
  return values;
}

/// recorded: whether recorded derivatives are checked, too; in these, computed zeros around a loop count as structural.
inline void check(const function& f, const numbers& x, const numbers& expected, bool recorded = true) {
  const auto compiled = program_of(f, x);
  CHECK(is_same(plain_gradient(f, x), expected));
  CHECK(is_same(program_probe::gradient(*compiled, x, {1.0}), expected));
  if (recorded) {
    CHECK(is_same(recorded_gradient(f, x, false), expected));
    CHECK(is_same(recorded_gradient(f, x, true), expected));
    CHECK(is_same(recorded_tangents(f, x), expected));
  }
  CHECK(is_same(tangents<1>(*compiled, x), expected));
  CHECK(is_same(tangents<agrad::lane_count>(*compiled, x), expected));
}

inline void check_second(const function& f, const numbers& x, const numbers& gradient, const numbers& hessian) {
  check(f, x, gradient);
  numbers expected = gradient;
  expected.insert(expected.end(), hessian.begin(), hessian.end());
  const auto compiled = program_of(f, x);
  CHECK(is_same(second<1>(*compiled, x), expected));
  CHECK(is_same(second<agrad::lane_count>(*compiled, x), expected));
}

}  // namespace singular_probe
