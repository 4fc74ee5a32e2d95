// Hidden states of hidden Markov models, and the older form of the root functions: closed forms, derivatives, errors.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/functionals/algebra_solver.hpp>
#include <agrad/functionals/hidden_states.hpp>
#include <agrad/probability.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "message_of.hpp"

namespace test_hidden_states {

using agrad::matrix_of;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using messages::message_of;

namespace {

const double inf = std::numeric_limits<double>::infinity();
const MatrixXd log_omega = (MatrixXd(2, 3) << -0.1, -0.2, -1.6, -1.2, -0.9, -0.4).finished();
const MatrixXd inner = (MatrixXd(2, 2) << 0.7, 0.3, 0.1, 0.9).finished();
const VectorXd half = VectorXd::Constant(2, 0.5);

/// The probabilities as sums over all sequences of two states.
template <class T>
matrix_of<T> by_sequences(const matrix_of<T>& w, const matrix_of<T>& g, const vector_of<T>& r) {
  matrix_of<T> sums = matrix_of<T>::Constant(2, w.cols(), T(0.0));
  for (int code = 0; code < (1 << w.cols()); ++code) {
    T term = r[code & 1];
    for (Index i = 0; i < w.cols(); ++i) {
      if (i > 0) term = term * g(code >> (i - 1) & 1, code >> i & 1);
      term = term * exp(w(code >> i & 1, i));
    }
    for (Index i = 0; i < w.cols(); ++i) sums(code >> i & 1, i) = sums(code >> i & 1, i) + term;
  }
  for (Index i = 0; i < w.cols(); ++i) {
    const T sum = sums(0, i) + sums(1, i);
    for (Index k = 0; k < 2; ++k) sums(k, i) = sums(k, i) / sum;
  }
  return sums;
}

/// A weighted sum of the probabilities, for changes of transitions that keep their sums and of log densities.
struct probabilities {
  MatrixXd gamma;
  bool directly;

