// Roots, hidden Markov models and sums by parts: closed forms, derivatives of three orders, what is refused.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/functionals/by_parts.hpp>
#include <agrad/functionals/hidden_markov.hpp>
#include <agrad/functionals/roots.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace test_functionals_roots {

using agrad::vector_of;
using doctest::Approx;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

struct circle_and_line {
  template <class Y, class P>
  auto operator()(const Y& y, const P& p) const {
    vector_of<agrad::promoted_t<Y, P>> r(2);
    r[0] = y[0] * y[0] + y[1] * y[1] - p[0];
    r[1] = y[0] - p[1] * y[1];
    return r;
  }
};
template <class P>
auto exact(const P& p) {  // y1 = sqrt(p0 / (1 + p1^2)), y0 = p1 y1
  return sqrt(p[0] / (1 + p[1] * p[1])) * (p[1] + 2);
}
const VectorXd point = (VectorXd(2) << 2.0, 0.7).finished();

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const agrad::SolverError& error) {
    return error.what();
  }
  return "";
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("roots have exact derivatives to the third order, by both methods") {
  const auto reference = [](const auto& p) { return exact(p); };
  const auto newton = [](const auto& p) {
    const auto y = agrad::solve_newton(circle_and_line(), Eigen::Vector2d(1, 1), p);
    return agrad::promoted_t<decltype(p)>(y[0] + 2 * y[1]);
  };
  const auto powell = [](const auto& p) {
    const auto y = agrad::solve_powell_tol(circle_and_line(), Eigen::Vector2d(3, 0.1), 1e-10, 1e-6, 100, p);
    return agrad::promoted_t<decltype(p)>(y[0] + 2 * y[1]);
  };
  double value = 0, expected = 0;
  VectorXd g, exact_g;
  MatrixXd h, exact_h;
  std::vector<MatrixXd> third, exact_third;
  agrad::grad_hessian(newton, point, value, h, third);
  agrad::grad_hessian(reference, point, expected, exact_h, exact_third);
  CHECK(value == Approx(expected).epsilon(1e-14));
  CHECK((h - exact_h).norm() < 1e-12);
  for (std::size_t k = 0; k < third.size(); ++k) CHECK((third[k] - exact_third[k]).norm() < 1e-11);
  agrad::gradient(powell, point, value, g);
  agrad::gradient(reference, point, expected, exact_g);
  CHECK(value == Approx(expected).epsilon(1e-14));
  CHECK((g - exact_g).norm() < 1e-12);
  agrad::gradient(newton, point, value, g);
  CHECK((g - exact_g).norm() < 1e-12);
}

TEST_CASE("roots of numbers, with data of several structures") {
  const auto f = [](const auto& y, double a, const std::vector<double>& b, const std::string&) {
    vector_of<agrad::promoted_t<decltype(y)>> r(1);
    r[0] = y[0] * y[0] * y[0] - a * b[0];
    return r;
  };
  const VectorXd y = agrad::solve_newton(f, VectorXd::Ones(1), 4.0, std::vector<double>{2.0}, std::string("data"));
  CHECK(y[0] == Approx(2.0).epsilon(1e-15));
  const auto at_start = [](const auto& x) { return vector_of<agrad::promoted_t<decltype(x)>>(x); };
  CHECK(agrad::solve_powell(at_start, VectorXd::Zero(2)) == VectorXd::Zero(2));
  const auto far_scales = [](const auto& x) {
    vector_of<agrad::promoted_t<decltype(x)>> r(2);
    r[0] = x[0] - 1e-20;
    r[1] = atan(x[1] * 1e-10);
    return r;
  };
  CHECK(agrad::solve_newton(far_scales, Eigen::Vector2d(1, 20e10))[0] == Approx(1e-20).epsilon(1e-9));
}

TEST_CASE("unknowns of very different size") {
  // A large unknown at its root from the start: log(p) beside it.
  for (double size : {1e-10, 1.0, 1e4, 1e10, 1e14})
    for (double start : {0.5, 3.0, -1.0, 0.0}) {
      const Eigen::Vector2d guess(size, start);
      const auto f = [size](const auto& x, const auto& p) {
        vector_of<agrad::promoted_t<decltype(x), decltype(p)>> r(2);
        r[0] = x[0] - size;
        r[1] = exp(x[1]) - p[0];
        return r;
      };
      const auto by_newton = [&](const auto& p) {
        return vector_of<agrad::promoted_t<decltype(p)>>(agrad::solve_newton(f, guess, p))[1];
      };
      const auto by_powell = [&](const auto& p) {
        return vector_of<agrad::promoted_t<decltype(p)>>(agrad::solve_powell(f, guess, p))[1];
      };
      const auto holds = [](const auto& root) {
        double value = 0;
        VectorXd g;
        MatrixXd h;
        agrad::hessian(root, VectorXd::Constant(1, 2.0), value, g, h);
        CHECK(value == Approx(std::log(2.0)).epsilon(1e-13));
        CHECK(g[0] == Approx(0.5).epsilon(1e-13));
        CHECK(h(0, 0) == Approx(-0.25).epsilon(1e-12));
      };
      holds(by_newton);
      holds(by_powell);
    }
}

