// Gradient through a differential equation: how the hares after ten years depend on rates and initial populations.
#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>
#include <iomanip>
#include <iostream>
#include <vector>

// The right-hand side is templated on its scalars: the solver calls it with doubles, duals and tape variables.
const auto growth = [](double, const auto& z, const auto& rate) {
  const auto &hare = z[0], &lynx = z[1];
  agrad::vector_of<agrad::promoted_t<decltype(z), decltype(rate)>> dz(2);
  dz << (rate[0] - rate[1] * lynx) * hare, (rate[3] * hare - rate[2]) * lynx;
  return dz;
};

int main() {
  const agrad::vector_of<agrad::var> z0 = Eigen::Vector2d(34, 5.9).cast<agrad::var>();
  const std::vector<agrad::var> rate{0.55, 0.028, 0.80, 0.024};
  const std::vector<double> years{5.0, 10.0};

  const auto z = agrad::ode_adjoint_tol(growth, z0, 0.0, years, 1e-10, 1e-10, 10000, rate);

  std::cout << std::setprecision(5);
  for (std::size_t k = 0; k < years.size(); ++k)
    std::cout << "after " << years[k] << " years: " << z[k][0].val() << " hares, " << z[k][1].val() << " lynxes\n";
  z.back()[0].grad();
  std::cout << "hares by alpha, beta, gamma, delta:";
  for (const agrad::var& r : rate) std::cout << ' ' << r.adj();
  std::cout << "\nhares by initial hares, lynxes: " << z0[0].adj() << ' ' << z0[1].adj() << '\n';
}
