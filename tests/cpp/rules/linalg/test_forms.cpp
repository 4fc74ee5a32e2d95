// Quadratic forms, traces of products, Kronecker products and the matrix exponential, with every scalar.
#include <agrad/rules/linalg/exponential.hpp>
#include <agrad/rules/linalg/forms.hpp>

#include "linalg_probe.hpp"

namespace test_linalg_forms {

using namespace linalg_probe;

namespace {
/// The first columns of x as one factor, the others as the second one.
template <class T>
std::pair<Mat<T>, Mat<T>> halves(const Mat<T>& x, Index left) {
  return {x.leftCols(left), x.rightCols(x.cols() - left)};
}
/// exp(a) by its series in long double, after enough halvings for 30 terms.
MatrixXd series(const MatrixXd& a) {
  using M = Eigen::Matrix<long double, -1, -1>;
  M term = M::Identity(a.rows(), a.rows()), sum = term;
  const M x = a.cast<long double>() / 1024;
  for (int k = 1; k < 30; ++k) sum += term = (term * x / k).eval();
  for (int k = 0; k < 10; ++k) sum = (sum * sum).eval();
  return sum.cast<double>();
}
}  // namespace

TEST_CASE("forms of two active arguments") {
  const MatrixXd x = numbers(3, 5);
  check_derivatives([](const auto& v) { return agrad::quad_form(halves(v, 3).first, halves(v, 3).second); }, x);
  check_derivatives([](const auto& v) { return agrad::quad_form_symmetric(halves(v, 3).first, halves(v, 3).second); }, x);
  check_derivatives([](const auto& v) { return agrad::kronecker(halves(v, 3).first, halves(v, 3).second); }, x);
  const MatrixXd y = numbers(4, 4);
  const auto transposed_right = [](const auto& v) { return std::decay_t<decltype(v)>(halves(v, 2).second.transpose()); };
  check_derivatives([&](const auto& v) { return agrad::trace_of_product(halves(v, 2).first, transposed_right(v)); }, y);
  const MatrixXd a = numbers(3, 3), b = numbers(3, 2, 1);
  CHECK(distance(agrad::quad_form(a, b), b.transpose() * a * b) < 1e-15);
  const MatrixXd s = agrad::quad_form_symmetric(a, b);
  CHECK(s == s.transpose());
  CHECK(distance(s, b.transpose() * (a + a.transpose()) * b / 2) < 1e-15);
  CHECK(agrad::trace_of_product(a, MatrixXd(a * 2)) == doctest::Approx((a * a).trace() * 2).epsilon(1e-14));
  const double form = agrad::quad_form(a, VectorXd(b.col(0)));
  CHECK(form == doctest::Approx(b.col(0).dot(a * b.col(0))).epsilon(1e-14));
  const MatrixXd k = agrad::kronecker(b, a);
  CHECK(k.rows() == 9);
  CHECK(k.cols() == 6);
  CHECK(k(3 + 1, 3 + 2) == b(1, 1) * a(1, 2));
  CHECK(agrad::quad_form(MatrixXd(0, 0), MatrixXd(0, 2)).isZero(0));
  CHECK(agrad::kronecker(MatrixXd(0, 2), a).cols() == 6);
}

TEST_CASE("matrix_exp: values of every degree, derivatives") {
  const auto f = [](const auto& a) { return agrad::matrix_exp(a); };
  for (const double size : {1e-3, 0.05, 0.2, 0.4, 1.5, 20.0}) {
    CAPTURE(size);
    const MatrixXd a = size * numbers(4, 4) / 3;
    CHECK(distance(f(a), series(a)) < 1e-14 * (1 + size));
    check_derivatives(f, a, {1e-12, 1e-7, 1e-6, 1e-3});
  }
  MatrixXd generator(2, 2);
  generator << 0, -1.25, 1.25, 0;
  MatrixXd rotation(2, 2);
  rotation << std::cos(1.25), -std::sin(1.25), std::sin(1.25), std::cos(1.25);
  CHECK(distance(f(generator), rotation) < 1e-15);
  CHECK(f(MatrixXd(MatrixXd::Zero(3, 3))) == MatrixXd::Identity(3, 3));
  const MatrixXd one = MatrixXd::Constant(1, 1, 3.5);
  CHECK(f(one)(0, 0) == doctest::Approx(std::exp(3.5)).epsilon(1e-14));
  CHECK(f(MatrixXd(0, 0)).size() == 0);
  check_derivatives(f, MatrixXd(0, 0));
  check_first(f, numbers(20, 20));
  MatrixXd bad = one;
  bad(0, 0) = agrad::infinity;
  CHECK_FALSE(f(MatrixXd::Constant(2, 2, 1.5e308)).allFinite());  // the norm overflows
  CHECK_THROWS_WITH_AS(f(bad), "matrix_exp: a[0] is inf, but must be finite; entries are counted column after column",
                       agrad::DomainError);
  CHECK_THROWS_AS(f(numbers(2, 3)), agrad::ShapeError);
}

}  // namespace test_linalg_forms
