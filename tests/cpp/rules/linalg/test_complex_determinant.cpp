// Determinants of complex matrices: values by Eigen, derivatives with every scalar, also of singular matrices.
#include <Eigen/LU>
#include <agrad/rules/spectra/complex_determinant.hpp>

#include "linalg_probe.hpp"

namespace test_linalg_complex_determinant {

using namespace linalg_probe;

const auto determinant = [](const auto& z) {
  return agrad::linalg::lower<std::decay_t<decltype(z)>>(
      agrad::linalg::apply(agrad::linalg::complex_determinant_rule{}, agrad::linalg::lift(z)));
};

TEST_CASE("complex determinant: values and derivatives") {
  for (const Index n : {1, 2, 4}) {
    CAPTURE(n);
    const MatrixXd z = numbers(n, 2 * n);
    const std::complex<double> expected = agrad::linalg::complex_of(z).determinant();
    CHECK(distance(determinant(z), Eigen::RowVector2d(expected.real(), expected.imag())) < 1e-14);
    check_derivatives(determinant, z);
  }
}

TEST_CASE("complex determinant: singular matrices, and products of pivots that overflow on the way") {
  MatrixXd z = numbers(3, 6);
  z.row(1) = 2 * z.row(0);
  CHECK(determinant(z).cwiseAbs().maxCoeff() < 1e-15);
  check_derivatives(determinant, z);
  CHECK(determinant(MatrixXd(MatrixXd::Zero(3, 6))).isZero(0));
  MatrixXd wide = MatrixXd::Zero(3, 6);
  wide(0, 0) = 1e200, wide(1, 4) = 1e200, wide(2, 2) = 1e-300;
  CHECK(distance(determinant(wide), Eigen::RowVector2d(0, 1e100)) < 1e-15);
  CHECK_THROWS_AS(determinant(MatrixXd(MatrixXd::Ones(2, 2))), agrad::ShapeError);
}

}  // namespace test_linalg_complex_determinant
