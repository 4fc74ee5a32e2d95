// Patterns of programs: known ones, every kind of operation, every elementwise rule, and random programs, whose dense
// derivatives must be what the sparse ones are.
#include <doctest/doctest.h>
#include <agrad/program/cumulative.hpp>
#include <agrad/program/density.hpp>
#include <agrad/program/extremum.hpp>
#include <agrad/program/log_sum_exp.hpp>
#include <agrad/program/lookup.hpp>
#include <agrad/program/products.hpp>
#include <agrad/program/reduction.hpp>
#include <agrad/program/sparse.hpp>
#include <agrad/rules/density/densities.hpp>
#include <agrad/rules/elementwise.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "recording.hpp"

using agrad::csr_pattern;
using agrad::lanes;
using agrad::program;
using agrad::recorder;
using agrad::slot;
using agrad::workspace;
using recording::range;
using recording::record;
using recording::slots;

namespace {

using rows = std::vector<std::vector<csr_pattern::index>>;
using shared = std::shared_ptr<const program>;

std::vector<double> unit_rows(std::size_t n, const std::vector<std::uint32_t>& wanted) {
  std::vector<double> unit(wanted.size() * n, 0.0);
  for (std::size_t i = 0; i < wanted.size(); ++i) unit[i * n + wanted[i]] = 1;
  return unit;
}

/// Column after column, by one tangent for each.
std::vector<double> dense_jacobian(const program& f, const std::vector<double>& x, const std::vector<std::uint32_t>& wanted) {
  workspace<lanes> w;
  std::vector<double> y(f.output_size()), columns(wanted.size() * f.output_size());
  agrad::jacobian_products(f, w, x.data(), unit_rows(x.size(), wanted).data(), wanted.size(), y.data(), columns.data());
  return columns;
}

/// Of the outputs' combination: row after row, restricted to the wanted inputs.
std::vector<double> dense_hessian(const program& f, const std::vector<double>& x, const std::vector<double>& y_adjoint,
                                  const std::vector<std::uint32_t>& wanted) {
  workspace<lanes> w;
  const std::size_t n = x.size();
  std::vector<double> y(f.output_size()), gradient(n), products(wanted.size() * n), result;
  agrad::hessian_products(f, w, x.data(), y_adjoint.data(), unit_rows(n, wanted).data(), wanted.size(), y.data(),
                          gradient.data(), products.data());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (const auto j : wanted) result.push_back(products[i * n + j]);
  return result;
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-13 * (1 + std::abs(a));
}

void check_jacobian(const program& f, const std::vector<double>& x, const std::vector<std::uint32_t>& wanted) {
  const agrad::sparse_jacobian j(f, wanted);
  const std::vector<double> dense = dense_jacobian(f, x, wanted);
  workspace<lanes> tangents;
  workspace<double> adjoints;
  std::vector<double> y(f.output_size()), expected_y(f.output_size()), entries(j.pattern().size(), 1e300);
  j(f, tangents, adjoints, x.data(), y.data(), entries.data());
  f.forward(adjoints, x.data(), expected_y.data());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(same(y[i], expected_y[i]));
  REQUIRE(j.pattern().rows() == f.output_size());
  REQUIRE(j.pattern().cols == wanted.size());
  for (std::size_t i = 0; i < f.output_size(); ++i) {
    for (std::size_t k = 0; k < wanted.size(); ++k)
      if (!j.pattern().contains(i, k)) CHECK(dense[k * f.output_size() + i] == 0);
    for (std::size_t e = j.pattern().begin[i]; e < j.pattern().begin[i + 1]; ++e)
      CHECK(same(entries[e], dense[j.pattern().col[e] * f.output_size() + i]));
  }
}

void check_hessian(const program& f, const std::vector<double>& x, const std::vector<std::uint32_t>& wanted) {
  std::vector<double> y_adjoint(f.output_size());
  for (std::size_t i = 0; i < y_adjoint.size(); ++i) y_adjoint[i] = 1 + std::cos(static_cast<double>(i));
  const agrad::sparse_hessian h(f, wanted);
  const std::vector<double> dense = dense_hessian(f, x, y_adjoint, wanted);
  const std::size_t n = wanted.size();
  workspace<lanes> tangents;
  workspace<double> adjoints;
  std::vector<double> y(f.output_size()), gradient(x.size()), expected_gradient(x.size());
  std::vector<double> entries(h.pattern().size(), 1e300);
  h(f, tangents, x.data(), y_adjoint.data(), y.data(), gradient.data(), entries.data());
  f.forward(adjoints, x.data(), y.data());
  f.reverse(adjoints, y_adjoint.data(), expected_gradient.data());
  for (std::size_t j = 0; j < x.size(); ++j) CHECK(same(gradient[j], expected_gradient[j]));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k)
      if (!h.pattern().contains(i, k)) CHECK(dense[i * n + k] == 0);
    for (std::size_t e = h.pattern().begin[i]; e < h.pattern().begin[i + 1]; ++e)
      CHECK(same(entries[e], dense[i * n + h.pattern().col[e]]));
  }
}

