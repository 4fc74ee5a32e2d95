// Fourier transforms: values against sums in long double, derivatives against closed forms, inverses and complex numbers.
#include <doctest/doctest.h>

#include <agrad/dual/matrix.hpp>
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/products.hpp>
#include <agrad/rules/fourier/complex.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/matrix/linalg.hpp>
#include <cmath>
#include <complex>
#include <limits>

namespace test_fourier {

namespace {

using agrad::complex_parts;
using agrad::var;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd numbers(Index n, double phase) {
  VectorXd x(n);
  for (Index i = 0; i < n; ++i) x[i] = std::sin(phase + 1.7 * static_cast<double>(i * i % 101));
  return x;
}

/// The definition, in long double.
complex_parts<VectorXd> sums(const VectorXd& re, const VectorXd& im) {
  const Index n = re.size();
  complex_parts<VectorXd> y{VectorXd(n), VectorXd(n)};
  for (Index f = 0; f < n; ++f) {
    long double a = 0, b = 0;
    for (Index j = 0; j < n; ++j) {
      const long double angle = 2 * acosl(-1.0L) * static_cast<long double>(f * j % n) / static_cast<long double>(n);
      const long double c = cosl(angle), s = sinl(angle);
      a += re[j] * c + im[j] * s;
      b += im[j] * c - re[j] * s;
    }
    y.real[f] = static_cast<double>(a);
    y.imag[f] = static_cast<double>(b);
  }
  return y;
}

double distance(const complex_parts<VectorXd>& a, const complex_parts<VectorXd>& b) {
  return std::sqrt((a.real - b.real).squaredNorm() + (a.imag - b.imag).squaredNorm()) /
         std::sqrt(b.real.squaredNorm() + b.imag.squaredNorm());
}

}  // namespace

TEST_CASE("transforms of lengths with every radix, with prime factors and primes are the sums") {
  for (const Index n : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 31, 32, 37, 60, 64, 77, 97, 105, 128, 202, 243, 961}) {
    CAPTURE(n);
    const complex_parts<VectorXd> z{numbers(n, 0.3), numbers(n, 1.1)}, y = agrad::fft(z);
    CHECK(distance(y, sums(z.real, z.imag)) < 1e-15);
    CHECK(distance(agrad::inv_fft(y), z) < 2e-15);
    CHECK(distance(agrad::fft(z.real), sums(z.real, VectorXd::Zero(n))) < 1e-15);
  }
  CHECK(agrad::fft(VectorXd(0)).real.size() == 0);
}

TEST_CASE("transforms of real numbers are half of the others, and their adjoints the transposed maps") {
  for (const Index n : {1, 2, 3, 4, 6, 7, 8, 10, 37, 64, 74, 194}) {
    CAPTURE(n);
    const Index half = n / 2 + 1;
    const MatrixXd x = numbers(2 * n, 0.4).reshaped(n, 2), w = numbers(4 * half, 1.3).reshaped(half, 4);
    const MatrixXd y = agrad::linalg::apply(agrad::linalg::real_fourier_rule{}, x);
    const auto whole = sums(x.col(1), VectorXd::Zero(n));
    CHECK(distance({y.col(1), y.col(3)}, {whole.real.head(half), whole.imag.head(half)}) < 1e-15);
    const agrad::scope own;
    const agrad::matrix<var> of_x(x), of_w(w);
    const auto seeded = [](const agrad::matrix<var>& z, const MatrixXd& seeds) {
      var sum = 0.0;
      for (Index i = 0; i < seeds.rows(); ++i)
        for (Index j = 0; j < seeds.cols(); ++j) sum += seeds(i, j) * z(i, j);
      sum.grad();
    };
    seeded(agrad::linalg::apply(agrad::linalg::real_fourier_rule{}, of_x), w);
    const auto back = [n](const auto& z) {
      return n % 2 == 0 ? agrad::linalg::apply(agrad::linalg::transposed_real_fourier_rule<false>{}, z)
                        : agrad::linalg::apply(agrad::linalg::transposed_real_fourier_rule<true>{}, z);
    };
    CHECK((of_x.adj() - back(w)).norm() == 0);
    CHECK((of_x.adj().array() * x.array()).sum() == doctest::Approx((w.array() * y.array()).sum()));
    seeded(back(of_w), x);
    CHECK((of_w.adj() - y).norm() == 0);
  }
}

