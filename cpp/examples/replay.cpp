// A banded least-squares problem: the function is recorded once, and the Hessian is sparse.
#include <agrad/replay.hpp>
#include <iostream>

int main() {
  const auto chain = [](const auto& x) {
    using agrad::square;
    std::decay_t<decltype(x[0])> sum = square(x[0] - 1.0);
    for (Eigen::Index i = 1; i < x.size(); ++i) sum += square(x[i] - square(x[i - 1]));
    return sum;
  };
  Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(4, 0.0, 1.5), g;
  auto f = agrad::replayed(chain, x);
  double fx = 0;
  Eigen::SparseMatrix<double> h;
  f.sparse_hessian(x, fx, g, h);
  std::cout << "value " << fx << "\ngradient " << g.transpose() << "\n" << h.nonZeros() << " entries of the Hessian\n";
}
