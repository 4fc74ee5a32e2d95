// Sparse derivatives against dense ones, for the tests of patterns.
#pragma once

#include <doctest/doctest.h>
#include <agrad/program/derive/entries_program.hpp>
#include <agrad/program/products.hpp>
#include <agrad/program/sparse/sparse.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "recording.hpp"

namespace sparsity_probe {

using agrad::csr_pattern;
using agrad::program;
using agrad::recorder;
using agrad::slot;
using agrad::workspace;
using recording::range;
using recording::record;
using recording::slots;

using rows = std::vector<std::vector<csr_pattern::index>>;
using shared = std::shared_ptr<const program>;

inline std::vector<double> unit_rows(std::size_t n, const std::vector<std::uint32_t>& required) {
  std::vector<double> unit(required.size() * n, 0.0);
  for (std::size_t i = 0; i < required.size(); ++i) unit[i * n + required[i]] = 1;
  return unit;
}

/// Column after column, by one tangent for each.
inline std::vector<double> dense_jacobian(const program& f, const std::vector<double>& x,
                                          const std::vector<std::uint32_t>& required) {
  workspace w;
  std::vector<double> y(f.output_size()), columns(required.size() * f.output_size());
  agrad::jacobian_products(f, w, x.data(), unit_rows(x.size(), required).data(), required.size(), y.data(), columns.data());
  return columns;
}

/// Of the outputs' combination: row after row, restricted to the wanted inputs.
inline std::vector<double> dense_hessian(const program& f, const std::vector<double>& x, const std::vector<double>& y_adjoint,
                                         const std::vector<std::uint32_t>& required) {
  workspace w;
  const std::size_t n = x.size();
  std::vector<double> y(f.output_size()), gradient(n), products(required.size() * n), result;
  agrad::hessian_products(f, w, x.data(), y_adjoint.data(), unit_rows(n, required).data(), required.size(), y.data(),
                          gradient.data(), products.data());
  for (std::size_t i = 0; i < required.size(); ++i)
    for (const auto j : required) result.push_back(products[i * n + j]);
  return result;
}

inline bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-13 * (1 + std::abs(a));
}

inline void check_jacobian(const program& f, const std::vector<double>& x, const std::vector<std::uint32_t>& required) {
  const agrad::sparse_jacobian j(f, required);
  const std::vector<double> dense = dense_jacobian(f, x, required);
  workspace tangents;
  workspace adjoints;
  std::vector<double> y(f.output_size()), expected_y(f.output_size()), entries(j.pattern().size(), 1e300);
  j(f, tangents, x.data(), y.data(), entries.data());
  f.forward(adjoints, x.data(), expected_y.data());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(same(y[i], expected_y[i]));
  REQUIRE(j.pattern().rows() == f.output_size());
  REQUIRE(j.pattern().cols == required.size());
  for (std::size_t i = 0; i < f.output_size(); ++i) {
    for (std::size_t k = 0; k < required.size(); ++k)
      if (!j.pattern().contains(i, k)) CHECK(dense[k * f.output_size() + i] == 0);
    for (std::size_t e = j.pattern().begin[i]; e < j.pattern().begin[i + 1]; ++e)
      CHECK(same(entries[e], dense[j.pattern().col[e] * f.output_size() + i]));
  }
}

/// Where the entries are a program of their own: on the pattern and all of them, and the reverse pass through it.
inline void check_entries_program(const program& f, const std::vector<double>& x, std::size_t most_runs = 20) {
  std::vector<std::uint32_t> all(x.size());
  std::iota(all.begin(), all.end(), 0U);
  const csr_pattern pattern = agrad::jacobian_pattern(f);
  const shared on_pattern = agrad::entries_program(f, 0, x.size(), &pattern, most_runs);
  const shared everywhere = agrad::entries_program(f, 0, x.size(), nullptr, most_runs);
  REQUIRE((on_pattern == nullptr) == (everywhere == nullptr));
  if (on_pattern == nullptr) return;
  const std::vector<double> dense = dense_jacobian(f, x, all);
  workspace w, v;
  std::vector<double> some(pattern.size()), every(x.size() * f.output_size());
  on_pattern->forward(w, x.data(), some.data());
  everywhere->forward(v, x.data(), every.data());
  for (std::size_t i = 0, e = 0; i < f.output_size(); ++i) {
    for (const auto j : pattern.row(i)) CHECK(same(some[e++], dense[j * f.output_size() + i]));
    for (std::size_t j = 0; j < x.size(); ++j) CHECK(same(every[i * x.size() + j], dense[j * f.output_size() + i]));
  }
}

inline void check_hessian(const program& f, const std::vector<double>& x, const std::vector<std::uint32_t>& required) {
  std::vector<double> y_adjoint(f.output_size());
  for (std::size_t i = 0; i < y_adjoint.size(); ++i) y_adjoint[i] = 1 + std::cos(static_cast<double>(i));
  const agrad::sparse_hessian h(f, required);
  const std::vector<double> dense = dense_hessian(f, x, y_adjoint, required);
  const std::size_t n = required.size();
  workspace tangents;
  workspace adjoints;
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
inline void check_derivatives(const program& f, const std::vector<double>& x) {
  std::vector<std::uint32_t> some;
  for (std::uint32_t j = 1; j < x.size(); j += 2) some.push_back(j);
  for (const auto& required : {agrad::all_inputs(f), some}) {
    check_jacobian(f, x, required);
    check_hessian(f, x, required);
  }
  check_entries_program(f, x);
}

const std::vector<double> point{0.7, -0.4, 1.3, 0.2, 2.0, 0.9};

/// A program of six inputs.
template <class Record>
shared recorded(const Record& body) {
  recorder r;
  const auto x = range(r.input(point.data(), point.size()), point.size());
  return agrad::schedule(r, body(r, x));
}

inline csr_pattern pattern_6(rows r) { return agrad::pattern_of_rows(6, std::move(r)); }

inline slots apply(recorder& r, const agrad::kernel& what, std::size_t count, const std::vector<slots>& x,
                   std::initializer_list<std::uint32_t> integers = {}) {
  std::vector<agrad::span> operands;
  for (const slots& each : x) operands.push_back(r.dense(each.data(), each.size()));
  return range(r.apply(what, count, operands.data(), operands.size(), integers), count);
}

inline slots constants(recorder& r, const std::vector<double>& values) {
  return range(r.constant(values.data(), values.size()), values.size());
}

}  // namespace sparsity_probe