  template <class X>
  auto operator()(const X& x) const {
    using T = agrad::promoted_t<X>;
    matrix_of<T> w = log_omega.cast<T>(), g = gamma.cast<T>();
    const vector_of<T> r = half.cast<T>();
    for (Index row = 0; row < 2; ++row) g(row, 0) = g(row, 0) + x[row], g(row, 1) = g(row, 1) - x[row];
    for (Index i = 0; i < w.size(); ++i) w.data()[i] = w.data()[i] + x[2 + i];
    const matrix_of<T> p = directly ? by_sequences<T>(w, g, r) : agrad::hmm_hidden_state_prob(w, g, r);
    T sum = 0.0;
    for (Index i = 0; i < p.size(); ++i) sum = sum + std::sin(1.0 + static_cast<double>(i)) * p.data()[i];
    return sum;
  }
};

/// y0^2 = theta0 and y1 = theta1 y0 + x_r[0] x_i[0].
struct equations {
  template <class Y, class P>
  auto operator()(const Y& y, const P& theta, const std::vector<double>& x_r, const std::vector<int>& x_i) const {
    vector_of<agrad::promoted_t<Y, P>> r(2);
    r[0] = y[0] * y[0] - theta[0];
    r[1] = y[1] - theta[1] * y[0] - x_r[0] * x_i[0];
    return r;
  }
};

}  // namespace

TEST_CASE("hidden states: probabilities and their derivatives, also with transitions of probability zero") {
  for (const MatrixXd& gamma : {inner, MatrixXd(MatrixXd::Identity(2, 2))}) {
    const MatrixXd p = agrad::hmm_hidden_state_prob(log_omega, gamma, half);
    CHECK((p - by_sequences<double>(log_omega, gamma, half)).cwiseAbs().maxCoeff() < 1e-15);
    double value = 0, expected = 0;
    VectorXd g, exact_g;
    MatrixXd h, exact_h;
    agrad::hessian(probabilities{gamma, false}, VectorXd::Zero(8), value, g, h);
    agrad::hessian(probabilities{gamma, true}, VectorXd::Zero(8), expected, exact_g, exact_h);
    CHECK(value == Approx(expected).epsilon(1e-14));
    CHECK((g - exact_g).norm() < 1e-13);
    CHECK((h - exact_h).norm() < 1e-12);
  }
  const agrad::scope own;  // the derivative of the marginal likelihood
  const matrix_of<var> w = log_omega.cast<var>();
  agrad::hmm_marginal(w, inner, half).grad();
  const MatrixXd p = agrad::hmm_hidden_state_prob(log_omega, inner, half);
  for (Index i = 0; i < w.size(); ++i) CHECK(p.data()[i] == Approx(w.data()[i].adj()).epsilon(1e-14));
}

TEST_CASE("hidden states: far densities, one state, one observation, errors") {
  const MatrixXd far = (MatrixXd(2, 4) << 0, -2000, -inf, 0, -1500, 0, 0, 0).finished();
  const MatrixXd p = agrad::hmm_hidden_state_prob(far, inner, half);
  CHECK((p - (MatrixXd(2, 4) << 1, 0, 0, 0.1, 0, 1, 1, 0.9).finished()).cwiseAbs().maxCoeff() < 1e-15);
  CHECK(agrad::hmm_hidden_state_prob(MatrixXd::Constant(1, 2, -3), MatrixXd::Ones(1, 1), VectorXd::Ones(1)).isOnes(0));
  CHECK(agrad::hmm_hidden_state_prob(MatrixXd::Zero(2, 1), inner, half) == half);
  CHECK(message_of([] { (void)agrad::hmm_hidden_state_prob(MatrixXd::Constant(2, 2, -inf), inner, half); }) ==
        "hmm_hidden_state_prob: likelihood is 0, but must be positive; no sequence of states is possible");
  CHECK(message_of([] { (void)agrad::hmm_hidden_state_prob(log_omega, 2 * inner, half); }) ==
        "hmm_hidden_state_prob: sum of gamma[0] is 2, but must be 1");
  CHECK_THROWS_AS((void)agrad::hmm_hidden_state_prob(MatrixXd(2, 0), inner, half), agrad::ShapeError);
}

TEST_CASE("hidden states: draws have the probabilities of sequences") {
  std::mt19937_64 rng(5);
  const int draws = 20000;
  MatrixXd counts = MatrixXd::Zero(2, 3);
  double changes = 0, expected_changes = 0, likelihood = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const auto states = agrad::hmm_latent_rng(log_omega, inner, half, rng);
    for (Index n = 0; n < 3; ++n) counts(states[static_cast<std::size_t>(n)], n) += 1.0 / draws;
    changes += (states[0] != states[1] ? 1.0 : 0.0) / draws;
  }
  for (int code = 0; code < 8; ++code) {
    double term = 0.5 * std::exp(log_omega(code & 1, 0));
    for (int i = 1; i < 3; ++i) term *= inner(code >> (i - 1) & 1, code >> i & 1) * std::exp(log_omega(code >> i & 1, i));
    likelihood += term;
    if ((code & 1) != (code >> 1 & 1)) expected_changes += term;
  }
  CHECK((counts - agrad::hmm_hidden_state_prob(log_omega, inner, half)).cwiseAbs().maxCoeff() < 0.015);
  CHECK(std::abs(changes - expected_changes / likelihood) < 0.015);
  CHECK(message_of([&] { (void)agrad::hmm_latent_rng(MatrixXd::Constant(2, 1, -inf), inner, half, rng); }) ==
        "hmm_latent_rng: likelihood is 0, but must be positive; no sequence of states is possible");
}

TEST_CASE("algebra_solver and algebra_solver_newton: roots and derivatives") {
  const std::vector<double> x_r{0.5};
  const std::vector<int> x_i{3};
  const auto powell = [&](const auto& theta) {
    const auto y = agrad::algebra_solver(equations(), Eigen::Vector2d(1, 1), theta, x_r, x_i);
    return agrad::promoted_t<decltype(theta)>(y[0] * y[1]);
  };
  const auto newton = [&](const auto& theta) {
    const auto y = agrad::algebra_solver_newton(equations(), Eigen::Vector2d(1, 1), theta, x_r, x_i);
    return agrad::promoted_t<decltype(theta)>(y[0] * y[1]);
  };
  const auto check = [](const auto& f) {  // theta1 theta0 + 1.5 sqrt(theta0)
    double value = 0;
    VectorXd g;
    MatrixXd h;
    agrad::hessian(f, Eigen::Vector2d(4, 0.7), value, g, h);
    CHECK(value == Approx(5.8).epsilon(1e-14));
    CHECK((g - Eigen::Vector2d(1.075, 4)).norm() < 1e-13);
    CHECK((h - (MatrixXd(2, 2) << -0.046875, 1, 1, 0).finished()).norm() < 1e-13);
  };
  check(powell);
  check(newton);
  CHECK(message_of([&] { (void)agrad::algebra_solver(equations(), VectorXd(0), Eigen::Vector2d(1, 1), x_r, x_i); }) ==
        "algebra_solver: the guess is of length 0, but must be of length 1 or more");
}

}  // namespace test_hidden_states