/// Sparse derivatives with respect to all inputs, and to every second one, against dense ones.
void check_derivatives(const program& f, const std::vector<double>& x) {
  std::vector<std::uint32_t> some;
  for (std::uint32_t j = 1; j < x.size(); j += 2) some.push_back(j);
  for (const auto& wanted : {agrad::all_inputs(f), some}) {
    check_jacobian(f, x, wanted);
    check_hessian(f, x, wanted);
  }
}

const std::vector<double> point{0.7, -0.4, 1.3, 0.2, 2.0, 0.9};

/// A program of six inputs.
template <class Record>
shared recorded(const Record& body) {
  recorder r;
  const auto x = range(r.input(point.data(), point.size()), point.size());
  return agrad::schedule(r, body(r, x));
}

csr_pattern pattern_6(rows r) { return agrad::pattern_of_rows(6, std::move(r)); }

slots apply(recorder& r, const agrad::kernel& what, std::size_t count, const std::vector<slots>& x,
            std::initializer_list<std::uint32_t> integers = {}) {
  std::vector<agrad::span> operands;
  for (const slots& each : x) operands.push_back(r.dense(each.data(), each.size()));
  return range(r.apply(what, count, operands.data(), operands.size(), integers), count);
}

slots constants(recorder& r, const std::vector<double>& values) {
  return range(r.constant(values.data(), values.size()), values.size());
}

}  // namespace

TEST_CASE("elementwise operations keep entries apart; sums, gathers and scalars bring them together") {
  const auto f = recorded([](recorder& r, const slots& x) {
    slots y = record<agrad::multiply_rule>(r, {x[0], x[1]}, {x[1], x[2]});
    y.push_back(recording::sum(r, {x[5], x[2], x[3]})[0]);
    y.push_back(record<agrad::sin_rule>(r, {x[4]})[0]);
    y.push_back(r.constant(3.0));
    return y;
  });
  CHECK(agrad::jacobian_pattern(*f) == pattern_6({{0, 1}, {1, 2}, {2, 3, 5}, {4}, {}}));
  CHECK(agrad::hessian_pattern(*f) == pattern_6({{1}, {0, 2}, {1}, {}, {4}, {}}));
  check_derivatives(*f, point);
}

TEST_CASE("products have cross terms only, quotients are linear above, squares are not") {
  const auto f = recorded([](recorder& r, const slots& x) {
    const slots quotient = record<agrad::divide_rule>(r, {x[0]}, {x[1]});
    const slots square = record<agrad::multiply_rule>(r, {x[2]}, {x[2]});
    const slots chain = record<agrad::multiply_rule>(r, record<agrad::add_rule>(r, {x[3]}, {x[4]}), {x[5]});
    return slots{quotient[0], square[0], chain[0]};
  });
  CHECK(agrad::hessian_pattern(*f) == pattern_6({{1}, {0, 1}, {2}, {5}, {5}, {3, 4}}));
  check_derivatives(*f, point);
}

