// Sparse factors against residuals: pivots that are kept, chosen again, beside the diagonal, and none for singular matrices.
#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <agrad/program/sparse/pattern.hpp>
#include <agrad/solve/algebra/sparse_lu.hpp>

namespace test_sparse_lu {

using agrad::csr_pattern;
using agrad::detail::sparse_lu;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A matrix on a pattern, with normal random entries; the diagonal's have another mean.
struct sample {
  std::shared_ptr<const csr_pattern> pattern;
  std::vector<double> values;

  MatrixXd dense() const {
    const auto n = static_cast<Eigen::Index>(pattern->rows());
    MatrixXd m = MatrixXd::Zero(n, n);
    for (std::size_t i = 0, k = 0; i < pattern->rows(); ++i)
      for (const auto j : pattern->row(i)) m(static_cast<Eigen::Index>(i), j) = values[k++];
    return m;
  }
  void draw(std::mt19937& random, double diagonal) {
    std::normal_distribution<double> normal;
    values.clear();
    for (std::size_t i = 0; i < pattern->rows(); ++i)
      for (const auto j : pattern->row(i)) values.push_back(normal(random) + (j == i ? diagonal : 0));
  }
};

std::shared_ptr<const csr_pattern> on_rows(std::vector<std::vector<csr_pattern::index>> rows) {
  return std::make_shared<csr_pattern>(agrad::pattern_of_rows(rows.size(), rows));
}

/// Neighbours on a square grid.
std::shared_ptr<const csr_pattern> grid(long side) {
  std::vector<std::vector<csr_pattern::index>> rows;
  for (long y = 0; y < side; ++y) {
    for (long x = 0; x < side; ++x) {
      auto& row = rows.emplace_back();
      for (const auto& [v, u] : {std::pair{y, x}, {y - 1, x}, {y + 1, x}, {y, x - 1}, {y, x + 1}})
        if (v >= 0 && u >= 0 && v < side && u < side) row.push_back(static_cast<csr_pattern::index>(v * side + u));
    }
  }
  return on_rows(rows);
}

/// The diagonal, and some entries anywhere.
std::shared_ptr<const csr_pattern> scattered(std::mt19937& random, std::size_t n, std::size_t others) {
  std::vector<std::vector<csr_pattern::index>> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i].push_back(static_cast<csr_pattern::index>(i));
  for (std::size_t k = 0; k < others; ++k) rows[random() % n].push_back(static_cast<csr_pattern::index>(random() % n));
  return on_rows(rows);
}

double error_of(sparse_lu& lu, const sample& a) {
  const MatrixXd m = a.dense();
  const VectorXd b = VectorXd::LinSpaced(m.rows(), -1, 1.5);
  VectorXd x = b, z = b;
  lu.solve(x.data());
  lu.solve_transposed(z.data());
  const auto error = [&](const MatrixXd& of, const VectorXd& y) {
    return (of * y - b).lpNorm<Eigen::Infinity>() /
           (1 + of.cwiseAbs().rowwise().sum().maxCoeff() * y.lpNorm<Eigen::Infinity>());
  };
  return std::max(error(m, x), error(m.transpose(), z));
}

TEST_CASE("sparse factors of one matrix after the other have small residuals") {
  std::mt19937 random(8);
  for (const double diagonal : {8.0, 1.0, 0.0}) {
    for (const auto& pattern : {grid(1), grid(2), grid(9), scattered(random, 40, 90), scattered(random, 40, 400)}) {
      sample a{pattern, {}};
      sparse_lu lu(pattern);
      for (int k = 0; k < 20; ++k) {
        a.draw(random, diagonal);
        CAPTURE(diagonal);
        CAPTURE(pattern->size());
        REQUIRE(lu.factorise(a.values.data()));
        CHECK(error_of(lu, a) < 1e-12);
      }
    }
  }
}

TEST_CASE("pivots lie beside a diagonal of zeros") {
  std::mt19937 random(3);
  const auto pattern = grid(10);
  sample a{pattern, {}};
  a.draw(random, 0);
  for (std::size_t i = 0, k = 0; i < pattern->rows(); ++i)
    for (const auto j : pattern->row(i)) {
      if (j == i) a.values[k] = 0;
      ++k;
    }
  sparse_lu lu(pattern);
  REQUIRE(lu.factorise(a.values.data()));
  CHECK(error_of(lu, a) < 1e-12);
  a.draw(random, 8);  // then a matrix for which pivots on the diagonal would do
  REQUIRE(lu.factorise(a.values.data()));
  CHECK(error_of(lu, a) < 1e-12);
}

TEST_CASE("pivots that become small are replaced") {
  const auto pattern = on_rows({{0, 1}, {0, 1}});
  sparse_lu lu(pattern);
  for (const double corner : {1.0, 1e-3, 1e-18, 0.0, 1e300}) {
    const sample a{pattern, {corner, 1, 1, 1 + 3 * corner / 2}};
    CAPTURE(corner);
    REQUIRE(lu.factorise(a.values.data()));
    CHECK(error_of(lu, a) < 1e-15);
  }
}

TEST_CASE("singular matrices and such with nan are refused, and the next one is factorised") {
  std::mt19937 random(5);
  const auto pattern = grid(4);
  sample a{pattern, {}};
  sparse_lu lu(pattern);
  for (int k = 0; k < 3; ++k) {
    a.draw(random, 3);
    const std::vector<double> regular = a.values;
    std::fill_n(a.values.begin() + static_cast<std::ptrdiff_t>(pattern->begin[5]), pattern->row_size(5), 0.0);
    CHECK_FALSE(lu.factorise(a.values.data()));
    a.values.assign(regular.size(), 0.0);
    CHECK_FALSE(lu.factorise(a.values.data()));
    a.values = regular;
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      std::vector<double> spoilt = regular;
      spoilt[pattern->begin[7]] = bad;
      CHECK_FALSE(lu.factorise(spoilt.data()));
    }
    REQUIRE(lu.factorise(regular.data()));
    CHECK(error_of(lu, a) < 1e-14);
  }
}

}  // namespace test_sparse_lu