TEST_CASE("an entry near zero ends among rounding errors of a large one") {
  for (double size : {1.0, 1e5, 1e10})
    for (const Eigen::Vector2d& start : {Eigen::Vector2d(0.7, 0.3), Eigen::Vector2d(0.7, 0.0), Eigen::Vector2d(1, 1e-17)}) {
      const auto f = [size](const auto& x) {
        vector_of<agrad::promoted_t<decltype(x)>> r(2);
        r[0] = sin(x[0] / size) + x[1] / size - std::sin(1.0);
        r[1] = x[0] - size;
        return r;
      };
      for (const VectorXd& x : {agrad::solve_newton_tol(f, size * start, 1e-10, 1e-6 * size, 15),
                                agrad::solve_powell_tol(f, size * start, 1e-10, 1e-6 * size, 15)}) {
        CHECK(x[0] == Approx(size).epsilon(1e-14));
        CHECK(std::abs(x[1]) <= 1e-15 * size);
      }
    }
}

TEST_CASE("no root, a double root and wrong equations are named") {
  const auto of = [](double shift) {
    return [shift](const auto& y) {
      vector_of<agrad::promoted_t<decltype(y)>> r(1);
      r[0] = y[0] * y[0] + shift;
      return r;
    };
  };
  const VectorXd one = VectorXd::Ones(1), zero = VectorXd::Zero(1);
  for (const auto& text :
       {message_of([&] { agrad::solve_newton(of(0), one); }), message_of([&] { agrad::solve_powell(of(0), one); }),
        message_of([&] { agrad::solve_powell(of(0), zero); }), message_of([&] { agrad::solve_newton(of(1), zero); })})
    CHECK(contains(text, "the Jacobian is singular, but must be of full rank"));
  CHECK(message_of([&] { agrad::solve_powell(of(1), one); }) != "");
  CHECK(contains(message_of([&] { agrad::solve_newton_tol(of(-2), one, 1e-10, 1e-6, 2); }),
                 "number of steps is 2, but must suffice"));
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(contains(message_of([&] { agrad::solve_newton(of(inf), one); }), "are not finite"));
  CHECK_THROWS_AS(agrad::solve_newton(of(-1), VectorXd::Ones(2)), agrad::ShapeError);
  CHECK_THROWS_AS(agrad::solve_newton(of(-1), VectorXd(0)), agrad::ShapeError);
  CHECK_THROWS_AS(agrad::solve_newton_tol(of(-1), one, 0.0, 1e-6, 10), agrad::DomainError);
}

namespace {

/// The likelihood as the sum over all sequences of two states.
template <class T>
T by_sequences(const Eigen::Matrix<T, -1, -1>& log_omega, const Eigen::Matrix<T, -1, -1>& gamma, const vector_of<T>& rho) {
  const Index n = log_omega.cols();
  T sum = 0.0;
  for (int code = 0; code < (1 << n); ++code) {
    T term = rho[code & 1];
    for (Index i = 0; i < n; ++i) {
      const int state = code >> i & 1;
      if (i > 0) term = term * gamma(code >> (i - 1) & 1, state);
      term = term * exp(log_omega(state, i));
    }
    sum = sum + term;
  }
  return log(sum);
}

/// Changes of probabilities that keep their sums, and of log densities.
struct model {
  MatrixXd log_omega, gamma;
  VectorXd rho;
  bool directly = false;

  template <class X>
  auto operator()(const X& x) const {
    using T = agrad::promoted_t<X>;
    Eigen::Matrix<T, -1, -1> w = log_omega.cast<T>(), g = gamma.cast<T>();
    vector_of<T> r = rho.cast<T>();
    for (int row = 0; row < 2; ++row) g(row, 0) = g(row, 0) + x[row], g(row, 1) = g(row, 1) - x[row];
    r[0] = r[0] + x[2], r[1] = r[1] - x[2];
    for (Index i = 0; i < w.size(); ++i) w.data()[i] = w.data()[i] + x[3 + i];
    return directly ? by_sequences<T>(w, g, r) : agrad::hmm_marginal(w, g, r);
  }
};

}  // namespace

TEST_CASE("hidden Markov models, also with probabilities of zero") {
  const MatrixXd log_omega = (MatrixXd(2, 3) << -0.1, -0.2, -1.6, -1.2, -0.9, -0.4).finished();
  const MatrixXd inner = (MatrixXd(2, 2) << 0.7, 0.3, 0.1, 0.9).finished(), stays = MatrixXd::Identity(2, 2);
  const MatrixXd alternates = (MatrixXd(2, 2) << 0, 1, 1, 0).finished();
  for (const MatrixXd& gamma : {inner, stays, alternates})
    for (const VectorXd& rho : {VectorXd((VectorXd(2) << 0.4, 0.6).finished()), VectorXd((VectorXd(2) << 1, 0).finished())}) {
      const VectorXd at = VectorXd::Zero(9);
      double value = 0, expected = 0;
      VectorXd g, exact_g;
      MatrixXd h, exact_h;
      agrad::hessian(model{log_omega, gamma, rho}, at, value, g, h);
      agrad::hessian(model{log_omega, gamma, rho, true}, at, expected, exact_g, exact_h);
      CHECK(value == Approx(expected).epsilon(1e-14));
      CHECK((g - exact_g).norm() < 1e-12);
      CHECK((h - exact_h).norm() < 1e-11);
    }
}

