// Loops that recover from errors of a step: nan for its results, no derivatives, also after storage.
#include <doctest/doctest.h>
#include <agrad/program/loops/scan.hpp>
#include <agrad/program/products.hpp>
#include <agrad/rules/elementwise.hpp>
#include <agrad/rules/linalg/rule.hpp>
#include <cmath>
#include <memory>
#include <string_view>
#include <vector>

#include "recording.hpp"

namespace test_recovering {

using agrad::body;
using agrad::recorder;
using agrad::scan_loop;
using agrad::scan_operation;
using recording::range;
using recording::record;
using recording::slots;
using vector = std::vector<double>;

namespace {

/// y = x for x in [0, 100), and an error of another type at each side.
class bounded final : public agrad::external_operation {
 public:
  struct nothing final : state {};
  std::string_view name() const override { return "bounded"; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<nothing>(); }
  void forward(state&, const double* x, double* y, bool) const override {
    if (*x < -100) throw agrad::ShapeError("bounded: x is of another kind");
    if (*x < -10) throw agrad::LinAlgError("bounded: x is no matrix");
    if (*x < 0) throw agrad::DomainError("bounded: x is negative");
    if (*x >= 100) throw agrad::SolverError("bounded: x is large", 0, 0, "", "");
    *y = *x;
  }
  void reverse(state&, const double* y_adjoint, double* x_adjoint) const override { *x_adjoint += *y_adjoint; }
};

/// The logarithms of entries, beside the entries themselves, each of which is a step of a loop without a carry.
std::shared_ptr<const agrad::program> logarithms(std::size_t n, bool recovers) {
  const double inside = 1;
  recorder step;
  const agrad::slot x = step.input(&inside, 1);
  const agrad::slot y = step.apply(std::make_shared<const bounded>(), step.dense(&x, 1), 1, false);
  const auto of = std::make_shared<body>("logarithms", 1);
  of->add({schedule(step, record<agrad::log_rule>(step, {y})), 0});
  scan_loop loop;
  loop.length = n;
  loop.xs = {{1}};
  loop.ys = {1};
  loop.recovers = recovers;
  const auto f = std::make_shared<scan_operation>(of, loop);
  const vector at(n, 1.0);
  recorder r;
  const slots in = range(r.input(at.data(), n), n);
  slots out = range(r.apply(f, r.dense(in.data(), n), n, false), n);
  out.insert(out.end(), in.begin(), in.end());
  return schedule(r, out);
}

}  // namespace

TEST_CASE("a step with an error of its domain or of a solver is nan, and the steps after it are computed") {
  const auto f = logarithms(6, true);
  const vector x{-1, 2, 200, -20, 0.5, 3};
  vector y(12);
  agrad::workspace w;
  for (int run = 0; run < 2; ++run) {
    f->forward(w, x.data(), y.data(), run == 1);
    for (const std::size_t i : {0, 2, 3}) CHECK(std::isnan(y[i]));
    for (const std::size_t i : {1, 4, 5}) CHECK(y[i] == doctest::Approx(std::log(x[i])));
  }
}

TEST_CASE("results of such a loop have no derivatives") {
  const auto f = logarithms(3, true);
  const vector x{-1, 2, 4}, along{1, 2, 3}, seeds{1, 1, 1, 10, 20, 30};
  vector y(6), tangents(6), adjoints(3), second(3);
  agrad::workspace w;
  agrad::jacobian_products(*f, w, x.data(), along.data(), 1, y.data(), tangents.data());
  CHECK(tangents == vector{0, 0, 0, 1, 2, 3});
  agrad::adjoint_products(*f, w, x.data(), seeds.data(), 1, y.data(), adjoints.data());
  CHECK(adjoints == vector{10, 20, 30});
  agrad::hessian_products(*f, w, x.data(), seeds.data(), along.data(), 1, y.data(), adjoints.data(), second.data());
  CHECK(adjoints == vector{10, 20, 30});
  CHECK(second == vector{0, 0, 0});
}

TEST_CASE("other errors, and errors of other loops, are thrown") {
  vector y(2);
  agrad::workspace w, other;
  const vector wrong{-1000}, outside{-1};
  CHECK_THROWS_AS(logarithms(1, true)->forward(w, wrong.data(), y.data(), false), agrad::ShapeError);
  CHECK_THROWS_AS(logarithms(1, false)->forward(other, outside.data(), y.data(), false), agrad::DomainError);
}

}  // namespace test_recovering
