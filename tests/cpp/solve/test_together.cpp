// All public headers in one file, and the check of gradients on a loss through a solve.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>
#include <agrad/testing.hpp>
#include <type_traits>
#include <vector>

namespace test_together {

namespace {

/// Sum of squares of a decay at two times; its rate is the last of the variables, the states before it start it.
struct decay_loss {
  template <class T, class = std::enable_if_t<std::is_same_v<T, double> || std::is_same_v<T, agrad::var>>>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    const auto f = [](double, const auto& y, const auto& rate) { return (-rate * y).eval(); };
    const Eigen::Matrix<T, Eigen::Dynamic, 1> start = x.head(x.size() - 1);
    const auto y = agrad::ode_tsit5_tol(f, start, 0.0, std::vector<double>{0.5, 1.5}, 1e-12, 1e-12, 10000, x[x.size() - 1]);
    T sum = 0;
    for (const auto& state : y) sum += state.squaredNorm();
    return sum;
  }
};

}  // namespace

TEST_CASE("a loss through a solve passes the check of gradients that users have") {
  const agrad::gradient_report report = agrad::check_gradient(decay_loss(), Eigen::Vector3d(1.0, 2.0, 0.6));
  INFO(report.message);
  CHECK(report.ok);
}

}  // namespace test_together
