// Eigen's SelfAdjointEigenSolver on var and dual: eigenvalues and eigenvectors against finite differences.
#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>
#include <agrad/rules/lists/elementwise.hpp>

#include "eigen_numbers.hpp"

namespace test_eigen_eigenvalues {

using namespace eigen_numbers;

TEST_CASE("eigenvalues and eigenvectors of symmetric matrices") {
  const auto f = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    const matrix a = x + x.transpose();
    const Eigen::SelfAdjointEigenSolver<matrix> solver(a);
    const matrix vectors = solver.eigenvectors();
    const auto values = solver.eigenvalues().eval();
    // Squares, because the sign of an eigenvector is open.
    return T(values.cwiseProduct(numbers(4, 1, 0.5)).sum() +
             vectors.array().square().matrix().cwiseProduct(numbers(4, 4, 0.1)).sum());
  };
  CHECK(gradient_error(f, numbers(4, 4, 0.2)) < 1e-7);
}

}  // namespace test_eigen_eigenvalues
