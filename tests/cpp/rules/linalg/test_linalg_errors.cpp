// Errors of linear algebra are LinAlgErrors, also in the names of functions that factorise a matrix; errors of indices are not.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/families/multivariate/distributions.hpp>
#include <limits>

namespace test_linalg_errors {

using agrad::LinAlgError;
using Eigen::Matrix2d;
using Eigen::Vector2d;

TEST_CASE("matrices without a factorisation throw LinAlgError, which is a DomainError") {
  const Matrix2d singular = Matrix2d::Ones();
  const Matrix2d nan = Matrix2d::Constant(std::numeric_limits<double>::quiet_NaN());
  Matrix2d indefinite;
  indefinite << 1, 2, 2, 1;
  const Vector2d b(1, 1);
  CHECK_THROWS_AS(agrad::cholesky(indefinite), LinAlgError);
  CHECK_THROWS_AS(agrad::cholesky(indefinite), agrad::DomainError);
  CHECK_THROWS_AS(agrad::solve_spd(indefinite, b), LinAlgError);
  CHECK_THROWS_AS(agrad::inverse(singular), LinAlgError);
  CHECK_THROWS_AS(agrad::solve(singular, b), LinAlgError);
  CHECK_THROWS_AS(agrad::log_determinant(singular), LinAlgError);
  CHECK_THROWS_AS(agrad::symmetric_eigenvalues(nan), LinAlgError);
  CHECK_THROWS_AS(agrad::singular_values(nan), LinAlgError);
  CHECK_THROWS_WITH_AS(agrad::multi_normal_lpdf(b, b, indefinite), doctest::Contains("multi_normal_lpdf: Sigma"), LinAlgError);
}

TEST_CASE("other conditions throw a DomainError that is no LinAlgError") {
  bool is_of_linear_algebra = false, is_thrown = false;
  try {
    agrad::normal_lpdf(0.0, 0.0, -1.0);
  } catch (const agrad::DomainError& error) {
    is_thrown = true;
    is_of_linear_algebra = dynamic_cast<const LinAlgError*>(&error) != nullptr;
  }
  CHECK(is_thrown);
  CHECK(!is_of_linear_algebra);
}

}  // namespace test_linalg_errors
