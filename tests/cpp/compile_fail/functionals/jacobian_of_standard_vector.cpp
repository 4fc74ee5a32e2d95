// Results are vectors of Eigen's.
// expect: f returns a std::vector or std::array, but must return a vector of Eigen's
#include <agrad/functionals/gradient.hpp>
#include <vector>

void wrong(const Eigen::VectorXd& x, Eigen::VectorXd& fx, Eigen::MatrixXd& J) {
  agrad::reverse_jacobian([](const auto& z) { return std::vector<agrad::var>{z[0], z[1]}; }, x, fx, J);
}
