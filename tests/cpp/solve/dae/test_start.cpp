// The differential states and the consistent start of a DAE, without an integration, against closed forms.
#include <doctest/doctest.h>

#include <agrad/solve/dae/start.hpp>
#include <agrad/solve/system/functor/dae.hpp>

#include "dae_systems.hpp"

namespace test_dae_start {

using agrad::start_dae;
using namespace dae_systems;
using doctest::Approx;

TEST_CASE("the start of a system with an algebraic state") {
  const Eigen::VectorXd k = vec(0.5, 3.0), none = Eigen::VectorXd::Zero(2);
  agrad::detail::functor_dae<square, Eigen::VectorXd> system("start", square{}, 2, k);
  agrad::dae_options o = options(2, 1e-8);
  const auto s = start_dae("start", system, o, vec(2.0, 0.1), none, 0.0);
  CHECK(s.q == Eigen::MatrixXd::Identity(2, 1));
  CHECK(s.y[0] == 2);
  CHECK(s.y[1] == Approx(12).epsilon(1e-12));
  CHECK(s.yp[0] == Approx(-1).epsilon(1e-12));
  o.initial = agrad::dae_initial::derivatives;
  CHECK(start_dae("start", system, o, vec(2.0, 0.1), vec(-0.25, 0.0), 0.0).y[1] == Approx(0.75).epsilon(1e-12));
  o.initial = agrad::dae_initial::consistent;
  CHECK_THROWS_WITH_AS(start_dae("start", system, o, vec(2.0, 0.1), none, 0.0), doctest::Contains("start: the residual at t0"),
                       agrad::DomainError);
}

TEST_CASE("the differential part where derivatives occur in combinations") {
  const Eigen::VectorXd p = Eigen::VectorXd::Constant(4, 1.5);
  agrad::detail::functor_dae<capacitor, Eigen::VectorXd> system("start", capacitor{}, 2, p);
  const auto s = start_dae("start", system, options(2, 1e-8), vec(1.0, 0.5), Eigen::VectorXd::Zero(2), 0.0);
  REQUIRE(s.q.cols() == 1);
  CHECK(s.q(0, 0) == Approx(-s.q(1, 0)).epsilon(1e-15));
  CHECK(s.y[0] - s.y[1] == Approx(0.5).epsilon(1e-12));
  CHECK((s.y[0] - 1.5) / 1.5 + s.y[1] / 1.5 == Approx(0).epsilon(1e-12));
}

}  // namespace test_dae_start
