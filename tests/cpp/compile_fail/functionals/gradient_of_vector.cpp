// A vector function has no gradient.
// expect: f returns a vector, but must return one number here
#include <agrad/functionals/gradient.hpp>

void wrong(const Eigen::VectorXd& x, Eigen::VectorXd& g) {
  double fx = 0;
  agrad::gradient([](const auto& z) { return z.cwiseProduct(z); }, x, fx, g);
}
