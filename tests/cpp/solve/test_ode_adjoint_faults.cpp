// Faults of ode_adjoint_tol_ctl and ode_adjoint_tol: bad input, exceptions from f, the tape afterwards.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>

#include "solve/systems.hpp"

namespace test_ode_adjoint_faults {

using agrad::ode_adjoint_tol;
using agrad::ode_adjoint_tol_ctl;
using agrad::scope;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using systems::message_of;

namespace {

/// y' = -k y.
struct decay {
  template <class Y, class K>
  auto operator()(double, const Y& y, const K& k) const {
    return (-(k * y)).eval();
  }
};

/// y' = k (cos(rate t) - y), where the rate may change between two calls for the same arguments.
struct fickle {
  static inline double rate = 1;
  template <class Y, class K>
  auto operator()(double t, const Y& y, const K& k) const {
    auto slope = (-(k * y)).eval();
    for (Eigen::Index i = 0; i < slope.size(); ++i) slope[i] += k * std::cos(rate * t);
    return slope;
  }
};

}  // namespace

TEST_CASE("bad input speaks in the grammar, with doubles and with variables") {
  const Eigen::Vector2d y0(1, 2);
  const Eigen::VectorXd each = Eigen::VectorXd::Constant(2, 1e-6);
  const auto of = [&](const std::function<void(double)>& passive, const std::function<void(var)>& active) {
    const scope own;
    const std::string message = message_of([&] { passive(0.5); });
    CHECK(message_of([&] { active(var(0.5)); }) == message);
    return message;
  };
  const auto tol = [&](double relative, double absolute, long steps, const std::vector<double>& times) {
    const auto solve = [=](const auto& k) { ode_adjoint_tol(decay{}, y0, 0.0, times, relative, absolute, steps, k); };
    return of(solve, solve);
  };
  CHECK(tol(std::nan(""), 1e-6, 10, {1}) == "ode_adjoint_tol: relative_tolerance is nan, but must be positive and finite");
  CHECK(tol(1e-6, 0, 10, {1}) == "ode_adjoint_tol: absolute_tolerance is 0, but must be positive and finite");
  CHECK(tol(1e-6, 1e-6, 0, {1}) == "ode_adjoint_tol: max_num_steps is 0, but must be positive");
  CHECK(tol(1e-6, 1e-6, 10, {2, 1}) ==
        "ode_adjoint_tol: times[1] is 1, but must be greater than times[0] = 2; times must increase strictly");
  CHECK(tol(1e-9, 1e-9, 3, {50}).find("ode_adjoint_tol: stopped at t = ") == 0);

  const auto ctl = [&](const Eigen::VectorXd& forward, const Eigen::VectorXd& backward, long checkpoints, int interpolation,
                       int method) {
    const auto solve = [=](const auto& k) {
      ode_adjoint_tol_ctl(decay{}, y0, 0.0, std::vector<double>{1}, 1e-6, forward, 1e-6, backward, 1e-6, 1e-6, 100, checkpoints,
                          interpolation, 1, method, k);
    };
    return of(solve, solve);
  };
  CHECK(ctl(Eigen::VectorXd::Ones(1), each, 10, 1, 1) ==
        "ode_adjoint_tol_ctl: absolute_tolerance_forward is of length 1, but must be of length 2; one for each state");
  CHECK(ctl(each, -each, 10, 1, 1) ==
        "ode_adjoint_tol_ctl: absolute_tolerance_backward[0] is -1e-06, but must be positive and finite");
  CHECK(ctl(each, each, 0, 1, 1) == "ode_adjoint_tol_ctl: num_steps_between_checkpoints is 0, but must be positive");
  CHECK(ctl(each, each, 1, 3, 1) ==
        "ode_adjoint_tol_ctl: interpolation_polynomial is 3, but must be 1 (Hermite) or 2 (polynomial)");
  CHECK(ctl(each, each, 1, 1, 3) == "ode_adjoint_tol_ctl: solver_backward is 3, but must be 1 (Adams) or 2 (BDF)");

  const auto longer = [](double, const auto& y, const auto& k) {
    return vector_of<agrad::promoted_t<decltype(y), decltype(k)>>::Constant(3, k * y[0]).eval();
  };
  CHECK(message_of([&] { ode_adjoint_tol(longer, y0, 0.0, std::vector<double>{1}, 1e-6, 1e-6, 100, 1.0); }) ==
        "ode_adjoint_tol: the result of f is of length 3, but must be of length 2; one for each state");
}

TEST_CASE("what f throws comes out unchanged, forwards and in the reverse pass, and the tape goes on") {
  struct refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  bool refuse = true;
  const auto f = [&](double t, const auto& y, const auto& k) {
    if (refuse && t > 0.5) throw refusal("not beyond one half");
    return (-(k * y)).eval();
  };
  const scope own;
  const var k = 0.5;
  const vector_of<var> y0 = Eigen::VectorXd::Ones(1).cast<var>();
  const auto solve = [&] { return ode_adjoint_tol(f, y0, 0.0, std::vector<double>{1}, 1e-8, 1e-8, 1000, k)[0][0]; };
  const auto before = agrad::tape::current().statistics();
  CHECK_THROWS_WITH_AS(solve(), "not beyond one half", refusal);
  CHECK(agrad::tape::current().statistics().indices == before.indices);
  CHECK(agrad::tape::current().statistics().closures == before.closures);
  refuse = false;
  const var y = solve();
  refuse = true;
  CHECK_THROWS_WITH_AS(y.grad(), "not beyond one half", refusal);
  refuse = false;
  y.grad();
  CHECK(k.adj() == Approx(-std::exp(-0.5)).epsilon(1e-6));
}

TEST_CASE("forward steps that the reverse pass cannot repeat are an error: CVODES would write behind its memory") {
  const Eigen::VectorXd y0 = Eigen::VectorXd::Constant(2, 0.5), each = Eigen::VectorXd::Constant(2, 1e-8);
  for (const int interpolation : {1, 2}) {
    const scope own;
    const var k = 1.0;
    fickle::rate = 1;
    var end = ode_adjoint_tol_ctl(fickle{}, y0, 0.0, std::vector<double>{20.0}, 1e-8, each, 1e-8, each, 1e-8, 1e-8, 100000, 10,
                                  interpolation, 2, 2, k)[0][0];
    fickle::rate = 3;
    const std::string message = message_of([&] { end.grad(); });
    CHECK_MESSAGE(message.find("ode_adjoint_tol_ctl: the reverse pass stopped at t = ") == 0, message);
    CHECK_MESSAGE(message.find("(NOT_REPEATABLE); the forward solution took more steps when it was computed again; the "
                               "right-hand side must return the same values for the same arguments") != std::string::npos,
                  message);
  }
  fickle::rate = 1;
}

TEST_CASE("solves in a loop leave the tape as it was") {
  const scope outer;
  const var k = 0.5;
  std::size_t reserved = 0;
  for (int i = 0; i < 50; ++i) {
    const scope own;
    const vector_of<var> y0 = Eigen::VectorXd::Ones(3).cast<var>();
    const auto y = ode_adjoint_tol(decay{}, y0, 0.0, std::vector<double>{1, 2}, 1e-6, 1e-6, 1000, k);
    y[1][2].grad();
    if (i == 10) reserved = agrad::tape::current().statistics().bytes_reserved;
  }
  CHECK(agrad::tape::current().statistics().bytes_reserved == reserved);
}

}  // namespace test_ode_adjoint_faults
