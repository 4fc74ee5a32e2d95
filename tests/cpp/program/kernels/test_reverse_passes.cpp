// The reverse passes of every kind of kernel: second order against finite differences and closed forms, as run, as straight
// code and one by one; one direction alone and in lanes; infinite derivatives of what is not used; external operations with
// tangents.
#include <doctest/doctest.h>
#include <agrad/program/kernels/density.hpp>
#include <agrad/rules/density/normal.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "program_probe.hpp"
#include "recording.hpp"

namespace test_program_reverse_passes {

using agrad::external_operation;
using agrad::lane_count;
using agrad::program;
using agrad::recorder;
using agrad::schedule;
using agrad::slot;
using agrad::span;
using doctest::Approx;
using program_probe::along;
using program_probe::disagreement;
using program_probe::numbers;
using program_probe::run;
using recording::count;
using recording::range;
using recording::record;
using recording::slots;

namespace {

using program_ptr = std::shared_ptr<const program>;

numbers spread(std::size_t n) {
  numbers x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 1 + std::sin(1.7 * static_cast<double>(i)) / 3;
  return x;
}

slots inputs(recorder& r, const numbers& x) { return range(r.input(x.data(), x.size()), x.size()); }
slots constants(recorder& r, std::size_t n) {
  const numbers x = spread(n + 3);
  return range(r.constant(x.data() + 3, n), n);
}

/// The rule on n entries, the operands with a bit in `active` inputs, the others constants; recorded entry by entry when
/// `apart`, which becomes straight code or a run, else as one operation. Outputs the squares, so that adjoints have tangents.
template <class Rule>
program_ptr rule_program(std::size_t n, unsigned active, bool apart) {
  constexpr auto arity = static_cast<std::size_t>(Rule::arity);
  recorder r;
  const slots x = inputs(r, spread(arity * n));
  std::vector<slots> operands;
  for (std::size_t k = 0; k < arity; ++k) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(k * n);
    operands.push_back((active >> k & 1U) != 0 ? slots(first, first + static_cast<std::ptrdiff_t>(n)) : constants(r, n));
  }
  slots y;
  if (apart) {
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<slots> each;
      for (const slots& one : operands) each.push_back({one[i]});
      y.push_back(recording::record_elementwise(r, agrad::kernel_of_rule<Rule>(), each)[0]);
    }
  } else {
    y = recording::record_elementwise(r, agrad::kernel_of_rule<Rule>(), operands);
  }
  return schedule(r, record<agrad::multiply_rule>(r, y, y));
}

template <class Rule>
void check_rule() {
  CAPTURE(std::string(Rule::name));
  for (unsigned active = 1; active < (1U << static_cast<unsigned>(Rule::arity)); ++active) {
    CAPTURE(active);
    for (const std::size_t n : {2U, 14U, 20U}) {
      if (n == 14 && active + 1 != 1U << static_cast<unsigned>(Rule::arity)) continue;
      CAPTURE(n);
      const auto f = rule_program<Rule>(n, active, false), g = rule_program<Rule>(n, active, true);
      CHECK(count(f->code(), "straight") == (n == 2 ? 1 : 0));
      CHECK(count(g->code(), "straight") == (n == 2 ? 1 : 0));
      const numbers x = spread(f->input_size());
      CHECK(disagreement(*f, x, 1e-3) < 1e-9);
      CHECK(disagreement(*g, x, 1e-3) < 1e-9);
    }
  }
}

/// Whether one direction alone gives the same bits as in lanes: tangents, gradients, and the adjoints' tangents.
bool widths_agree(const program& f, const numbers& x) {
  const std::size_t n = f.input_size();
  program_probe::rows directions(program_probe::index(n), 10);
  for (Eigen::Index i = 0; i < directions.size(); ++i) directions.data()[i] = std::cos(3.0 * static_cast<double>(i));
  const numbers seeds = program_probe::seeds_of(f);
  const auto one = along<1>(f, x, directions, seeds), lanes = along<lane_count>(f, x, directions, seeds);
#ifdef __FMA__  // the compiler may fuse what it made packets of and not the rest
  const double tolerance = 1e-13;
#else
  const double tolerance = 0;
#endif
  const auto near = [&](const program_probe::rows& a, const program_probe::rows& b) {
    return program_probe::distance(a, b) <= tolerance * a.cwiseAbs().maxCoeff();
  };
  return near(one.tangents, lanes.tangents) && near(one.hessian, lanes.hessian) &&
         near(program_probe::vector(one.gradient), program_probe::vector(lanes.gradient));
}