TEST_CASE("what no derivative passes through, and constant zeros, leave no trace") {
  const auto f = recorded([](recorder& r, const slots& x) {
    const slots chosen = recording::record_elementwise(
        r, agrad::elementwise_kernel<agrad::select_rule>,
        {record<agrad::less_rule>(r, record<agrad::multiply_rule>(r, {x[0]}, {x[1]}), {x[2]}), {x[3]}, {x[4]}});
    const slots masked = record<agrad::multiply_rule>(r, constants(r, {1, 0, 2, 0, 0, 0}), record<agrad::exp_rule>(r, x));
    slots y = masked;
    y.push_back(chosen[0]);
    y.push_back(record<agrad::floor_rule>(r, {x[5]})[0]);
    return y;
  });
  CHECK(agrad::jacobian_pattern(*f) == pattern_6({{0}, {}, {2}, {}, {}, {}, {3, 4}, {}}));
  CHECK(agrad::jacobian_pattern(*f, {2, 3}) == agrad::pattern_of_rows(2, {{}, {}, {0}, {}, {}, {}, {1}, {}}));
  check_derivatives(*f, point);
}

TEST_CASE("chained Rosenbrock: the Hessian is tridiagonal and takes three colours") {
  constexpr std::size_t n = 50;
  recorder r;
  std::vector<double> start(n);
  for (std::size_t i = 0; i < n; ++i) start[i] = std::sin(static_cast<double>(i));
  const auto x = range(r.input(start.data(), n), n);
  const slots front(x.begin(), x.end() - 1), back(x.begin() + 1, x.end());
  const slots gap = record<agrad::subtract_rule>(r, back, record<agrad::square_rule>(r, front));
  const slots off = record<agrad::subtract_rule>(r, {r.constant(1.0)}, front);
  const slots terms =
      record<agrad::add_rule>(r, record<agrad::multiply_rule>(r, {r.constant(100.0)}, record<agrad::square_rule>(r, gap)),
                              record<agrad::square_rule>(r, off));
  const auto f = agrad::schedule(r, recording::sum(r, terms));
  const agrad::sparse_hessian h(*f);
  CHECK(h.pattern().size() == 3 * n - 2);
  CHECK(h.colours().count == 3);
  check_derivatives(*f, start);
}

TEST_CASE("matrix products: rows and columns, zeros of a constant factor, and meetings of two") {
  const auto f = recorded([](recorder& r, const slots& x) {
    const slots both = recording::product(r, {x[0], x[1], x[2], x[3]}, {x[4], x[5]}, 2, 2, 1);
    const slots a = constants(r, {1, 0, 0, 0, 2, 3});
    const slots banded = recording::product(r, a, {x[0], x[1], x[2]}, 2, 3, 1);
    const slots mixed = recording::product(r, {x[0], r.constant(0.0), r.constant(0.0), x[1]}, {x[4], x[5]}, 2, 2, 1);
    slots y = both;
    y.insert(y.end(), banded.begin(), banded.end());
    y.insert(y.end(), mixed.begin(), mixed.end());
    return y;
  });
  CHECK(agrad::jacobian_pattern(*f) == pattern_6({{0, 1, 4, 5}, {2, 3, 4, 5}, {0}, {1, 2}, {0, 4}, {1, 5}}));
  CHECK(agrad::hessian_pattern(*f) == pattern_6({{4}, {5}, {4}, {5}, {0, 2}, {1, 3}}));
  check_derivatives(*f, point);
}

