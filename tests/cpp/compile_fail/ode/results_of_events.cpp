// The root of an event is a number and the state after it a vector; another result does not compile.
// expect: the root of an event returns a number.*the reset of an event returns the state after the event, a vector
#include <agrad/ode.hpp>

void wrong() {
  const auto f = [](double, const auto& y) { return (-y).eval(); };
  const auto state = [](double, const auto& y) { return (2.0 * y).eval(); };
  const auto number = [](double, const auto& y) { return y[0] - 0.5; };
  const Eigen::VectorXd y0 = Eigen::VectorXd::Ones(1);
  const std::vector<agrad::ode_dose<>> doses;
  agrad::ode_solve_events(agrad::step_options(), agrad::ode_one_step_method::tsit5, doses, std::tuple(agrad::ode_event{state}),
                          {}, f, y0, 0.0, {1.0});
  agrad::ode_solve_events(agrad::step_options(), agrad::ode_one_step_method::tsit5, doses,
                          std::tuple(agrad::ode_event{number, number}), {}, f, y0, 0.0, {1.0});
}
