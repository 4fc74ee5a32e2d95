// Eigenvalues, singular values and their vectors with every scalar; equal values.
#include <agrad/rules/spectra/eigen.hpp>
#include <agrad/rules/spectra/svd.hpp>

#include "linalg_probe.hpp"

namespace test_linalg_spectrum {

using namespace linalg_probe;

namespace {
// Functions that do not depend on the signs of vectors.
const auto eigen_function = [](const auto& a) {
  const auto y = agrad::symmetric_eigen(a);
  using T = typename std::decay_t<decltype(a)>::Scalar;
  Mat<T> all(a.rows(), a.cols() + 1);
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) all(i, j) = y.vectors(i, j) * y.vectors(0, j);
  all.col(a.cols()) = y.values;
  return all;
};
const auto svd_function = [](const auto& a) {
  const auto y = agrad::svd(a);
  using T = typename std::decay_t<decltype(a)>::Scalar;
  const Index k = y.s.size();
  Mat<T> all(a.rows() + a.cols() + 1, k);
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < a.rows(); ++i) all(i, j) = y.u(i, j) * y.v(0, j);
    for (Index i = 0; i < a.cols(); ++i) all(a.rows() + i, j) = y.v(i, j) * y.u(0, j);
    all(a.rows() + a.cols(), j) = y.s[j];
  }
  return all;
};
MatrixXd symmetric(Index n) {
  const MatrixXd x = numbers(n, n, 0.2);
  MatrixXd a = x + x.transpose();
  for (Index i = 0; i < n; ++i) a(i, i) += 2.0 * static_cast<double>(i);
  return a;
}
}  // namespace

TEST_CASE("symmetric_eigen: values and derivatives") {
  for (const Index n : {0, 1, 2, 5}) {
    CAPTURE(n);
    const MatrixXd a = symmetric(n);
    const auto y = agrad::symmetric_eigen(a);
    CHECK(distance(y.vectors * y.values.asDiagonal() * y.vectors.transpose(), a) < 1e-14);
    check_derivatives(eigen_function, a, {1e-12, 1e-6, 1e-5, 1e-3});
    check_derivatives([](const auto& x) { return agrad::symmetric_eigenvalues(x); }, a);
  }
}

TEST_CASE("svd: values and derivatives") {
  for (const auto& size : {std::pair<Index, Index>{0, 0}, {3, 0}, {0, 3}, {1, 1}, {2, 2}, {4, 4}, {6, 3}, {3, 5}}) {
    const Index m = size.first, n = size.second;
    CAPTURE(m);
    CAPTURE(n);
    MatrixXd a = numbers(m, n);
    for (Index i = 0; i < std::min(m, n); ++i) a(i, i) += 2.0 * static_cast<double>(i + 1);
    const auto y = agrad::svd(a);
    CHECK(distance(y.u * y.s.asDiagonal() * y.v.transpose(), a) < 1e-14);
    check_derivatives(svd_function, a, {1e-12, 1e-6, 1e-5, 1e-3});
    check_derivatives([](const auto& x) { return agrad::singular_values(x); }, a);
  }
}

namespace {
/// A symmetric matrix with the given eigenvalues.
MatrixXd with_values(const VectorXd& values) {
  const MatrixXd v = agrad::symmetric_eigen(symmetric(values.size())).vectors;
  return v * values.asDiagonal() * v.transpose();
}
template <class T>
Mat<T> spectral(const Mat<T>& a, T (*g)(const T&)) {
  const auto y = agrad::symmetric_eigen(a);
  Mat<T> scaled = y.vectors;
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) scaled(i, j) = y.vectors(i, j) * g(y.values[j]);
  return scaled * y.vectors.transpose();
}
var cube(const var& x) { return x * x * x; }
var same(const var& x) { return x * 1.0; }
var one(const var& x) { return x * 0.0 + 1.0; }
}  // namespace

TEST_CASE("equal eigenvalues: spectral functions have their derivatives") {
  const MatrixXd w = numbers(5, 5, 2.1);
  for (const MatrixXd& a : {with_values((VectorXd(5) << 1, 2, 2, 2, 4).finished()), MatrixXd(MatrixXd::Identity(5, 5) * 1.5)}) {
    const MatrixXd sym = 0.5 * (w + w.transpose());
    // The sum of W and V diag(values) V' is W itself: the gradient is the symmetric part of W.
    CHECK(distance(gradient([](const auto& x) { return spectral(x, same); }, a), sym) < 1e-12);
    CHECK(distance(gradient([](const auto& x) { return spectral(x, one); }, a), MatrixXd::Zero(5, 5)) < 1e-12);
    const MatrixXd expected = sym * a * a + a * sym * a + a * a * sym;
    CHECK(distance(gradient([](const auto& x) { return spectral(x, cube); }, a), expected) < 1e-11);
  }
}

TEST_CASE("nearly equal eigenvalues: spectral functions keep their digits, what depends on the choice throws") {
  const MatrixXd w = numbers(4, 4, 2.1), sym = 0.5 * (w + w.transpose());
  for (const double gap : {1e-3, 1e-5, 1e-7, 1e-9, 1e-10, 1e-12, 3e-14}) {
    CAPTURE(gap);
    const MatrixXd b = with_values((VectorXd(4) << 1, 2, 2 + gap, 4).finished()), a = 0.5 * (b + b.transpose());
    const MatrixXd expected = sym * a * a + a * sym * a + a * a * sym;
    CHECK(distance(gradient([](const auto& x) { return spectral(x, cube); }, a), expected) < 1e-10);
    if (gap < 1e-8) {
      CHECK_THROWS_AS(gradient(eigen_function, a), agrad::DomainError);
      CHECK_THROWS_AS(eigen_function(along<double>(a, w)), agrad::DomainError);
    } else if (gap > 1e-6) {
      CHECK(gradient(eigen_function, a).allFinite());
    }
  }
}

