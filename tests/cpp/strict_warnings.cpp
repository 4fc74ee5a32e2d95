// Calls that must compile without the warnings of users' strict builds, where agrad's headers are found by -I.
#include <agrad/agrad.hpp>
#include <agrad/constraints.hpp>
#include <agrad/gaussian_processes.hpp>
#include <agrad/probability.hpp>
#include <agrad/random.hpp>
#include <agrad/stan.hpp>
#include <agrad/testing.hpp>
#include <random>
#include <vector>

using agrad::var;

void functionals(const Eigen::VectorXd& x, const Eigen::VectorXd& weights) {
  double fx = 0;
  Eigen::VectorXd g, values;
  Eigen::MatrixXd matrix;
  std::vector<Eigen::MatrixXd> third;
  const auto f = [](const auto& z) { return exp(z[0]) * sin(z[1]) + pow(z[0], 2) + log(z[1]) / z[0]; };
  agrad::gradient(f, x, fx, g);
  agrad::hessian(f, x, fx, g, matrix);
  agrad::grad_hessian(f, x, fx, matrix, third);
  agrad::hessian_times_vector(f, x, x, fx, g);
  agrad::partial_derivative(f, x, 0, fx, fx);
  agrad::jacobian(f, x, values, matrix);
  agrad::jvp(f, x, x, values, g);
  agrad::vjp(f, x, weights, values, g);
  agrad::expect_gradient(f, x);
}

void statements(const std::vector<double>& y, const std::vector<int>& counts, std::mt19937_64& rng) {
  const agrad::matrix<var> a(Eigen::MatrixXd::Identity(2, 2));
  var s = sum(a * a) + 1.0F;
  s += 2;
  s *= agrad::normal_rng(0.0, 1.0, rng) + static_cast<double>(agrad::poisson_rng(2.0, rng));
  s -= agrad::normal_lpdf(y, s, 1.0) + agrad::poisson_log_lpmf(counts, s) + agrad::student_t_lpdf(y, 3.0, s, 1.0);
  s.grad();
}
