// External operations side by side: all reverse passes against the parts alone, the same bits for any number of threads,
// faults.
#include <doctest/doctest.h>

#include <agrad/program/loops/parallel.hpp>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace test_parallel {

using agrad::external_operation;
using agrad::parallel_operation;
using numbers = std::vector<double>;

namespace {

/// y = (a x0 x1, exp(x1)); with a = 0 it throws.
class curved final : public external_operation {
 public:
  explicit curved(double a) : a_(a) {}
  struct kept final : state {
    double x[2] = {0, 0}, dx[16] = {};
  };
  std::string_view name() const override { return "curved"; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<kept>(); }
  void forward(state& s, const double* x, double* y, bool) const override {
    if (a_ == 0) throw std::domain_error("a is 0 at " + std::to_string(x[0]));
    auto& k = static_cast<kept&>(s);
    k.x[0] = x[0], k.x[1] = x[1];
    y[0] = a_ * x[0] * x[1], y[1] = std::exp(x[1]);
  }
  void reverse(state& s, const double* l, double* to) const override {
    const auto& k = static_cast<kept&>(s);
    to[0] += a_ * k.x[1] * l[0];
    to[1] += a_ * k.x[0] * l[0] + std::exp(k.x[1]) * l[1];
  }
  bool has_tangents() const override { return true; }
  void tangent(state& s, int width, const double* dx, double* dy) const override {
    auto& k = static_cast<kept&>(s);
    std::copy_n(dx, 2 * width, k.dx);
    for (int i = 0; i < width; ++i) {
      dy[i] = a_ * (dx[i] * k.x[1] + k.x[0] * dx[width + i]);
      dy[width + i] = std::exp(k.x[1]) * dx[width + i];
    }
  }
  void second(state& s, int width, const double* l, const double* dl, double* to, double* dto) const override {
    reverse(s, l, to);
    const auto& k = static_cast<kept&>(s);
    for (int i = 0; i < width; ++i) {
      const double d0 = k.dx[i], d1 = k.dx[width + i], e = std::exp(k.x[1]);
      dto[i] += a_ * (d1 * l[0] + k.x[1] * dl[i]);
      dto[width + i] += a_ * (d0 * l[0] + k.x[0] * dl[i]) + e * (d1 * l[1] + dl[width + i]);
    }
  }

 private:
  double a_;
};

/// Fifty parts on 51 numbers: part i reads x[50], which all share, and x[i].
parallel_operation fifty(std::size_t threads) {
  std::vector<parallel_operation::part> parts;
  for (std::uint32_t i = 0; i < 50; ++i) parts.push_back({std::make_shared<curved>(1.0 + 0.1 * i), {50, i}, 2});
  return {"fifty", std::move(parts), threads};
}

struct everything {
  numbers y, adjoint, tangent, second_adjoint, second_tangent;
  bool operator==(const everything& other) const {
    return y == other.y && adjoint == other.adjoint && tangent == other.tangent && second_adjoint == other.second_adjoint &&
           second_tangent == other.second_tangent;
  }
};

everything run(const external_operation& f, const numbers& x, std::size_t results) {
  const std::size_t n = x.size();
  everything all{numbers(results), numbers(n), numbers(results), numbers(n), numbers(n)};
  numbers l(results), dl(results), dx(n);
  for (std::size_t i = 0; i < results; ++i) l[i] = std::cos(1.0 * i), dl[i] = std::sin(2.0 * i);
  for (std::size_t i = 0; i < n; ++i) dx[i] = std::cos(3.0 * i);
  const auto s = f.make_state();
  f.forward(*s, x.data(), all.y.data(), true);
  f.reverse(*s, l.data(), all.adjoint.data());
  f.tangent(*s, 1, dx.data(), all.tangent.data());
  f.second(*s, 1, l.data(), dl.data(), all.second_adjoint.data(), all.second_tangent.data());
  return all;
}

numbers points(std::size_t n) {
  numbers x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.3 + std::sin(1.7 * i) / 2;
  return x;
}

}  // namespace

TEST_CASE("parts side by side are the parts alone") {
  const parallel_operation all = fifty(2);
  REQUIRE(all.output_size() == 100);
  CHECK(all.has_tangents());
  const numbers x = points(51);
  const everything got = run(all, x, 100);
  double shared = 0;
  for (std::uint32_t i = 0; i < 50; ++i) {
    const double a = 1.0 + 0.1 * i, l0 = std::cos(2.0 * i), l1 = std::cos(2.0 * i + 1);
    CHECK(got.y[2 * i] == a * x[50] * x[i]);
    CHECK(got.adjoint[i] == doctest::Approx(a * x[50] * l0 + std::exp(x[i]) * l1));
    shared += a * x[i] * l0;
  }
  CHECK(got.adjoint[50] == doctest::Approx(shared));
  CHECK(got.second_adjoint == got.adjoint);
  // The adjoints' tangents are the derivative of the reverse pass along dx, where the seeds move as well.
  const double h = 1e-6;
  numbers up = x, down = x;
  for (std::size_t i = 0; i < 51; ++i) up[i] += h * std::cos(3.0 * i), down[i] -= h * std::cos(3.0 * i);
  const auto swept = [&](const numbers& at, double along) {
    numbers y(100), l(100), back(51);
    for (std::size_t i = 0; i < 100; ++i) l[i] = std::cos(1.0 * i) + along * std::sin(2.0 * i);
    const auto s = all.make_state();
    all.forward(*s, at.data(), y.data(), true);
    all.reverse(*s, l.data(), back.data());
    return back;
  };
  const numbers above = swept(up, h), below = swept(down, -h);
  for (std::size_t i = 0; i < 51; ++i)
    CHECK(got.second_tangent[i] == doctest::Approx((above[i] - below[i]) / (2 * h)).epsilon(1e-7).scale(1));
}

TEST_CASE("the same bits for any number of threads") {
  const numbers x = points(51);
  const everything alone = run(fifty(1), x, 100);
  for (const std::size_t threads : {2U, 3U, 8U, 0U, 100U}) CHECK(run(fifty(threads), x, 100) == alone);
}

TEST_CASE("the first part's fault comes out, and the operation goes on") {
  std::vector<parallel_operation::part> parts;
  for (std::uint32_t i = 0; i < 4; ++i) parts.push_back({std::make_shared<curved>(i % 2 == 1 ? 0.0 : 1.0), {i, i}, 2});
  const parallel_operation all("four", std::move(parts), 1);
  const auto s = all.make_state();
  const numbers x{1, 2, 3, 4};
  numbers y(8);
  CHECK_THROWS_WITH_AS(all.forward(*s, x.data(), y.data(), true), "a is 0 at 2.000000", std::domain_error);
  CHECK(run(fifty(4), points(51), 100) == run(fifty(4), points(51), 100));
}

}  // namespace test_parallel
