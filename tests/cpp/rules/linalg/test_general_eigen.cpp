// Eigenvalues and eigenvectors of general matrices: NumPy's conditions, closed forms, derivatives, and where there are none.
#include <agrad/rules/lists/stan_names.hpp>
#include <complex>

#include "linalg_probe.hpp"
#include "message_of.hpp"

namespace test_linalg_general_eigen {

using namespace linalg_probe;
using Eigen::MatrixXcd;
using messages::message_of;

namespace {
template <class X>
MatrixXcd joined(const agrad::complex_parts<X>& z) {
  MatrixXcd y(z.real.rows(), z.real.cols());
  y.real() = z.real;
  y.imag() = z.imag;
  return y;
}
/// Real parts, imaginary parts of vectors and values, in one matrix.
template <class T>
Mat<T> all_parts(const agrad::eigendecompose_result<Mat<T>, Eigen::Matrix<T, -1, 1>>& y) {
  Mat<T> result = y.vectors.real - 2.0 * y.vectors.imag;
  result.row(0) += y.values.real.transpose();
  result.row(result.rows() - 1) += 0.7 * y.values.imag.transpose();
  return result;
}
/// The phase is fixed, so that all entries have derivatives.
const auto of_real = [](const auto& a) { return all_parts(agrad::eigendecompose(a)); };
const auto of_complex = [](const auto& a) {
  using T = typename std::decay_t<decltype(a)>::Scalar;
  const Index n = a.rows();
  const Mat<T> re = a.leftCols(n), im = a.rightCols(n);
  return all_parts(agrad::eigendecompose(agrad::to_complex(re, im)));
};
const auto values_alone = [](const auto& a) {
  using T = typename std::decay_t<decltype(a)>::Scalar;
  const auto w = agrad::eigenvalues(a);
  return Mat<T>(w.real.cwiseProduct(w.real) + 0.3 * w.imag);
};
MatrixXd rotation(double a, double b) {
  MatrixXd x(2, 2);
  x << a, -b, b, a;
  return x;
}
MatrixXd jordan(double corner) {
  MatrixXd x(2, 2);
  x << 1, 1, corner, 1;
  return x;
}
}  // namespace

TEST_CASE("general eigenvalues: derivatives of all entries") {
  check_derivatives(of_real, numbers(3, 3, 0.7));
  check_derivatives(of_real, numbers(4, 4, 0.2));
  check_derivatives(of_real, MatrixXd(MatrixXd::Constant(1, 1, 1.7)));
  check_derivatives(of_complex, numbers(3, 6, 0.4));
  check_derivatives(values_alone, numbers(4, 4, 0.2));
}

TEST_CASE("general eigenvalues: values, vectors, and their norm and phase") {
  for (const Index n : {1, 2, 3, 6}) {
    const MatrixXd a = numbers(n, n, 0.9), b = numbers(n, n, 1.9);
    const auto y = agrad::eigendecompose(a);
    const MatrixXcd v = joined(y.vectors), w = joined(y.values);
    CHECK((a * v - v * w.col(0).asDiagonal()).norm() < 2e-14);
    CHECK(joined(agrad::eigenvalues(a)) == w);
    CHECK(joined(agrad::eigenvectors(a)) == v);
    for (Index j = 0; j < n; ++j) {
      Index k = 0;
      v.col(j).cwiseAbs().maxCoeff(&k);
      CHECK(std::abs(v.col(j).norm() - 1) < 1e-15);
      CHECK(v(k, j).imag() == 0);
      CHECK(v(k, j).real() > 0);
    }
    const MatrixXcd c = joined(agrad::to_complex(a, b));
    const auto z = agrad::eigendecompose(agrad::to_complex(a, b));
    CHECK((c * joined(z.vectors) - joined(z.vectors) * joined(z.values).col(0).asDiagonal()).norm() < 2e-14);
  }
  CHECK(agrad::eigenvalues(MatrixXd(0, 0)).real.size() == 0);
  CHECK(agrad::eigenvectors(MatrixXd(0, 0)).imag.size() == 0);
}

TEST_CASE("general eigenvalues: closed forms") {
  const agrad::scope own;
  const double scales[] = {1, 1e-300, 1e300};
  for (const double scale : scales) {  // a +- b i
    const Mat<var> x = MatrixXd(scale * rotation(0.7, 0.4)).cast<var>();
    const auto w = agrad::eigenvalues(x);
    CHECK(std::abs(w.real[0].val() / scale - 0.7) < 1e-15);
    CHECK(std::abs(std::abs(w.imag[0].val()) / scale - 0.4) < 1e-15);
    const double sign = w.imag[0].val() > 0 ? 1 : -1;
    w.imag[0].grad();
    CHECK(distance(x.unaryExpr([](const var& e) { return e.adj(); }), sign * rotation(0, 0.5)) < 1e-14);
    w.real[1].grad();
    CHECK(distance(x.unaryExpr([](const var& e) { return e.adj(); }), rotation(0.5, 0)) < 1e-14);
  }
  MatrixXd far(2, 2);  // similar to (1, 1; 1, 2) also where the square of a ratio overflows
  far << 1, 1e200, 1e-200, 2;
  CHECK(std::abs(agrad::eigenvalues(far).real.sum() - 3) < 1e-15);
  CHECK(std::abs(agrad::eigenvalues(far).real.prod() - 1) < 1e-15);
  CHECK(std::abs(agrad::eigenvalues(MatrixXd(MatrixXd::Constant(2, 2, 8e307))).real.maxCoeff() / 1.6e308 - 1) < 1e-15);
  CHECK(agrad::eigenvalues(MatrixXd(MatrixXd::Constant(2, 2, 5e-324))).real.maxCoeff() == 1e-323);
  // Graded: (1, 1e8; 1e-8, 2) is similar to (1, 1; 1, 2), and rounding of the large entry does not count.
  MatrixXd graded(2, 2);
  graded << 1, 1e8, 1e-8, 2;
  const VectorXd w = agrad::eigenvalues(graded).real;
  CHECK(std::abs(w.minCoeff() - (3 - std::sqrt(5)) / 2) < 1e-15);
  const auto difference = [](const auto& a) {
    const auto values = agrad::eigenvalues(a).real;
    return std::decay_t<decltype(values[0])>(values[1] - values[0]);
  };
  const MatrixXd g = gradient(difference, graded) / std::sqrt(5);  // the square is 1 + 4 a_12 a_21 for diagonals 1, 2
  const double sign = difference(graded) > 0 ? 5 : -5;
  CHECK(std::abs(g(0, 1) * sign / 2e-8 - 1) < 1e-14);
  CHECK(std::abs(g(1, 0) * sign / 2e8 - 1) < 1e-14);
  CHECK(std::abs(g(0, 0) * sign + 1) < 1e-14);
}

TEST_CASE("general eigenvalues: equal values") {
  const MatrixXd one = MatrixXd::Identity(3, 3);
  const auto trace = [](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::Scalar;
    return T(agrad::eigenvalues(a).real.sum());
  };
  CHECK(distance(gradient(trace, one), one) < 1e-15);
  CHECK(message_of<agrad::DomainError>([&] { (void)gradient(of_real, one); }) ==
        "general_eigen: a is degenerate, but must be with distinct values where vectors are differentiated; values 0 and 1, 1 "
        "+ 0i and "
        "1 + 0i, are equal");
  CHECK(message_of<agrad::DomainError>([&] { (void)of_real(along<double>(one, numbers(3, 3))); }).find("are equal") !=
        std::string::npos);
  const std::string defective = message_of<agrad::DomainError>([&] { (void)gradient(values_alone, jordan(0)); });
  CHECK(defective.find("general_eigenvalues: a is without a basis of eigenvectors, or nearly so") == 0);
  CHECK_THROWS_AS((void)gradient(values_alone, jordan(1e-13)), agrad::DomainError);
  CHECK_THROWS_AS((void)values_alone(along<double>(jordan(1e-13), numbers(2, 2))), agrad::DomainError);
  // w = 1 +- sqrt(h), with a derivative 1 / (2 sqrt(h)) that has eight digits
  const auto first = [](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::Scalar;
    return T(agrad::eigenvalues(a).real[0] - agrad::eigenvalues(a).real[1]);
  };
  CHECK(std::abs(std::abs(gradient(first, jordan(1e-6))(1, 0)) / 1e3 - 1) < 1e-8);
  MatrixXd close = jordan(0.01);
  close(0, 0) = 1.3;
  check_derivatives(values_alone, close, {1e-12, 1e-7, 1e-6, 1e-4});
}

TEST_CASE("general eigenvalues: arguments that are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message_of<agrad::ShapeError>([] { (void)agrad::eigenvalues(numbers(2, 3)); }) ==
        "general_eigenvalues: a is of shape (2, 3), but must be square, or square real parts with square imaginary parts at "
        "their right");
  CHECK_THROWS_AS((void)agrad::eigenvectors(agrad::to_complex(numbers(2, 2), numbers(2, 3))), agrad::ShapeError);
  CHECK_THROWS_AS((void)agrad::eigenvalues(MatrixXd(MatrixXd::Constant(2, 2, nan))), agrad::DomainError);
  CHECK_THROWS_AS((void)agrad::eigenvalues(MatrixXd(MatrixXd::Constant(2, 2, 1 / 0.0))), agrad::DomainError);
}