TEST_CASE("the gradient of a power spectrum, and its second derivative, are those of Parseval's identity") {
  const Index n = 12;
  const VectorXd w = numbers(n, 0.2);
  // sum_f w_f |y_f|^2 = x' H x with H the cyclic convolution by n times the real part of the inverse transform of w
  const VectorXd h = static_cast<double>(n) * agrad::inv_fft(complex_parts<VectorXd>{w, VectorXd::Zero(n)}).real;
  MatrixXd hessian(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) hessian(i, j) = 2 * h[(i - j + n) % n];
  const auto loss = [&w](const auto& x) {
    const auto y = agrad::fft(x);
    typename std::decay_t<decltype(x)>::Scalar sum = 0.0;
    for (Index f = 0; f < w.size(); ++f) sum += w[f] * agrad::norm(agrad::to_complex(y.real[f], y.imag[f]));
    return sum;
  };
  const VectorXd x = numbers(n, 0.9), v = numbers(n, 2.0);
  double fx = 0;
  VectorXd g, product;
  agrad::gradient(loss, x, fx, g);
  CHECK(fx == doctest::Approx(0.5 * x.dot(hessian * x)));
  CHECK((g - hessian * x).norm() < 1e-13 * g.norm());
  agrad::hessian_times_vector(loss, x, v, fx, product);
  CHECK((product - hessian * v).norm() < 1e-13 * product.norm());
}

TEST_CASE("the transform of a matrix is that of its columns, then of its rows, also of matrix<var>") {
  const Index n = 4, m = 3;
  const complex_parts<MatrixXd> z{numbers(n * m, 0.1).reshaped(n, m), numbers(n * m, 0.7).reshaped(n, m)}, y = agrad::fft2(z);
  for (Index f = 0; f < n; ++f) {
    const MatrixXd re = agrad::fft(z).real.row(f).transpose(), im = agrad::fft(z).imag.row(f).transpose();
    CHECK(distance({y.real.row(f).transpose(), y.imag.row(f).transpose()}, sums(re, im)) < 1e-15);
  }
  const auto back = agrad::inv_fft2(y);
  CHECK((back.real - z.real).norm() + (back.imag - z.imag).norm() < 1e-15 * (z.real.norm() + z.imag.norm()));
  const agrad::scope own;
  const complex_parts<agrad::matrix<var>> recorded{agrad::matrix<var>(z.real), agrad::matrix<var>(z.imag)};
  var sum = 0.0;
  const auto of_recorded = agrad::fft2(recorded);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) sum += of_recorded.imag(i, j) * y.real(i, j);
  sum.grad();  // the adjoint is the inverse transform of i Re y, times n m
  const auto adjoint = agrad::inv_fft2(complex_parts<MatrixXd>{MatrixXd::Zero(n, m), y.real});
  CHECK((recorded.real.adj() - 12 * adjoint.real).norm() < 1e-14);
  CHECK((recorded.imag.adj() - 12 * adjoint.imag).norm() < 1e-14);
}

TEST_CASE("functions of complex numbers are those of <complex>") {
  const agrad::scope own;
  const var x = -0.6, y = 1.3;
  const complex_parts<var> z = agrad::to_complex(x, y), back = agrad::polar(agrad::abs(z), agrad::arg(z));
  CHECK(agrad::arg(z).val() == std::arg(std::complex<double>(-0.6, 1.3)));
  CHECK(back.real.val() == doctest::Approx(-0.6));
  CHECK(agrad::get_imag(agrad::conj(z)).val() == -1.3);
  var(back.imag + agrad::norm(z) + agrad::get_real(agrad::proj(z))).grad();
  CHECK(x.adj() == doctest::Approx(2 * -0.6 + 1));
  CHECK(y.adj() == doctest::Approx(1 + 2 * 1.3));
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(agrad::proj(agrad::to_complex(-infinite, -1.0)).real == infinite);
  CHECK(std::signbit(agrad::proj(agrad::to_complex(-infinite, -1.0)).imag));
}

}  // namespace test_fourier
