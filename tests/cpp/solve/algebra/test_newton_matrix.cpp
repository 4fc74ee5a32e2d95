// Factors of Newton's matrices, dense, banded and sparse, against their residuals, and which of them is chosen.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <agrad/solve/algebra/newton_matrix.hpp>

namespace test_newton_matrix {

using agrad::chosen_algebra;
using agrad::csr_pattern;
using agrad::newton_matrix;
using agrad::ode_algebra_kind;

namespace {

std::mt19937 random_bits(5);
double random_number() { return std::uniform_real_distribution<double>(-1, 1)(random_bits); }

/// Entries outside of the diagonal share the rows; the diagonal is small, so that rows have to be exchanged.
Eigen::MatrixXd random_on(const csr_pattern& p) {
  const auto n = static_cast<Eigen::Index>(p.rows());
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(n, n);
  for (std::size_t i = 0; i < p.rows(); ++i)
    for (const auto j : p.row(i)) J(static_cast<Eigen::Index>(i), j) = random_number() * (i == j ? 1e-3 : 1);
  return J;
}

chosen_algebra algebra_of(ode_algebra_kind kind, const csr_pattern& p) {
  chosen_algebra how;
  how.kind = kind;
  how.states = p.rows();
  agrad::detail::set_pattern(how, agrad::detail::completed(p, nullptr));
  return how;
}

/// Largest differences of M x = b and M' x = b from Eigen's dense solutions.
double error_of(newton_matrix&& m, const Eigen::MatrixXd& J, double shift, double scale, const Eigen::MatrixXd& mass = {}) {
  const Eigen::Index n = J.rows();
  std::vector<double> entries;
  if (const auto& p = m.how().pattern) {
    for (std::size_t i = 0; i < p->rows(); ++i)
      for (const auto j : p->row(i)) entries.push_back(J(static_cast<Eigen::Index>(i), j));
  } else {
    entries.assign(J.data(), J.data() + J.size());
  }
  REQUIRE(entries.size() == m.entries());
  std::vector<double> kept(m.factor_size());
  const Eigen::MatrixXd M = shift * (mass.size() > 0 ? mass : Eigen::MatrixXd::Identity(n, n)) + scale * J;
  const Eigen::VectorXd b = Eigen::VectorXd::NullaryExpr(n, [](Eigen::Index) { return random_number(); });
  Eigen::VectorXd x = b, z = b;
  REQUIRE(m.factorise(shift, scale, entries.data(), kept.data()));
  m.solve(kept.data(), x.data());
  REQUIRE(m.prepare_transposed(shift, scale, kept.data()));
  m.solve_transposed(kept.data(), z.data());
  const Eigen::VectorXd residual = M * x - b, transposed_residual = M.transpose() * z - b;
  double most = residual.cwiseAbs().maxCoeff() / x.cwiseAbs().maxCoeff();
  most = std::max(most, transposed_residual.cwiseAbs().maxCoeff() / z.cwiseAbs().maxCoeff());
  REQUIRE(m.factorise(shift, scale, entries.data(), kept.data()));  // once more, with the pivots of before
  z = b;
  m.solve_transposed(kept.data(), z.data());
  return std::max(most, (M.transpose() * z - b).cwiseAbs().maxCoeff() / z.cwiseAbs().maxCoeff());
}

csr_pattern arrow(std::size_t n) {
  std::vector<std::vector<csr_pattern::index>> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    rows[i] = {0, static_cast<csr_pattern::index>(i)};
    rows[0].push_back(static_cast<csr_pattern::index>(i));
  }
  return agrad::pattern_of_rows(n, rows);
}

}  // namespace

TEST_CASE("band factors solve with the matrix and its transposed, with rows exchanged and in place") {
  const std::vector<std::array<long, 3>> bands{{1, 0, 0}, {2, 1, 0},  {2, 1, 1},  {7, 0, 3},    {7, 3, 0},
                                               {9, 2, 2}, {30, 1, 4}, {30, 7, 2}, {40, 39, 39}, {300, 2, 2}};
  for (const auto& band : bands) {
    const long n = band[0], lower = band[1], upper = band[2];
    CAPTURE(n);
    const csr_pattern p = agrad::detail::band_pattern(static_cast<std::size_t>(n), {lower, upper});
    CHECK(error_of(newton_matrix(algebra_of(ode_algebra_kind::banded, p)), random_on(p), 0.02, -1) < 1e-12);
    CHECK(error_of(newton_matrix(algebra_of(ode_algebra_kind::banded, p)), random_on(p), 3, 2) < 1e-12);
    CHECK(error_of(newton_matrix(algebra_of(ode_algebra_kind::banded, p)), random_on(p), 100, 1) < 1e-12);
  }
}

