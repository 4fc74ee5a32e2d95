// Times value and gradient of one problem by one method at one tolerance:
//
//     benchmark_ode DIRECTORY PROBLEM METHOD TOLERANCE      prints milliseconds, the loss, the gradient
//
// Methods: by-hand-dense, by-hand-banded, by-hand-adams (CVODES, by_hand.hpp); tsit5, dop853, rodas4, rodas4-banded, auto, and
// ode_adjoint_tol_ctl as bdf and adams (agrad, the right-hand side being a functor); recorded-tsit5 and so on the same with a
// recorded one. The time is the quickest of nine batches of 20 ms or one call.
#include <agrad/ode.hpp>
#include <chrono>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>

#include "by_hand.hpp"

namespace ode_bench {

using gradient_function = std::function<double(Eigen::VectorXd&)>;

double quickest(const gradient_function& call, Eigen::VectorXd& gradient) {
  using clock = std::chrono::steady_clock;
  const auto milliseconds = [&](int count) {
    const auto start = clock::now();
    for (int i = 0; i < count; ++i) call(gradient);
    return std::chrono::duration<double, std::milli>(clock::now() - start).count() / count;
  };
  const int count = std::max(1, static_cast<int>(20 / std::max(milliseconds(1), 1e-3)));
  double best = milliseconds(count);
  for (int batch = 0; batch < 8; ++batch) best = std::min(best, milliseconds(count));
  return best;
}

/// The loss of what `solve(p, y0)` gives, and its gradient, by agrad's tape.
template <class Solve>
double loss_on_tape(const problem& q, const Solve& solve, Eigen::VectorXd& gradient) {
  using agrad::var;
  const agrad::scope scope;
  vector_of<var> p = q.p.cast<var>(), y0 = q.y0.cast<var>();
  const auto states = [&] {
    if (q.with_initial_state) return solve(p, y0);
    return solve(p, q.y0);
  }();
  var loss = 0;
  for (std::size_t k = 0; k < states.size(); ++k) {
    const auto column = q.data.col(static_cast<Eigen::Index>(k));
    for (Eigen::Index i = 0; i < q.states; ++i) loss += square(q.scale[i] * (states[k][i] - column[i]));
  }
  loss.grad();
  for (Eigen::Index j = 0; j < q.parameters; ++j) gradient[j] = p[j].adj();
  if (q.with_initial_state)
    for (Eigen::Index i = 0; i < q.states; ++i) gradient[q.parameters + i] = y0[i].adj();
  return loss.val();
}

template <class F>
gradient_function one_step(const F& f, int bandwidth, const problem& q, agrad::ode_one_step_method method, double tolerance,
                           bool banded) {
  agrad::step_options options;
  options.states.relative = tolerance;
  options.states.absolute = Eigen::VectorXd::Constant(q.states, q.absolute_tolerance(tolerance));
  if (banded) options.algebra.bandwidths = agrad::half_bandwidths{bandwidth, bandwidth};
  return [=, &q](Eigen::VectorXd& gradient) {
    const auto solve = [&](const auto& p, const auto& y0) { return agrad::ode_solve(options, method, f, y0, 0.0, q.times, p); };
    return loss_on_tape(q, solve, gradient);
  };
}

/// The RFC's function with the settings that by_hand.hpp has.
template <class F>
gradient_function adjoint(const F& f, const problem& q, int method, double tolerance) {
  const Eigen::VectorXd forward = Eigen::VectorXd::Constant(q.states, q.absolute_tolerance(tolerance)),
                        backward = Eigen::VectorXd::Constant(q.states, tolerance);
  return [=, &q](Eigen::VectorXd& gradient) {
    const auto solve = [&](const auto& p, const auto& y0) {
      return agrad::ode_adjoint_tol_ctl(f, y0, 0.0, q.times, tolerance, forward, tolerance, backward, tolerance, tolerance,
                                        2000000, steps_between_checkpoints, 1, method, method, p);
    };
    return loss_on_tape(q, solve, gradient);
  };
}

template <class F>
gradient_function by_agrad(const std::string& method, const F& f, int bandwidth, const problem& q, double tolerance) {
  using name = agrad::ode_one_step_method;
  if (method == "tsit5") return one_step(f, bandwidth, q, name::tsit5, tolerance, false);
  if (method == "dop853") return one_step(f, bandwidth, q, name::dop853, tolerance, false);
  if (method == "rodas4") return one_step(f, bandwidth, q, name::rodas4, tolerance, false);
  if (method == "rodas4-banded") return one_step(f, bandwidth, q, name::rodas4, tolerance, true);
  if (method == "auto") return one_step(f, bandwidth, q, name::automatic, tolerance, false);
  if (method == "adams") return adjoint(f, q, 1, tolerance);
  if (method == "bdf") return adjoint(f, q, 2, tolerance);
  throw std::invalid_argument("no method " + method);
}

template <class System>
gradient_function function_named(const std::string& method, const System& f, const problem& q, double tolerance) {
  using name = agrad::ode_one_step_method;
  for (const auto& [text, kind] :
       {std::pair{"by-hand-dense", variant::dense}, {"by-hand-banded", variant::banded}, {"by-hand-adams", variant::adams}}) {
    if (method != text) continue;
    const auto solver = std::make_shared<by_hand<System>>(f, q, kind, tolerance);
    return [solver](Eigen::VectorXd& gradient) { return (*solver)(gradient); };
  }
  const std::string mark = "recorded-";
  if (method.rfind(mark, 0) == 0)
    return by_agrad(method.substr(mark.size()), agrad::recorded(f), System::bandwidth, q, tolerance);
  return by_agrad(method, f, System::bandwidth, q, tolerance);
}

int run(const std::string& directory, const std::string& name, const std::string& method, double tolerance) {
  const problem q = read_problem(directory, name);
  return with_system(q, [&](const auto& f) {
    Eigen::VectorXd gradient(q.parameters + (q.with_initial_state ? q.states : 0));
    const gradient_function call = function_named(method, f, q, tolerance);
    const double loss = call(gradient), milliseconds = quickest(call, gradient);
    std::cout << std::setprecision(17) << milliseconds << '\n' << loss << '\n' << gradient.transpose() << '\n';
    return 0;
  });
}

}  // namespace ode_bench

int main(int count, char** words) {
  if (count != 5) {
    std::cerr << "usage: benchmark_ode DIRECTORY PROBLEM METHOD TOLERANCE\n";
    return 2;
  }
  try {
    return ode_bench::run(words[1], words[2], words[3], std::stod(words[4]));
  } catch (const std::exception& error) {
    std::cerr << "benchmark_ode: " << error.what() << '\n';
    return 1;
  }
}
