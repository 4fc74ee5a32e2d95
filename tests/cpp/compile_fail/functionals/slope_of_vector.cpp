// The derivative of a vector function along a direction is jvp's.
// expect: f returns a vector, but must return one number here
#include <agrad/functionals/products.hpp>

void wrong(const Eigen::VectorXd& x, double& slope) {
  double fx = 0;
  agrad::gradient_dot_vector([](const auto& z) { return z; }, x, x, fx, slope);
}