TEST_CASE("dense and sparse factors solve with the matrix and its transposed") {
  for (const std::size_t n : {1, 2, 3, 8, 24, 25, 60}) {
    CAPTURE(n);
    const csr_pattern shapes[] = {arrow(n), agrad::detail::band_pattern(n, {0, static_cast<long>(n) - 1}),
                                  agrad::detail::band_pattern(n, {0, 0})};
    for (const csr_pattern& p : shapes) {
      const Eigen::MatrixXd J = random_on(p);
      CHECK(error_of(newton_matrix(algebra_of(ode_algebra_kind::sparse, p)), J, 0.3, -1) < 1e-11);
      CHECK(error_of(newton_matrix(algebra_of(ode_algebra_kind::dense, p)), J, 0.3, -1) < 1e-11);
      chosen_algebra full;
      full.states = n;
      CHECK(error_of(newton_matrix(full), J, 0.3, -1) < 1e-11);
    }
  }
}

TEST_CASE("factors with a mass matrix, whose entries lie outside of the pattern of J as well") {
  for (const std::size_t n : {3, 8, 30}) {
    CAPTURE(n);
    const csr_pattern of_mass = agrad::detail::band_pattern(n, {2, 1});
    Eigen::MatrixXd mass = random_on(of_mass);
    mass.row(1).setZero();
    const agrad::mass_matrix m = agrad::mass_matrix_of(mass);
    const csr_pattern p = agrad::detail::band_pattern(n, {0, 1}), both = agrad::detail::completed(p, &m);
    CHECK(agrad::detail::completed(p, nullptr) == p);
    const Eigen::MatrixXd J = random_on(p);
    for (const ode_algebra_kind kind : {ode_algebra_kind::dense, ode_algebra_kind::banded, ode_algebra_kind::sparse})
      CHECK(error_of(newton_matrix(algebra_of(kind, both), &m), J, 0.3, -1, mass) < 1e-11);
    chosen_algebra full;
    full.states = n;
    CHECK(error_of(newton_matrix(full, &m), J, 0.3, -1, mass) < 1e-11);
  }
}

TEST_CASE("a singular matrix is told, and so is one that is not finite") {
  const csr_pattern p = agrad::detail::band_pattern(30, {1, 1});
  for (const ode_algebra_kind kind : {ode_algebra_kind::dense, ode_algebra_kind::banded, ode_algebra_kind::sparse}) {
    CAPTURE(static_cast<int>(kind));
    newton_matrix m(algebra_of(kind, p));
    std::vector<double> entries(m.entries(), 0.0), kept(m.factor_size());
    CHECK_FALSE(m.factorise(0, 1, entries.data(), kept.data()));
    CHECK_FALSE(m.factorise(0, 1, entries.data(), kept.data()));
    CHECK(m.factorise(1, 1, entries.data(), kept.data()));  // and it can be used again
    if (kind == ode_algebra_kind::dense) continue;
    entries[5] = std::nan("");
    std::vector<double> x(30, 1.0);
    if (m.factorise(1, 1, entries.data(), kept.data())) {
      m.solve(kept.data(), x.data());
      double sum = 0;
      for (const double each : x) sum += each;
      CHECK(std::isnan(sum));
    }
  }
}

TEST_CASE("what is chosen follows the pattern") {
  const auto chosen = [](std::size_t n, const csr_pattern& p) {
    chosen_algebra how = algebra_of(ode_algebra_kind::automatic, p);
    how.states = n;
    return agrad::detail::cheapest(how);
  };
  CHECK(chosen(1024, agrad::detail::band_pattern(1024, {2, 2})) == ode_algebra_kind::banded);
  CHECK(chosen(64, agrad::detail::band_pattern(64, {1, 1})) == ode_algebra_kind::banded);
  CHECK(chosen(64, agrad::detail::band_pattern(64, {1, 0})) == ode_algebra_kind::sparse);
  CHECK(chosen(1024, arrow(1024)) == ode_algebra_kind::sparse);
  CHECK(chosen(64, agrad::detail::band_pattern(64, {63, 63})) == ode_algebra_kind::dense);
  CHECK(chosen(10, arrow(10)) == ode_algebra_kind::sparse);
  CHECK(chosen(24, agrad::detail::band_pattern(24, {23, 0})) == ode_algebra_kind::dense);
}

}  // namespace test_newton_matrix