TEST_CASE("hidden Markov models: far densities, impossible observations, what is refused") {
  const double inf = std::numeric_limits<double>::infinity();
  const MatrixXd gamma = (MatrixXd(2, 2) << 0.7, 0.3, 0.1, 0.9).finished();
  const VectorXd rho = (VectorXd(2) << 0.5, 0.5).finished();
  const MatrixXd far = (MatrixXd(2, 4) << 0, -2000, -inf, 0, -1500, 0, 0, 0).finished();
  // the only sequences that count start in state 0, then state 1 twice, then either state
  CHECK(agrad::hmm_marginal(far, gamma, rho) == Approx(std::log(0.5 * 0.3 * 0.9)).epsilon(1e-15));
  CHECK(agrad::hmm_marginal(MatrixXd::Constant(2, 3, -inf), gamma, rho) == -inf);
  CHECK_THROWS_WITH_AS(agrad::hmm_marginal(far, 2 * gamma, rho), "hmm_marginal: sum of gamma[0] is 2, but must be 1",
                       agrad::DomainError);
  CHECK_THROWS_WITH_AS(agrad::hmm_marginal(far, -gamma, rho), "hmm_marginal: gamma[0, 0] is -0.7, but must not be negative",
                       agrad::DomainError);
  CHECK_THROWS_WITH_AS(agrad::hmm_marginal(far, gamma, -rho), "hmm_marginal: rho[0] is -0.5, but must not be negative",
                       agrad::DomainError);
  CHECK_THROWS_WITH_AS(agrad::hmm_marginal(far, gamma, 2 * rho), "hmm_marginal: sum of rho is 2, but must be 1",
                       agrad::DomainError);
  CHECK_THROWS_AS(agrad::hmm_marginal(far, gamma, VectorXd::Constant(3, 1.0 / 3)), agrad::ShapeError);
  CHECK_THROWS_AS(agrad::hmm_marginal(far.topRows(1), gamma, rho), agrad::ShapeError);
  CHECK_THROWS_AS(agrad::hmm_marginal(MatrixXd(2, 0), gamma, rho), agrad::ShapeError);
  CHECK_THROWS_AS(agrad::hmm_marginal(MatrixXd::Constant(2, 1, inf), gamma, rho), agrad::DomainError);
}

TEST_CASE("sums and maps by parts") {
  const std::vector<double> y{1, 2, 4, 3, 0.5};
  const auto part = [](const std::vector<double>& x, std::size_t start, std::size_t end, const auto& b) {
    agrad::promoted_t<decltype(b)> sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) sum = sum + (x[i] - b * static_cast<double>(start + i)) * (x[i] - b);
    return x.size() == end - start ? sum : agrad::promoted_t<decltype(b)>(std::nan(""));
  };
  const double whole = agrad::reduce_sum(part, y, 1, 0.3);
  for (const int size : {1, 2, 5, 9}) CHECK(agrad::reduce_sum_static(part, y, size, 0.3) == Approx(whole).epsilon(1e-14));
  CHECK(agrad::reduce_sum(part, std::vector<double>(), 1, 0.3) == 0);
  CHECK_THROWS_AS(agrad::reduce_sum_static(part, y, 0, 0.3), agrad::DomainError);
  double value = 0, slope = 0;
  const VectorXd b = VectorXd::Constant(1, 0.3);
  agrad::partial_derivative([&](const auto& x) { return agrad::reduce_sum_static(part, y, 2, x[0]); }, b, 0, value, slope);
  CHECK(slope == Approx((agrad::reduce_sum(part, y, 1, 0.3 + 1e-6) - agrad::reduce_sum(part, y, 1, 0.3 - 1e-6)) / 2e-6));

  const auto job = [](const auto& phi, const auto& theta, const std::vector<double>& x_r, const std::vector<int>& x_i) {
    return agrad::promoted_t<decltype(phi), decltype(theta)>(phi[0] * theta[x_i[0]] * x_r[0]);
  };
  const auto maps = [&](const auto& phi) {
    return agrad::map_rect(job, phi, std::vector<VectorXd>(2, Eigen::Vector2d(3, 5)), {{1.0}, {2.0}}, {{0}, {1}});
  };
  CHECK(maps(VectorXd::Ones(1)) == Eigen::Vector2d(3, 10));
  VectorXd values, product;
  agrad::jvp(maps, VectorXd::Ones(1), VectorXd::Ones(1), values, product);
  CHECK(product == Eigen::Vector2d(3, 10));
  CHECK_THROWS_AS(agrad::map_rect(job, VectorXd(VectorXd::Ones(1)), std::vector<VectorXd>(1), {}, {{1}}), agrad::ShapeError);
}

}  // namespace test_functionals_roots
