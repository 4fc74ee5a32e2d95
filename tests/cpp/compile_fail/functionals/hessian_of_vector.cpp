// A vector function has no Hessian.
// expect: f returns a vector, but must return one number here
#include <agrad/functionals/hessian.hpp>

void wrong(const Eigen::VectorXd& x, Eigen::VectorXd& g, Eigen::MatrixXd& H) {
  double fx = 0;
  agrad::hessian([](const auto& z) { return (2.0 * z).eval(); }, x, fx, g, H);
}
