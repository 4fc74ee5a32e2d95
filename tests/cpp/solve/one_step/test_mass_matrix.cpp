// Mass matrices: systems M y' = f in C++, against closed forms, with plain and recorded right-hand sides.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>

#include "solve/systems.hpp"

namespace test_mass_matrix {

using agrad::mass_matrix_of;
using agrad::ode_one_step_method;
using agrad::step_options;
using agrad::var;
using agrad::vector_of;
using doctest::Approx;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using systems::message_of;

namespace {

/// x' = z and 0 = z + k x, with x = x0 exp(-k (t - t0)).
struct constrained_decay {
  template <class T, class Y, class K>
  auto operator()(const T&, const Y& y, const K& k) const {
    using scalar = agrad::promoted_t<Y, K>;
    vector_of<scalar> f(2);
    f << y[1], y[1] + k * y[0];
    return f;
  }
};

/// x' = z and 0 = z - 2 t, with x = x0 + t^2 - t0^2.
struct driven {
  template <class T, class Y>
  auto operator()(const T& t, const Y& y) const {
    vector_of<agrad::promoted_t<T, Y>> f(2);
    f << y[1], y[1] - 2 * t;
    return f;
  }
};

step_options tight(const MatrixXd& mass) {
  step_options options;
  options.states.relative = 1e-11;
  options.states.absolute = VectorXd::Constant(mass.rows(), 1e-11);
  options.mass = mass_matrix_of(mass);
  return options;
}

MatrixXd singular() { return Eigen::Vector2d(1, 0).asDiagonal(); }

const std::vector<ode_one_step_method>& methods() {
  static const std::vector<ode_one_step_method> all{ode_one_step_method::rodas4, ode_one_step_method::rodas5p,
                                                    ode_one_step_method::automatic};
  return all;
}

/// Checks z at the end, -k x0 exp(-k t), as a function of (x0, k), with its gradient and Hessian.
template <class F>
void check_decay(const F& f, ode_one_step_method method) {
  const auto end = [&](const auto& x) {
    using scalar = typename std::decay_t<decltype(x)>::Scalar;
    vector_of<scalar> y0(2);
    y0 << x[0], 7.0;  // z is a guess
    const scalar k = x[1];
    return agrad::ode_solve(tight(singular()), method, f, y0, 0.0, std::vector<double>{1.5}, k).back()[1];
  };
  const double x0 = 0.8, k = 0.6, t = 1.5, decay = std::exp(-k * t);
  double value = 0;
  VectorXd gradient;
  MatrixXd hessian;
  agrad::hessian(end, Eigen::Vector2d(x0, k), value, gradient, hessian);
  CHECK(value == Approx(-k * x0 * decay).epsilon(1e-9));
  CHECK(gradient[0] == Approx(-k * decay).epsilon(1e-9));
  CHECK(gradient[1] == Approx((k * t - 1) * x0 * decay).epsilon(1e-8));
  CHECK(hessian(0, 0) == Approx(0).epsilon(1e-9));
  CHECK(hessian(0, 1) == Approx((k * t - 1) * decay).epsilon(1e-8));
  CHECK(hessian(1, 1) == Approx((2 * t - k * t * t) * x0 * decay).epsilon(1e-7));
  agrad::gradient(end, Eigen::Vector2d(x0, k), value, gradient);
  CHECK(gradient[1] == Approx((k * t - 1) * x0 * decay).epsilon(1e-8));
}

}  // namespace

TEST_CASE("a constrained system has the gradient and the Hessian of its closed form") {
  for (const ode_one_step_method method : methods()) {
    check_decay(constrained_decay(), method);
    check_decay(agrad::recorded(constrained_decay()), method);
  }
}

TEST_CASE("times of a constrained system have derivatives") {
  const auto check = [](const auto& f) {
    const auto loss = [&](const vector_of<var>& t) {
      const auto y = agrad::ode_solve(tight(singular()), ode_one_step_method::rodas5p, f, Eigen::Vector2d(3, 0), var(t[0]),
                                      std::vector<var>{t[1]});
      return var(y[0][0] + 10 * y[0][1]);
    };
    double value = 0;
    VectorXd gradient;
    agrad::gradient(loss, Eigen::Vector2d(0.5, 1.5), value, gradient);
    CHECK(value == Approx(3 + 2.25 - 0.25 + 30).epsilon(1e-10));
    CHECK(gradient[0] == Approx(-1).epsilon(1e-8));
    CHECK(gradient[1] == Approx(3 + 20).epsilon(1e-8));
  };
  check(driven());
  check(agrad::recorded(driven()));
}

TEST_CASE("a regular mass matrix with bands gives the solution of the system without it, by all linear algebra") {
  constexpr Eigen::Index n = 40;
  MatrixXd mass = MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    mass(i, i) = 4;
    if (i > 0) mass(i, i - 1) = mass(i - 1, i) = 1;
  }
  const MatrixXd inverse = mass.inverse();
  const auto diffuse = [](double, const auto& y, const auto& k) {
    using scalar = agrad::promoted_t<std::decay_t<decltype(y)>, std::decay_t<decltype(k)>>;
    vector_of<scalar> f(y.size());
    for (Eigen::Index i = 0; i < y.size(); ++i) {
      f[i] = -2 * k * y[i];
      if (i > 0) f[i] += k * y[i - 1];
      if (i + 1 < y.size()) f[i] += k * y[i + 1];
    }
    return f;
  };
  const auto alone = [&](double t, const auto& y, const auto& k) {
    const auto f = diffuse(t, y, k);
    return vector_of<typename decltype(f)::Scalar>(inverse * f);
  };
  const VectorXd y0 = VectorXd::LinSpaced(n, 0, 1).array().sin();
  const auto gradient_of = [&](const step_options& options, const auto& f) {
    const auto loss = [&](const vector_of<var>& k) {
      const std::vector<double> times{0.4};
      return agrad::ode_solve(options, ode_one_step_method::rodas5p, f, y0, 0.0, times, var(k[0]))[0].squaredNorm();
    };
    double value = 0;
    VectorXd gradient;
    agrad::gradient(loss, VectorXd::Constant(1, 1.7), value, gradient);
    return Eigen::Vector2d(value, gradient[0]);
  };
  step_options plain = tight(mass);
  plain.mass.reset();
  const Eigen::Vector2d expected = gradient_of(plain, alone);
  for (const auto kind : {agrad::ode_algebra_kind::dense, agrad::ode_algebra_kind::banded, agrad::ode_algebra_kind::sparse}) {
    step_options options = tight(mass);
    options.algebra.kind = kind;
    options.algebra.bandwidths = agrad::half_bandwidths{1, 1};
    const Eigen::Vector2d found = gradient_of(options, diffuse);
    CHECK(found[0] == Approx(expected[0]).epsilon(1e-9));
    CHECK(found[1] == Approx(expected[1]).epsilon(1e-8));
  }
}

