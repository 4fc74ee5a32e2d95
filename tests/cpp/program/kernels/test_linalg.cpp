// Linear algebra as operations of a program: values, adjoints, tangents and Hessian products against duals of duals.
#include <doctest/doctest.h>
#include <agrad/program/kernels/linalg.hpp>
#include <agrad/program/products.hpp>
#include <agrad/rules/linalg/general.hpp>
#include <agrad/rules/linalg/spd.hpp>
#include <memory>
#include <vector>

#include "linalg_probe.hpp"
#include "recording.hpp"

namespace test_program_linalg {

using namespace linalg_probe;
using agrad::recorder;
using agrad::slot;
using agrad::workspace;

namespace {

using rows = Eigen::Matrix<double, -1, -1, Eigen::RowMajor>;

/// The program of one rule of two matrices, row after row; outputs are the results.
template <class Rule>
std::shared_ptr<const agrad::program> program_of(const rows& a, const rows& b, bool both) {
  recorder r;
  const auto slots = [&](const rows& x) { return r.input(x.data(), static_cast<std::size_t>(x.size())); };
  const slot first = slots(a), second = both ? slots(b) : 0;
  const std::array<agrad::linalg::shape, 2> shapes{{{a.rows(), a.cols()}, {b.rows(), b.cols()}}};
  const agrad::span operands[] = {r.consecutive(first, static_cast<std::size_t>(a.size())),
                                  r.consecutive(second, static_cast<std::size_t>(b.size()))};
  const auto size = [](Index i) { return static_cast<std::uint32_t>(i); };
  std::size_t count = 0, kept = 0;
  slot y = 0;
  if constexpr (Rule::arguments == 2) {
    const auto result = Rule{}.results_of(shapes[0], shapes[1])[0];
    count = static_cast<std::size_t>(result.rows * result.cols);
    kept = agrad::linalg::prepared_slots<Rule>(shapes);
    y = r.apply(agrad::linalg_kernel<Rule>, count + kept, operands, 2,
                {size(a.rows()), size(a.cols()), size(b.rows()), size(b.cols())});
  } else {
    const std::array<agrad::linalg::shape, 1> one{shapes[0]};
    const auto result = Rule{}.results_of(one[0])[0];
    count = static_cast<std::size_t>(result.rows * result.cols);
    kept = agrad::linalg::prepared_slots<Rule>(one);
    y = r.apply(agrad::linalg_kernel<Rule>, count + kept, operands, 1, {size(a.rows()), size(a.cols())});
  }
  return agrad::schedule(r, recording::range(y, count));
}

/// Compares the program's Jacobian and Hessian products with those of the same function on duals of duals.
template <class Rule, class F>
void check_program(const F& f, const rows& a, const rows& b) {
  constexpr bool both = Rule::arguments == 2;
  const auto p = program_of<Rule>(a, b, both);
  const std::size_t n = p->input_size(), m = p->output_size();
  std::vector<double> x(a.data(), a.data() + a.size());
  if (both) x.insert(x.end(), b.data(), b.data() + b.size());
  std::vector<double> v(3 * n), weights(m), y(m), gradient(n), hv(3 * n), jv(3 * m), back(n);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = i / n == 1 ? 0.0 : std::sin(static_cast<double>(3 * i));
  for (std::size_t i = 0; i < m; ++i) weights[i] = std::cos(static_cast<double>(i));

  const auto at = [&](const auto& shift) {  // the weighed results as a function of a dual shift along v's rows
    using T = std::decay_t<decltype(shift(0))>;
    Mat<T> ta(a.rows(), a.cols()), tb(b.rows(), b.cols());
    for (Index i = 0; i < a.size(); ++i) ta(i / a.cols(), i % a.cols()) = shift(static_cast<std::size_t>(i));
    for (Index i = 0; both && i < b.size(); ++i) tb(i / b.cols(), i % b.cols()) = shift(static_cast<std::size_t>(a.size() + i));
    const Mat<T> result = f(ta, tb);
    T sum(0.0);
    for (Index i = 0; i < result.size(); ++i)
      sum += result(i / result.cols(), i % result.cols()) * weights[static_cast<std::size_t>(i)];
    return sum;
  };

  workspace tangent;
  workspace real;
  agrad::hessian_products(*p, tangent, x.data(), weights.data(), v.data(), 3, y.data(), gradient.data(), hv.data());
  agrad::jacobian_products(*p, tangent, x.data(), v.data(), 3, y.data(), jv.data());
  p->forward(real, x.data(), y.data(), true);
  p->reverse(real, weights.data(), back.data());
  double value = 0;
  for (std::size_t i = 0; i < m; ++i) value += weights[i] * y[i];
  CHECK(value == doctest::Approx(at([&](std::size_t i) { return x[i]; })).epsilon(1e-13));
  for (std::size_t i = 0; i < n; ++i) CHECK(gradient[i] == doctest::Approx(back[i]).epsilon(1e-11));
  for (std::size_t d = 0; d < 3; ++d) {
    const auto along = at([&](std::size_t i) { return dual<double>(x[i], {v[d * n + i]}); });
    double forward = 0;
    for (std::size_t i = 0; i < m; ++i) forward += weights[i] * jv[d * m + i];
    CHECK(forward == doctest::Approx(along.tangent[0]).epsilon(1e-11));
    for (std::size_t e = 0; e < 3; ++e) {
      const auto twice = at(
          [&](std::size_t i) { return dual<dual<double>>(dual<double>(x[i], {v[e * n + i]}), {dual<double>(v[d * n + i])}); });
      double product = 0;
      for (std::size_t i = 0; i < n; ++i) product += hv[d * n + i] * v[e * n + i];
      CHECK(product == doctest::Approx(twice.tangent[0].tangent[0]).epsilon(1e-10));
    }
  }
}

}  // namespace

TEST_CASE("one operation of a program is the rule in every mode") {
  for (const Index n : {1, 2, 5}) {
    CAPTURE(n);
    const rows a = regular(n), c = spd(n), b = numbers(n, 2);
    check_program<agrad::linalg::cholesky_rule>([](const auto& x, const auto&) { return agrad::cholesky(x); }, c, b);
    check_program<agrad::linalg::solve_rule>([](const auto& x, const auto& y) { return agrad::solve(x, y); }, a, b);
    check_program<agrad::linalg::inverse_rule>([](const auto& x, const auto&) { return agrad::inverse(x); }, a, b);
  }
}

TEST_CASE("the Cholesky factor's tangents by halves are those of its columns") {
  const Index n = 45;  // halves of halves
  const rows a = spd(n);
  check_program<agrad::linalg::cholesky_rule>([](const auto& x, const auto&) { return agrad::cholesky(x); }, a, a);
}

}  // namespace test_program_linalg