span broadcast(recorder& r, slot s) { return {s, 1, 0, r.is_active(s)}; }
slot density(recorder& r, const span& y, const span& mu, const span& sigma, std::uint32_t terms) {
  const span operands[] = {y, mu, sigma};
  return r.apply(agrad::density_kernel<agrad::normal_lpdf_rule>, 1, operands, 3, {terms, 0});
}

/// y = (x0 x1, x0 x0 x1) with all derivatives.
class with_tangents : public external_operation {
 public:
  struct own_state : state {
    std::array<double, 2> x{};
    std::array<double, 2 * lane_count> tangent{};
  };
  std::string_view name() const override { return "with_tangents"; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<own_state>(); }
  void forward(state& s, const double* x, double* y, bool) const override {
    static_cast<own_state&>(s).x = {x[0], x[1]};
    y[0] = x[0] * x[1];
    y[1] = x[0] * x[0] * x[1];
  }
  void reverse(state& s, const double* v, double* g) const override {
    const auto& x = static_cast<own_state&>(s).x;
    g[0] += v[0] * x[1] + v[1] * 2 * x[0] * x[1];
    g[1] += v[0] * x[0] + v[1] * x[0] * x[0];
  }
  bool has_tangents() const override { return true; }
  void tangent(state& s, int width, const double* dx, double* dy) const override {
    auto& mine = static_cast<own_state&>(s);
    std::copy_n(dx, 2 * width, mine.tangent.begin());
    const auto& x = mine.x;
    for (int k = 0; k < width; ++k) {
      dy[k] = dx[k] * x[1] + x[0] * dx[width + k];
      dy[width + k] = 2 * x[0] * x[1] * dx[k] + x[0] * x[0] * dx[width + k];
    }
  }
  void second(state& s, int width, const double* v, const double* dv, double* g, double* dg) const override {
    reverse(s, v, g);
    const auto& mine = static_cast<own_state&>(s);
    const auto& x = mine.x;
    for (int k = 0; k < width; ++k) {
      const double d0 = mine.tangent[static_cast<std::size_t>(k)], d1 = mine.tangent[static_cast<std::size_t>(width + k)];
      dg[k] += dv[k] * x[1] + v[0] * d1 + dv[width + k] * 2 * x[0] * x[1] + v[1] * 2 * (d0 * x[1] + x[0] * d1);
      dg[width + k] += dv[k] * x[0] + v[0] * d0 + dv[width + k] * x[0] * x[0] + v[1] * 2 * x[0] * d0;
    }
  }
};

}  // namespace

TEST_CASE("second order of elementwise rules of every arity, with any active operands") {
  check_rule<agrad::sin_rule>();
  check_rule<agrad::log_rule>();
  check_rule<agrad::divide_rule>();
  check_rule<agrad::pow_rule>();
  check_rule<agrad::fmax_rule>();
  check_rule<agrad::fma_rule>();
  check_rule<agrad::select_rule>();
}

TEST_CASE("second order of sums, gathers and products with either or both factors active") {
  for (const std::uint32_t m : {1U, 3U})
    for (const unsigned active : {1U, 2U, 3U}) {
      recorder r;
      const numbers at = spread(6 + 3 * m);
      const slots x = inputs(r, at);
      slots a(x.rend() - 6, x.rend()), b(x.rbegin(), x.rbegin() + 3 * m);  // backwards, to be gathered
      if ((active & 1U) == 0) a = constants(r, 6);
      if ((active & 2U) == 0) b = constants(r, 3 * m);
      const slots y = recording::product(r, a, b, 2, 3, m), sums = recording::sum(r, y, 2);
      const auto f = schedule(r, record<agrad::multiply_rule>(r, sums, {y[0]}));
      CAPTURE(m);
      CAPTURE(active);
      CHECK(count(f->code(), "product") == 1);
      CHECK(disagreement(*f, at) < 1e-9);
    }
}

TEST_CASE("second order of densities of scalars and rows") {
  for (const unsigned active : {1U, 2U, 4U, 7U})
    for (const bool rows : {false, true}) {
      recorder r;
      const std::uint32_t n = 11;
      const numbers at = spread(3 * n);
      const slots x = inputs(r, at), c = constants(r, 3 * n);
      const auto operand = [&](std::uint32_t k, bool whole) {
        const slot first = ((active >> k & 1U) != 0 ? x : c)[k * n];
        return whole ? r.consecutive(first, n) : broadcast(r, first);
      };
      const slot d = density(r, operand(0, true), operand(1, rows), operand(2, rows), n);
      const auto f = schedule(r, record<agrad::sin_rule>(r, {d}));
      CAPTURE(active);
      CAPTURE(rows);
      CHECK(disagreement(*f, at, 2e-3) < 1e-7);
      CHECK(widths_agree(*f, at));
    }
}

