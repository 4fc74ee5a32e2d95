// Standard errors of a fit: the Hessian of the log likelihood of measurements of a decay, at initial amount and rate.
#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

int main() {
  const std::vector<double> times{0.5, 1.0, 2.0, 4.0}, measured{7.8, 6.1, 3.6, 1.4};
  const auto decay = [](double, const auto& y, const auto& rate) { return (-rate * y).eval(); };
  const auto misfit = [&](const auto& x) {  // with measurement errors of 0.1
    const auto y = agrad::ode_tsit5_tol(decay, x.head(1), 0.0, times, 1e-8, 1e-8, 10000, x[1]);
    auto sum = 0 * x[0];
    for (std::size_t k = 0; k < times.size(); ++k) sum += 0.5 * pow((y[k][0] - measured[k]) / 0.1, 2);
    return sum;
  };
  Eigen::VectorXd x = Eigen::Vector2d(9.0, 0.4), gradient;
  Eigen::MatrixXd hessian;
  double value = 0;
  for (int step = 0; step < 6; ++step) {
    agrad::hessian(misfit, x, value, gradient, hessian);
    x -= hessian.llt().solve(gradient);
  }
  const Eigen::MatrixXd covariance = hessian.inverse();
  std::cout << std::setprecision(4) << "amount " << x[0] << " +- " << std::sqrt(covariance(0, 0)) << ", rate " << x[1] << " +- "
            << std::sqrt(covariance(1, 1)) << '\n';
}