TEST_CASE("equal eigenvalues: what depends on the choice of vectors throws, values do not") {
  const MatrixXd a = with_values((VectorXd(4) << 1, 2, 2, 3).finished());
  CHECK_THROWS_AS(gradient(eigen_function, a), agrad::DomainError);
  const auto log_det = [](const auto& x) {
    const auto values = agrad::symmetric_eigenvalues(x);
    auto y = log(values[0]) * 1.0;
    typename std::decay_t<decltype(values)>::Scalar sum = y;
    for (Index i = 1; i < values.size(); ++i) sum += log(values[i]);
    return sum;
  };
  CHECK(distance(gradient(log_det, a) * a, MatrixXd::Identity(4, 4)) < 1e-12);
  // The Hessian of log det in a direction is -a^-1 d a^-1, also where values are equal.
  const MatrixXd d = numbers(4, 4, 5.5), inverse = gradient(log_det, a);
  const agrad::scope own;
  const Mat<var> va = a.cast<var>();
  const dual<var> y = log_det(along<var>(va, d));
  var(y.tangent[0] * 1.0).grad();
  MatrixXd h(4, 4);
  for (Index i = 0; i < 16; ++i) h.data()[i] = va.data()[i].adj();
  CHECK(distance(h, -inverse * (d + d.transpose()) / 2 * inverse) < 1e-11);
}

namespace {
/// The Hessian of f times a direction.
template <class F>
MatrixXd hessian_times(const F& f, const MatrixXd& a, const MatrixXd& d) {
  const agrad::scope own;
  const Mat<var> va = a.cast<var>();
  const dual<var> y = f(along<var>(va, d));
  var(y.tangent[0] * 1.0).grad();
  MatrixXd h(a.rows(), a.cols());
  for (Index i = 0; i < a.size(); ++i) h.data()[i] = va.data()[i].adj();
  return h;
}
}  // namespace

TEST_CASE("equal values: Hessians of symmetric functions of the values") {
  const auto squares = [](const auto& values) {
    typename std::decay_t<decltype(values)>::Scalar sum(0.0);
    for (Index i = 0; i < values.size(); ++i) sum += values[i] * values[i];
    return sum;
  };
  const auto square_of_sum = [](const auto& values) {
    typename std::decay_t<decltype(values)>::Scalar sum(0.0);
    for (Index i = 0; i < values.size(); ++i) sum += values[i];
    return sum * sum;
  };
  const MatrixXd a = MatrixXd::Identity(3, 3);
  for (Index k = 0; k < 9; ++k) {
    CAPTURE(k);
    MatrixXd d = MatrixXd::Zero(3, 3);
    d.data()[k] = 1;
    const MatrixXd symmetric_d = 0.5 * (d + d.transpose());
    const auto of_eigen = [](const auto& f) { return [f](const auto& x) { return f(agrad::symmetric_eigenvalues(x)); }; };
    CHECK(distance(hessian_times(of_eigen(squares), a, d), 2 * symmetric_d) < 1e-13);
    CHECK(distance(hessian_times(of_eigen(square_of_sum), a, d), 2 * d.trace() * a) < 1e-13);
    const auto of_svd = [](const auto& f) { return [f](const auto& x) { return f(agrad::singular_values(x)); }; };
    CHECK(distance(hessian_times(of_svd(squares), a, d), 2 * d) < 1e-13);
  }
  // Where two singular values are zero, the tape does not know the Hessian.
  const MatrixXd deficient = numbers(3, 1) * numbers(1, 3, 0.4);
  const auto f = [&](const auto& x) { return squares(agrad::singular_values(x)); };
  CHECK_THROWS_AS(hessian_times(f, deficient, numbers(3, 3, 5.5)), agrad::DomainError);
}

TEST_CASE("equal and vanishing singular values") {
  const auto rebuilt = [](const auto& x) {
    const auto y = agrad::svd(x);
    auto scaled = y.u;
    for (Index j = 0; j < y.s.size(); ++j)
      for (Index i = 0; i < y.u.rows(); ++i) scaled(i, j) = y.u(i, j) * y.s[j];
    return std::decay_t<decltype(x)>(scaled * y.v.transpose());
  };
  for (const MatrixXd& a :
       {MatrixXd(MatrixXd::Identity(3, 3)), MatrixXd(MatrixXd::Identity(4, 2) * 2), MatrixXd(MatrixXd::Identity(2, 5))})
    CHECK(distance(gradient(rebuilt, a), numbers(a.rows(), a.cols(), 2.1)) < 1e-12);
  CHECK_THROWS_AS(gradient(svd_function, MatrixXd(MatrixXd::Identity(3, 3))), agrad::DomainError);
  const MatrixXd deficient = numbers(3, 1) * numbers(1, 2);
  CHECK_THROWS_AS(gradient(svd_function, deficient), agrad::DomainError);
  CHECK(gradient([](const auto& x) { return agrad::singular_values(x); }, deficient).allFinite());
  CHECK_THROWS_AS(agrad::svd(MatrixXd(MatrixXd::Constant(2, 2, agrad::quiet_nan))), agrad::DomainError);
  CHECK_THROWS_AS(agrad::symmetric_eigen(MatrixXd(MatrixXd::Constant(2, 2, agrad::quiet_nan))), agrad::DomainError);
}

}  // namespace test_linalg_spectrum
