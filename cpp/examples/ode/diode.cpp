// Gradient through a differential-algebraic system: a rectifier, whose load is switched on while the capacitor holds its
// voltage.
#include <agrad/agrad.hpp>
#include <agrad/dae.hpp>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

// States: the capacitor's voltage, which is differential, and the diode's current, which an equation without derivatives fixes.
const auto rectifier = [](double t, const auto& y, const auto& yp, const auto& p) {
  const auto &voltage = y[0], &current = y[1];
  const auto &capacity = p[0], &resistance = p[1];  // apart from the states, which may be of another type
  const double source = 5 * std::sin(2 * 3.141592653589793 * t), load = t < 0.5 ? 0.0 : 1.0;
  agrad::vector_of<agrad::promoted_t<decltype(y), decltype(p)>> r(2);
  r[0] = capacity * yp[0] - current + load * voltage / 2.0;
  r[1] = current - 1e-3 * (exp((source - voltage - resistance * current) / 0.1) - 1.0);
  return r;
};

int main() {
  const Eigen::VectorXd y0 = Eigen::Vector2d(0, 0), yp0 = Eigen::Vector2d(0, 0);  // of the current a guess
  const agrad::vector_of<agrad::var> p = Eigen::Vector2d(0.2, 0.5).cast<agrad::var>();
  const std::vector<double> times{0.0, 0.25, 0.5, 1.0};

  agrad::dae_options options = agrad::dae_tolerance_options("rectifier", 2, 1e-8, 1e-8, 10000);
  options.tstops = {0.5};  // where the load jumps
  const auto y = agrad::dae_solve(options, rectifier, y0, yp0, 0.0, times, p);

  std::cout << std::fixed << std::setprecision(4);
  for (std::size_t k = 0; k < times.size(); ++k)
    std::cout << "t = " << times[k] << ": voltage " << y[k][0].val() << ", current " << y[k][1].val() << '\n';
  y.back()[0].grad();
  std::cout << "voltage at the end by capacity, resistance: " << p[0].adj() << ' ' << p[1].adj() << '\n';

  try {  // the same with the current in no equation that could fix it
    const auto index2 = [](double t, const auto& z, const auto& zp, const auto& q) {
      agrad::vector_of<agrad::promoted_t<decltype(z), decltype(q)>> r(2);
      r << q[0] * zp[0] - z[1], z[0] - std::sin(t);
      return r;
    };
    agrad::dae_solve(options, index2, y0, yp0, 0.0, times, p);
  } catch (const agrad::SolverError& error) {
    std::cout << error.what() << '\n';
  }
}