TEST_CASE("lines: sums are linear, products and logarithms of sums are not, prefixes, order") {
  namespace kernels = agrad::kernels;
  // Two rows of three, along the last axis and along the first.
  const auto f = recorded([](recorder& r, const slots& x) { return apply(r, kernels::sum_along, 3, {x}, {2, 3}); });
  CHECK(agrad::jacobian_pattern(*f) == pattern_6({{0, 3}, {1, 4}, {2, 5}}));
  CHECK(agrad::hessian_pattern(*f).size() == 0);
  check_derivatives(*f, point);

  for (const agrad::kernel* what : {&kernels::product_along, &kernels::log_sum_exp_along}) {
    const auto g = recorded([&](recorder& r, const slots& x) { return apply(r, *what, 2, {x}, {3, 1}); });
    const csr_pattern blocks = pattern_6({{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {3, 4, 5}, {3, 4, 5}, {3, 4, 5}});
    CHECK(agrad::jacobian_pattern(*g) == pattern_6({{0, 1, 2}, {3, 4, 5}}));
    CHECK(agrad::hessian_pattern(*g) == blocks);
    check_derivatives(*g, point);
  }

  const auto cumulative = recorded([](recorder& r, const slots& x) {
    slots y = apply(r, kernels::cumulative_sum, 6, {x}, {3, 1});
    const slots product = apply(r, kernels::cumulative_product, 6, {x}, {3, 2});
    y.insert(y.end(), product.begin(), product.end());
    return y;
  });
  CHECK(agrad::jacobian_pattern(*cumulative) ==
        pattern_6({{0}, {0, 1}, {0, 1, 2}, {3}, {3, 4}, {3, 4, 5}, {0}, {1}, {0, 2}, {1, 3}, {0, 2, 4}, {1, 3, 5}}));
  check_derivatives(*cumulative, point);

  const auto order = recorded([](recorder& r, const slots& x) {
    slots y = apply(r, kernels::sort_along, 12, {x}, {3, 1});
    const slots largest = apply(r, kernels::max_along, 2, {x}, {3, 1}), where = apply(r, kernels::argmax_along, 2, {x}, {3, 1});
    y.insert(y.end(), largest.begin(), largest.end());
    y.insert(y.end(), where.begin(), where.end());
    return y;
  });
  CHECK(agrad::hessian_pattern(*order).size() == 0);
  CHECK(agrad::jacobian_pattern(*order).size() == 6 * 3 + 2 * 3);
  check_derivatives(*order, point);
}

TEST_CASE("lookups: places known at recording, tables that are constant or not") {
  namespace kernels = agrad::kernels;
  const auto scattered = recorded([](recorder& r, const slots& x) {
    return apply(r, kernels::scatter_add, 3, {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}, constants(r, {2, 0, 2})});
  });
  CHECK(agrad::jacobian_pattern(*scattered) == pattern_6({{0, 4}, {1}, {2, 3, 5}}));
  check_derivatives(*scattered, point);

  const auto fixed = recorded([](recorder& r, const slots& x) {
    return apply(r, kernels::interpolation, 6, {x, constants(r, {-1, 0, 3}), constants(r, {2, 5, 1})});
  });
  CHECK(agrad::jacobian_pattern(*fixed) == pattern_6({{0}, {1}, {2}, {3}, {4}, {5}}));
  CHECK(agrad::hessian_pattern(*fixed).size() == 0);
  check_derivatives(*fixed, point);

  const auto fitted = recorded([](recorder& r, const slots& x) {
    return apply(r, kernels::interpolation, 3, {{x[0], x[1], x[2]}, constants(r, {-1, 0, 3}), {x[3], x[4], x[5]}});
  });
  CHECK(agrad::jacobian_pattern(*fitted).size() == 3 * 4);
  check_derivatives(*fitted, point);
}

TEST_CASE("densities: parameters of one term meet, those of different terms do not") {
  const auto f = recorded([](recorder& r, const slots& x) {
    const agrad::span operands[] = {{constants(r, {1, 2, 3, 4, 5})[0], 5, 1, false}, {x[0], 5, 1, true}, {x[5], 1, 0, true}};
    const slots scale = record<agrad::exp_rule>(r, {x[5]});
    agrad::span spans[] = {operands[0], operands[1], {scale[0], 1, 0, true}};
    return range(r.apply(agrad::density_kernel<agrad::normal_lpdf_rule>, 1, spans, 3, {5, 0}), 1);
  });
  const csr_pattern arrow = pattern_6({{0, 5}, {1, 5}, {2, 5}, {3, 5}, {4, 5}, {0, 1, 2, 3, 4, 5}});
  CHECK(agrad::hessian_pattern(*f) == arrow);
  CHECK(agrad::sparse_hessian(*f).colours().count == 2);
  CHECK(agrad::sparse_jacobian(*f).by_rows());  // one sweep back is the gradient
  check_derivatives(*f, point);
}

TEST_CASE("what no kernel says is a function of everything") {
  recorder r;
  const auto x = range(r.input(point.data(), 3), 3);
  static const agrad::kernel silent = [] {
    agrad::kernel product = agrad::kernels::product;
    product.depends = {};
    return product;
  }();
  const auto f = agrad::schedule(r, apply(r, silent, 2, {{x[0], x[1]}, {x[2]}}, {2, 1, 1}));
  CHECK(agrad::jacobian_pattern(*f).size() == 6);
  CHECK(agrad::hessian_pattern(*f).size() == 9);
  check_derivatives(*f, {1, 2, 3});
}

