// Uses agrad::ode: y' = -k y from y(0) = 1, whose sensitivity dy/dk = -t exp(-k t) is known.
#include <agrad/ode.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  const auto decay = [](double, const auto& y, const auto& k) { return (-(k * y)).eval(); };
  const Eigen::VectorXd y0 = Eigen::VectorXd::Ones(1);
  const std::vector<double> times{0.5, 2.0};
  agrad::var k = 0.7;
  const auto y = agrad::ode_adjoint_tol(decay, y0, 0.0, times, 1e-10, 1e-12, 10000, k);
  agrad::var last = y[1](0);
  last.grad();
  std::printf("y(2) = %.10g, dy(2)/dk = %.10g\n", last.val(), k.adj());
  const double truth = std::exp(-1.4);
  return std::abs(last.val() - truth) < 1e-8 && std::abs(k.adj() + 2 * truth) < 1e-7 ? 0 : 1;
}
