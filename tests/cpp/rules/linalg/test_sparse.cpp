// Sparse matrices: constant ones times active ones, log determinants and solves on a fixed pattern, with every scalar.
#include <agrad/rules/linalg/sparse.hpp>
#include <agrad/rules/linalg/spd.hpp>

#include "linalg_probe.hpp"

namespace test_sparse {

using namespace linalg_probe;
using agrad::sparse_pattern;
using Sparse = Eigen::SparseMatrix<double>;

namespace {
/// The precision matrix of a lattice, with one long-range entry: its factor fills in.
Sparse lattice(Index n) {
  MatrixXd a = MatrixXd::Zero(n * n, n * n);
  for (Index k = 0; k < n * n; ++k) {
    a(k, k) = 4.5 + 0.3 * std::sin(static_cast<double>(k));
    if (k % n != 0) a(k, k - 1) = a(k - 1, k) = -1 - 0.05 * std::cos(static_cast<double>(k));
    if (k >= n) a(k, k - n) = a(k - n, k) = -0.8;
  }
  if (n > 1) a(n * n - 1, 0) = a(0, n * n - 1) = 0.4;
  return a.sparseView();
}
MatrixXd dense(const sparse_pattern& p, const VectorXd& v) {
  MatrixXd a = MatrixXd::Zero(p.size(), p.size());
  for (Index k = 0; k < p.values(); ++k) a(p.row(k), p.col(k)) = a(p.col(k), p.row(k)) = v[k];
  return a;
}
}  // namespace

TEST_CASE("a constant sparse matrix times an active one") {
  const Sparse s = (numbers(4, 6).array() > 0.3).select(numbers(4, 6), 0).matrix().sparseView();
  const auto f = [&](const auto& b) { return agrad::sparse_product(s, b); };
  const auto t = [&](const auto& b) { return agrad::sparse_product(s.transpose(), b); };
  CHECK(distance(f(numbers(6, 2)), MatrixXd(s) * numbers(6, 2)) < 1e-15);
  CHECK(distance(t(numbers(4, 2)), MatrixXd(s).transpose() * numbers(4, 2)) < 1e-15);
  check_derivatives(f, numbers(6, 2));
  check_derivatives(t, numbers(4, 3));
  check_derivatives(f, MatrixXd(6, 0));
  const agrad::scope own;
  const agrad::vector_of<var> x = VectorXd(numbers(6, 1)).cast<var>();
  const agrad::vector_of<var> y = agrad::sparse_product(s, x);  // a vector stays one
  var(y[1] * 1.0).grad();
  for (Index j = 0; j < 6; ++j) CHECK(x[j].adj() == s.coeff(1, j));
  CHECK_THROWS_WITH_AS(agrad::sparse_product(s, numbers(4, 1)),
                       "sparse_product: b is of shape (4, 1), but must be with 6 rows, because a is of shape (4, 6)",
                       agrad::ShapeError);
}

TEST_CASE("log determinant and solve on a pattern") {
  for (const Index n : {0, 1, 2, 3, 4}) {
    CAPTURE(n);
    const Sparse a = lattice(n);
    const sparse_pattern pattern(a);
    const VectorXd values = pattern.values_of(a);
    CHECK(dense(pattern, values) == MatrixXd(a));
    const auto log_det = [&](const auto& v) { return agrad::log_determinant_spd(pattern, v); };
    CHECK(log_det(values) == doctest::Approx(agrad::log_determinant_spd(MatrixXd(a))).epsilon(1e-13));
    check_derivatives(log_det, values);
    const MatrixXd b = numbers(n * n, 2, 0.4);
    CHECK(distance(MatrixXd(a) * agrad::solve_spd(pattern, values, b), b) < 1e-13);
    check_derivatives([&](const auto& v) { return agrad::solve_spd(pattern, v, b); }, values);
    check_derivatives([&](const auto& x) { return agrad::solve_spd(pattern, values, x); }, b);
  }
}

TEST_CASE("the gradient of a larger log determinant is the inverse on the pattern") {
  const Sparse a = lattice(12);
  const sparse_pattern pattern(a);
  const VectorXd values = pattern.values_of(a);
  const MatrixXd g = gradient([&](const auto& v) { return agrad::log_determinant_spd(pattern, v); }, values);
  const MatrixXd inverse = agrad::solve_spd(MatrixXd(a), MatrixXd(MatrixXd::Identity(144, 144)));
  for (Index v = 0; v < pattern.values(); ++v) {
    const double expected = inverse(pattern.row(v), pattern.col(v)) * (pattern.row(v) == pattern.col(v) ? 1 : 2);
    CHECK(std::abs(g(v) - expected) < 1e-14);
  }
}

TEST_CASE("patterns: values, outsiders, indefinite matrices") {
  const Sparse a = lattice(3);
  const sparse_pattern pattern(a);
  Sparse outside = a;
  outside.coeffRef(4, 2) = 1;
  CHECK_THROWS_WITH_AS(pattern.values_of(outside),
                       "values_of: a has an entry at (4, 2), but must be zero outside of the pattern", agrad::ShapeError);
  CHECK_THROWS_AS(pattern.values_of(lattice(2)), agrad::ShapeError);
  CHECK_THROWS_AS(agrad::log_determinant_spd(pattern, VectorXd(3)), agrad::ShapeError);
  CHECK_THROWS_AS(agrad::solve_spd(pattern, pattern.values_of(a), numbers(4, 1)), agrad::ShapeError);
  VectorXd values = pattern.values_of(a);
  for (Index v = 0; v < values.size(); ++v)
    if (pattern.row(v) == 5 && pattern.col(v) == 5) values[v] = -7;
  CHECK_THROWS_AS(agrad::log_determinant_spd(pattern, values), agrad::DomainError);
  values.setConstant(std::nan(""));
  CHECK_THROWS_AS(agrad::solve_spd(pattern, values, numbers(9, 1)), agrad::DomainError);
  CHECK_THROWS_AS(sparse_pattern(Sparse(2, 3)), agrad::ShapeError);
}

}  // namespace test_sparse