TEST_CASE("one direction alone and in lanes give the same numbers") {
  for (const std::size_t n : {1U, 5U, 40U, 700U}) {
    recorder r;
    const numbers at = spread(n);
    const slots x = inputs(r, at);
    const slots s = record<agrad::exp_rule>(r, record<agrad::sin_rule>(r, x));
    const slots y = record<agrad::fma_rule>(r, s, {x[0]}, record<agrad::pow_rule>(r, x, s));
    const auto f =
        schedule(r, {y[0], y[n / 2], recording::sum(r, y)[0], recording::sum(r, record<agrad::divide_rule>(r, s, y))[0]});
    CAPTURE(n);
    CHECK(widths_agree(*f, at));
  }
}

TEST_CASE("sums of tangents are as accurate in lanes as alone") {
  recorder r;
  const std::size_t n = 100000;
  const slots x = inputs(r, numbers(n, 1.0));
  const auto f = schedule(r, recording::sum(r, x));
  const program_probe::rows tenths = program_probe::rows::Constant(program_probe::index(n), 8, 0.1);
  const double alone = along<1>(*f, numbers(n, 1.0), tenths, {1.0}).tangents(0, 0);
  CHECK(alone == Approx(1e4).epsilon(1e-15));
  for (Eigen::Index k = 0; k < 8; ++k) CHECK(along<lane_count>(*f, numbers(n, 1.0), tenths, {1.0}).tangents(0, k) == alone);
}

TEST_CASE("infinite derivatives of unused entries are no nan in any reverse pass") {
  // Entry by entry: straight code for 4, one run for 30. The roots of zero are cut off by a
  // maximum; the directions that reach them are nan as with duals, the others and all reverse passes are not.
  for (const std::size_t n : {4U, 30U}) {
    recorder r;
    numbers at = spread(n);
    at[0] = at[n - 1] = 0;
    const slots x = inputs(r, at);
    slots y;
    for (std::size_t i = 0; i < n; ++i) {
      const slots root = record<agrad::sqrt_rule>(r, {x[i]});
      y.push_back(record<agrad::fmax_rule>(r, root, slots{r.constant(0.25)})[0]);
    }
    const auto f = schedule(r, y);
    CHECK(count(f->code(), "sqrt") == (n == 4 ? 0 : 1));
    const auto unit = program_probe::unit_directions(n);
    const numbers seeds(n, 1.0);
    for (const auto& all : {along<1>(*f, at, unit, seeds), along<lane_count>(*f, at, unit, seeds)})
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          const Eigen::Index row = program_probe::index(i), column = program_probe::index(j);
          const bool is_own = i == j && at[i] > 0;
          if (at[j] > 0) CHECK(all.tangents(row, column) == Approx(is_own ? 0.5 / std::sqrt(at[i]) : 0));
          CHECK(all.hessian(row, column) == Approx(is_own ? -0.25 * std::pow(at[i], -1.5) : 0));
          CHECK(all.gradient[i] == Approx(at[i] > 0 ? 0.5 / std::sqrt(at[i]) : 0));
        }
  }
}

TEST_CASE("a direction that does not reach an infinite derivative has no nan") {
  for (const std::size_t n : {4U, 30U}) {
    recorder r;
    const numbers at(n, 0.0);
    const slots x = inputs(r, at);
    slots y;
    for (std::size_t i = 0; i < n; ++i) y.push_back(record<agrad::sqrt_rule>(r, {x[i]})[0]);
    const auto f = schedule(r, y);
    const auto all = along<lane_count>(*f, at, program_probe::unit_directions(n), numbers(n, 0.0));
    for (Eigen::Index i = 0; i < all.tangents.rows(); ++i)
      for (Eigen::Index j = 0; j < all.tangents.cols(); ++j) {
        CHECK(all.tangents(i, j) == (i == j ? std::numeric_limits<double>::infinity() : 0));
        CHECK(all.hessian(i, j) == 0);
      }
  }
}

