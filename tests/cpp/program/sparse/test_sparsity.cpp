// Patterns of programs: known ones and every kind of operation, whose dense derivatives must be what the sparse ones are; every
// rule and random programs are in program/sparse/test_sparsity_rules.cpp.
#include <doctest/doctest.h>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/density.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/products.hpp>
#include <agrad/program/sparse/sparse.hpp>
#include <agrad/rules/density/densities.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "recording.hpp"
#include "sparsity_probe.hpp"

namespace test_sparsity {

using namespace sparsity_probe;

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

TEST_CASE("entries as a program of their own: constants are folded, and a reverse pass through it has second derivatives") {
  const auto f = recorded([](recorder& r, const slots& x) {
    slots y = recording::product(r, constants(r, {1, 2, 0, 4}), {x[0], x[1]}, 2, 2, 1);  // nothing to compute
    y.push_back(recording::product(r, {x[2], x[3]}, {x[3], x[4]}, 1, 2, 1)[0]);
    y.push_back(recording::sum(r, record<agrad::multiply_rule>(r, {x[4], x[5]}, {x[5], x[5]}))[0]);
    y.push_back(record<agrad::exp_rule>(r, {x[0]})[0]);
    return y;
  });
  const csr_pattern pattern = agrad::jacobian_pattern(*f);
  const auto entries = agrad::entries_program(*f, 0, 6, &pattern, 6);
  REQUIRE(entries != nullptr);
  CHECK(agrad::detail::work_of(*entries) <= 5);  // x3 + x4 and so on, 2 x5, exp
  workspace w;
  std::vector<double> values(pattern.size()), weights(pattern.size(), 0.0), adjoint(6);
  entries->forward(w, point.data(), values.data());
  CHECK(values[0] == 1);
  weights.back() = 2;  // the entry exp(x0)
  entries->reverse(w, weights.data(), adjoint.data());
  CHECK(adjoint[0] == doctest::Approx(2 * std::exp(point[0])).epsilon(1e-15));
}

TEST_CASE("no program of the entries where derivatives are made by loops, or where they would take too much") {
  const auto cumulative = recorded([](recorder& r, const slots& x) {
    const agrad::span all = r.dense(x.data(), 6);
    return range(r.apply(agrad::kernels::cumulative_sum, 6, &all, 1, {6, 1}), 6);
  });
  CHECK(agrad::entries_program(*cumulative, 0, 6, nullptr, 100) == nullptr);
  const auto deep = recorded([](recorder& r, const slots& x) {
    slots y = x;
    for (int i = 0; i < 40; ++i) {  // every entry on every other
      slots turned(y.begin() + 1, y.end());
      turned.push_back(y[0]);
      y = record<agrad::sin_rule>(r, record<agrad::multiply_rule>(r, y, turned));
    }
    return y;
  });
  CHECK(agrad::entries_program(*deep, 0, 6, nullptr, 1) == nullptr);
  CHECK(agrad::entries_program(*deep, 0, 6, nullptr, 100) != nullptr);
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
        r, agrad::kernel_of_rule<agrad::select_rule>(),
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
  CHECK(agrad::sparse_jacobian(*f).by_rows());  // one reverse pass is the gradient
  check_derivatives(*f, point);
}

TEST_CASE("what no kernel says is a function of everything") {
  recorder r;
  const auto x = range(r.input(point.data(), 3), 3);
  static const agrad::kernel silent = [] {
    agrad::kernel copy = agrad::kernels::product;
    copy.name = "silent";
    copy.depends = {};
    return copy;
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
  workspace tangents;
  std::vector<double> value(8), entries(j.pattern().size());
  j(*f, tangents, point.data(), value.data(), entries.data());
  const std::vector<double> expected{std::cos(point[0]), std::cos(point[1]), std::cos(point[2]),
                                     std::cos(point[3]), std::cos(point[4]), std::cos(point[5]),
                                     point[3],           point[2],           0,
                                     2 * point[3]};
  CHECK(entries == expected);
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

}  // namespace test_sparsity
