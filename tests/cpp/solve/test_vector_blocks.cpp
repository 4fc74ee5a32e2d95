// Parts of vectors (head, tail, segment) as initial states and arguments of solvers.
#include <doctest/doctest.h>
#include <agrad/ode.hpp>

namespace test_solve_vector_blocks {

using namespace agrad;

TEST_CASE("parts of vectors are arguments of solvers") {
  const scope own;
  const Eigen::VectorXd d = Eigen::Vector3d(2.0, 0.3, 0.7);
  const vector_of<var> v = d.cast<var>();
  const auto f = [](double, const auto& y, const auto& k) { return (-k[1] * y).eval(); };
  const std::vector<double> times{1.0};
  CHECK(ode_rk45(f, d.head(1), 0.0, times, d.tail(2))[0][0] == doctest::Approx(2 * std::exp(-0.7)).epsilon(1e-5));
  const auto y = ode_rk45(f, d.head(1), 0.0, times, v.tail(2));
  y[0][0].grad();
  CHECK(v[2].adj() == doctest::Approx(-2 * std::exp(-0.7)).epsilon(1e-4));
  CHECK(v[1].adj() == 0);
}

}  // namespace test_solve_vector_blocks