TEST_CASE("products and densities that are not used send no nan") {
  recorder r;
  const numbers at{0.0, 1.0, 2.0};
  const slots x = inputs(r, at);
  const slots logs = record<agrad::log_rule>(r, x);  // -inf first
  const slots unused = recording::product(r, logs, x, 1, 3, 1), other = recording::product(r, {x[1]}, {logs[0]}, 1, 1, 1);
  const slot tiny = r.constant(1e-200);
  const slot d = density(r, broadcast(r, x[1]), broadcast(r, x[2]), broadcast(r, tiny), 1);
  const auto f = schedule(r, {unused[0], other[0], d, record<agrad::multiply_rule>(r, {x[1]}, {x[2]})[0]});
  CHECK(count(f->code(), "product") == 2);
  const auto unit = program_probe::unit_directions(3);
  for (const auto& all : {along<1>(*f, at, unit, {0, 0, 0, 1}), along<lane_count>(*f, at, unit, {0, 0, 0, 1})}) {
    CHECK(all.gradient == numbers{0, 2, 1});
    for (Eigen::Index i = 0; i < 3; ++i)
      for (Eigen::Index j = 0; j < 3; ++j) CHECK(all.hessian(i, j) == (i + j == 3 ? 1 : 0));
    CHECK(all.tangents(1, 2) == 0);  // neither factor depends on x[2], though one is infinite
    CHECK(all.tangents(0, 2) == Approx(1 + std::log(2.0)).epsilon(1e-15));
  }
}

TEST_CASE("external operations with tangents have second derivatives, wherever their operands are") {
  recorder r;
  const numbers at = spread(16);
  const slots x = inputs(r, at);
  slots y;
  for (std::size_t i = 0; i < 5; ++i) {
    const slots two{record<agrad::sin_rule>(r, {x[3 * i + 1]})[0], x[3 * i]};
    const slot z = r.apply(std::make_shared<const with_tangents>(), r.dense(two.data(), 2), 2, false);
    y.push_back(record<agrad::multiply_rule>(r, {z}, {z + 1})[0]);
    y.push_back(z);
  }
  const auto f = schedule(r, y);
  CHECK(f->first_without_tangents() == nullptr);
  CHECK(count(f->code(), "external") == 5);
  CHECK(f->code().externals.size() == 5);
  const double a = std::sin(at[1]), b = at[0];
  CHECK(run(*f, at)[0] == Approx(a * b * a * a * b).epsilon(1e-15));
  CHECK(disagreement(*f, at) < 1e-8);
  CHECK(widths_agree(*f, at));
}

TEST_CASE("an operation that says that it has no tangents is not asked for them") {
  struct without final : with_tangents {
    bool has_tangents() const override { return false; }
  };
  recorder r;
  const numbers at = {0.7, -0.4};
  const slots x = inputs(r, at);
  const slot y = r.apply(std::make_shared<const without>(), r.dense(x.data(), 2), 2, false);
  const auto f = schedule(r, {y, y + 1});
  CHECK_THROWS_AS(widths_agree(*f, at), agrad::DerivativeError);
}

TEST_CASE("an operation with tangents alone has forward mode, and is not asked for second derivatives") {
  struct first_only final : with_tangents {
    bool has_tangents() const override { return false; }
    bool has_first_tangents() const override { return true; }
    std::string_view name() const override { return "first_only"; }
  };
  const auto recorded = [](const auto& operation, const numbers& at) {
    recorder r;
    const slots x = inputs(r, at);
    const slot y = r.apply(operation, r.dense(x.data(), 2), 2, false);
    return schedule(r, {record<agrad::multiply_rule>(r, {y}, {y + 1})[0], y});
  };
  const numbers at = {0.7, -0.4};
  const auto f = recorded(std::make_shared<const first_only>(), at),
             whole = recorded(std::make_shared<const with_tangents>(), at);
  CHECK(f->first_without_tangents(1) == nullptr);
  REQUIRE(f->first_without_tangents() != nullptr);
  CHECK(f->first_without_tangents()->name() == "first_only");
  agrad::workspace v, w;
  const double dx[2] = {0.3, 2.0}, l[2] = {1.0, -1.0};
  double y[2], dy[2], of_whole[2], gradient[2], products[2];
  f->forward(w, at.data(), y);
  f->tangent<1>(w, dx, dy);
  whole->forward(v, at.data(), y);
  whole->tangent<1>(v, dx, of_whole);
  for (int i = 0; i < 2; ++i) CHECK(dy[i] == of_whole[i]);
  CHECK_THROWS_WITH_AS(f->second<1>(w, l, gradient, products),
                       "first_only: has first derivatives only, but must have second derivatives here", agrad::DerivativeError);
}

}  // namespace test_program_reverse_passes