namespace {
/// y = (x0 x1, x1^2), which no tangent passes through.
struct outside final : agrad::external_operation {
  struct kept final : state {
    double x[2] = {};
  };
  std::string_view name() const override { return "outside"; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<kept>(); }
  void forward(state& s, const double* x, double* y, bool) const override {
    std::copy(x, x + 2, static_cast<kept&>(s).x);
    y[0] = x[0] * x[1];
    y[1] = x[1] * x[1];
  }
  void reverse(state& s, const double* y_adjoint, double* x_adjoint) const override {
    const double* x = static_cast<kept&>(s).x;
    x_adjoint[0] += x[1] * y_adjoint[0];
    x_adjoint[1] += x[0] * y_adjoint[0] + 2 * x[1] * y_adjoint[1];
  }
};
}  // namespace

TEST_CASE("external operations are functions of everything, and go by adjoints") {
  recorder r;
  const auto x = range(r.input(point.data(), 6), 6);
  slots y = record<agrad::sin_rule>(r, x);
  const slot made = r.apply(std::make_shared<outside>(), r.consecutive(x[2], 2), 2, false);
  y.push_back(made);
  y.push_back(made + 1);
  const auto f = agrad::schedule(r, y);
  const agrad::sparse_jacobian j(*f);
  CHECK(j.by_rows());
  CHECK(j.colours().count == 3);
  workspace<lanes> tangents;
  workspace<double> adjoints;
  std::vector<double> value(8), entries(j.pattern().size());
  j(*f, tangents, adjoints, point.data(), value.data(), entries.data());
  const std::vector<double> expected{std::cos(point[0]), std::cos(point[1]), std::cos(point[2]),
                                     std::cos(point[3]), std::cos(point[4]), std::cos(point[5]),
                                     point[3],           point[2],           0,
                                     2 * point[3]};
  CHECK(entries == expected);
}

TEST_CASE("matrices that are large and full are refused before they are made") {
  constexpr std::size_t n = 100000;
  recorder r;
  const std::vector<double> start(n, 1.0);
  const auto x = range(r.input(start.data(), n), n);
  const slots total = record<agrad::sin_rule>(r, recording::sum(r, x));
  CHECK_THROWS_WITH_AS(
      agrad::hessian_pattern(*agrad::schedule(r, total)),
      "sparse pattern: number of entries is at least 10000000000, but must be at most 268435456; the matrix is "
      "not sparse, multiply with it instead of making it",
      std::length_error);
  CHECK_THROWS_AS(agrad::jacobian_pattern(*agrad::schedule(r, record<agrad::multiply_rule>(r, x, total))), std::length_error);
}

TEST_CASE("degenerate programs") {
  recorder r;
  const auto x = range(r.input(point.data(), 2), 2);
  const auto none = agrad::schedule(r, {});
  CHECK(agrad::jacobian_pattern(*none) == agrad::pattern_of_rows(2, {}));
  CHECK(agrad::hessian_pattern(*none) == agrad::pattern_of_rows(2, {{}, {}}));
  check_derivatives(*none, {1, 2});
  const auto constant = agrad::schedule(r, {r.constant(3.0), 0});
  check_derivatives(*constant, {1, 2});
  const auto identity = agrad::schedule(r, {x[1], x[0], x[1]});
  CHECK(agrad::jacobian_pattern(*identity) == agrad::pattern_of_rows(2, {{1}, {0}, {1}}));
  check_derivatives(*identity, {1, 2});
  recorder without;
  const auto empty = agrad::schedule(without, {without.constant(2.0)});
  check_derivatives(*empty, {});
}

// ---- rules ---------------------------------------------------------------------------------------------------------------

namespace {

template <class Rule>
void check_curvature(double scale) {
  constexpr auto arity = static_cast<std::size_t>(Rule::arity);
  recorder r;
  std::vector<double> x(arity);
  for (std::size_t k = 0; k < arity; ++k) {
    const agrad::interval& in = Rule::domain[k];
    x[k] = in.whole ? std::ceil(scale) : scale + 0.21 * static_cast<double>(k);
    if (x[k] < in.lower) x[k] += in.lower;
    if (x[k] > in.upper) x[k] = in.upper - 0.1 / scale;
  }
  const auto in = range(r.input(x.data(), arity), arity);
  std::vector<slots> operands;
  for (const slot s : in) operands.push_back({s});
  const auto f = agrad::schedule(r, recording::record_elementwise(r, agrad::elementwise_kernel<Rule>, operands));
  check_derivatives(*f, x);
}

}  // namespace