TEST_CASE("Stan's names: full QR factors") {
  for (const auto& size : {std::pair<Index, Index>{1, 1}, {3, 3}, {4, 2}, {2, 4}, {3, 0}}) {
    const MatrixXd a = numbers(size.first, size.second), q = agrad::qr_Q(a), r = agrad::qr_R(a);
    CHECK(q.rows() == size.first);
    CHECK(r.rows() == size.first);
    CHECK(distance(q * r, a) < 1e-14);
    CHECK(distance(q.transpose() * q, MatrixXd::Identity(size.first, size.first)) < 1e-14);
    CHECK((r.diagonal().array() >= 0).all());
  }
  const auto factors = [](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::Scalar;
    return Mat<T>(agrad::qr_Q(a) * a + agrad::qr_R(a));
  };
  check_derivatives(factors, numbers(2, 4));
  check_derivatives(factors, regular(3));
  check_derivatives([](const auto& a) { return agrad::qr_R(a); }, numbers(4, 2));
  const auto q = [](const auto& a) { return agrad::qr_Q(a); };
  const char* text =
      "qr_Q: a is of shape (4, 2), but must be with at least as many columns as rows, to have derivatives; columns that "
      "complete a basis "
      "have none; write qr_thin_Q";
  CHECK(message_of<agrad::DomainError>([&] { (void)gradient(q, numbers(4, 2)); }) == text);
  CHECK(message_of<agrad::DomainError>([&] { (void)q(along<double>(numbers(4, 2), numbers(4, 2))); }) == text);
  const auto thin_part = [](const auto& a) {
    return Mat<typename std::decay_t<decltype(a)>::Scalar>(agrad::qr_Q(a).leftCols(2));
  };
  CHECK(distance(gradient(thin_part, numbers(4, 2)),
                 gradient([](const auto& a) { return agrad::qr_thin_Q(a); }, numbers(4, 2))) < 1e-14);
}

}  // namespace test_linalg_general_eigen