TEST_CASE("doses of a constrained system move its algebraic states") {
  const auto end = [](const vector_of<var>& x) {
    const std::vector<agrad::ode_dose<var>> doses{{0.6, 0, x[0]}};
    const auto solution = agrad::ode_solve_events(tight(singular()), ode_one_step_method::rodas5p, doses, std::tuple<>(), {},
                                                  agrad::recorded(constrained_decay()), Eigen::Vector2d(0.9, 0), 0.0,
                                                  std::vector<double>{0.6, 1.7}, var(x[1]));
    CHECK(solution.states[0][1].val() == Approx(-1.1 * (0.9 * std::exp(-0.66) + 0.5)).epsilon(1e-10));
    return var(solution.states[1][1]);
  };
  double value = 0;
  VectorXd gradient;
  agrad::gradient(end, Eigen::Vector2d(0.5, 1.1), value, gradient);
  const double x = 0.9 * std::exp(-1.87) + 0.5 * std::exp(-1.21),
               by_k = -1.7 * 0.9 * std::exp(-1.87) - 1.1 * 0.5 * std::exp(-1.21);
  CHECK(value == Approx(-1.1 * x).epsilon(1e-10));
  CHECK(gradient[0] == Approx(-1.1 * std::exp(-1.21)).epsilon(1e-9));
  CHECK(gradient[1] == Approx(-x - 1.1 * by_k).epsilon(1e-8));
}

TEST_CASE("what cannot be solved with a mass matrix is refused by name") {
  const auto solve = [](const step_options& options, ode_one_step_method method) {
    return message_of([&] {
      agrad::ode_solve(options, method, constrained_decay(), Eigen::Vector2d(1, 0), 0.0, std::vector<double>{1.0}, 1.0);
    });
  };
  CHECK(solve(tight(singular()), ode_one_step_method::tsit5) ==
        "ode_solve: mass_matrix is given, but must be absent for this method; choose Rodas5P or Rodas4");
  step_options options = tight(singular());
  options.mass = mass_matrix_of(MatrixXd::Identity(3, 3));
  CHECK(solve(options, ode_one_step_method::rodas4) ==
        "ode_solve: mass_matrix is of shape 3 x 3, but must be of shape 2 x 2; a row and a column for each state");
  options.mass = mass_matrix_of(MatrixXd::Constant(2, 2, std::nan("")));
  CHECK(solve(options, ode_one_step_method::rodas4) == "ode_solve: mass_matrix[0, 0] is nan, but must be finite");
  const auto with_events = [](const auto& f) {
    return message_of([&] {
      const std::vector<agrad::ode_dose<double>> doses{{0.5, 0, 1.0}};
      agrad::ode_solve_events(tight(singular()), ode_one_step_method::rodas5p, doses, std::tuple<>(), {}, f,
                              Eigen::Vector2d(1, 0), 0.0, std::vector<double>{1.0});
    });
  };
  CHECK(
      with_events(driven()) ==
      "ode_solve_events: f is without a derivative with respect to t, but must be with one where the mass matrix is singular; "
      "pass agrad::recorded(f)");
  CHECK(with_events(agrad::recorded(driven())) == "nothing was thrown");
}

}  // namespace test_mass_matrix