TEST_CASE("no rule has a second derivative that its dependence denies") {
  agrad::for_each(agrad::rules::elementwise{}, [](auto tag) {
    using Rule = typename decltype(tag)::type;
    CAPTURE(Rule::name);
    for (const double scale : {-1.3, 0.3, 0.9, 1.7, 4.0}) check_curvature<Rule>(scale);
  });
}

TEST_CASE("what rules say of their arguments") {
  using agrad::dependence;
  const auto of = [](auto tag) { return agrad::dependence_of_rule<typename decltype(tag)::type, lanes>(); };
  CHECK(of(agrad::type_tag<agrad::add_rule>{}).is_linear);
  CHECK(of(agrad::type_tag<agrad::abs_rule>{}).is_linear);
  CHECK(of(agrad::type_tag<agrad::maximum_rule>{}).is_linear);
  CHECK(of(agrad::type_tag<agrad::less_rule>{}).how == dependence::on_nothing);
  CHECK_FALSE(of(agrad::type_tag<agrad::exp_rule>{}).is_linear);
  const dependence multiply = of(agrad::type_tag<agrad::multiply_rule>{});
  CHECK(multiply.curved[0] == 0b10);
  CHECK(multiply.curved[1] == 0b01);
  CHECK(multiply.zero_with == 0b11);
  const dependence divide = of(agrad::type_tag<agrad::divide_rule>{});
  CHECK(divide.curved[0] == 0b10);
  CHECK(divide.curved[1] == 0b11);
  CHECK(divide.zero_with == 0b01);
  const dependence fma = of(agrad::type_tag<agrad::fma_rule>{});
  CHECK(fma.curved[2] == 0);
  CHECK((fma.curved[0] & 0b110) == 0b010);
}

// ---- random programs -----------------------------------------------------------------------------------------------------

TEST_CASE("random programs have the derivatives that dense products have") {
  std::mt19937 generator(20080117);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(generator() % n); };
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    recorder r;
    const std::size_t n = 3 + pick(10);
    std::vector<double> start(n);
    for (double& x : start) x = 0.5 + static_cast<double>(pick(1000)) / 1000;
    slots values = range(r.input(start.data(), n), n);
    values.push_back(r.constant(0.0));
    values.push_back(r.constant(1.5));
    for (std::size_t steps = 3 + pick(12); steps > 0; --steps) {
      slots x, y;
      for (std::size_t i = 0, size = 2 + 2 * pick(3); i < size; ++i) {
        x.push_back(values[pick(values.size())]);
        y.push_back(values[pick(values.size())]);
      }
      const auto half = static_cast<std::uint32_t>(x.size() / 2);
      const slots made = [&]() -> slots {
        switch (pick(10)) {
          case 0:
            return record<agrad::sin_rule>(r, x);
          case 1:
            return record<agrad::add_rule>(r, x, y);
          case 2:
            return record<agrad::multiply_rule>(r, x, y);
          case 3:
            return record<agrad::divide_rule>(r, x,
                                              record<agrad::add_rule>(r, record<agrad::square_rule>(r, y), {r.constant(1.0)}));
          case 4:
            return record<agrad::maximum_rule>(r, x, y);
          case 5:
            return recording::sum(r, x, 2);
          case 6:
            return recording::product(r, x, y, 2, half, 2);
          case 7:
            return apply(r, agrad::kernels::cumulative_sum, x.size(), {x}, {half, 2});
          case 8:
            return record<agrad::tanh_rule>(r, {y[0]});
          default:
            return record<agrad::multiply_rule>(r, {y[0]}, x);
        }
      }();
      values.insert(values.end(), made.begin(), made.end());
    }
    slots outputs;
    for (std::size_t i = 0; i < 4 + pick(8); ++i) outputs.push_back(values[values.size() - 1 - pick(values.size())]);
    const auto f = agrad::schedule(r, outputs);
    check_derivatives(*f, start);
    for (double& x : start) x += 0.1;
    check_derivatives(*f, start);
  }
}
