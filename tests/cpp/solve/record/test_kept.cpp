// Solves in kept programs: with their systems and options they come back with the same bits, and damaged ones never crash.
#include <doctest/doctest.h>

#include <agrad/ode.hpp>
#include <agrad/program/loops/parallel.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/solve/record/dae_problem.hpp>
#include <agrad/solve/record/event_problem.hpp>
#include <agrad/solve/record/ode_problem.hpp>
#include <agrad/solve/record/solve_operation.hpp>
#include <agrad/solve/record/steady_problem.hpp>
#include <memory>
#include <string>
#include <vector>

#include "pickle_fuzz.hpp"
#include "recording.hpp"

namespace test_kept_solves {

namespace kernels = agrad::kernels;
using agrad::portable_reader;
using agrad::recorder;
using agrad::slot;
using kept_fuzz::everything;
using kept_fuzz::is_same;
using kept_fuzz::numbers;
using recording::record;
using recording::slots;
using shared_program = std::shared_ptr<const agrad::program>;

namespace {

/// Makers that write themselves, by a one-step method or by CVODES.
struct step_maker {
  int method;
  agrad::step_options options;
  std::unique_ptr<agrad::ode_solver> operator()(const std::string& f, agrad::ode_system& system,
                                                agrad::ode_required required) const {
    return make_one_step_solver(static_cast<agrad::ode_one_step_method>(method), f, system, options, required);
  }
  void write(agrad::portable_writer& to) const { to(true, method, options); }
};
struct adjoint_maker {
  agrad::ode_adjoint_options options;
  std::unique_ptr<agrad::ode_solver> operator()(const std::string& f, agrad::ode_system& system,
                                                agrad::ode_required required) const {
    return std::make_unique<agrad::cvodes_adjoint>(f, system, options, required);
  }
  void write(agrad::portable_writer& to) const { to(false, options); }
};
agrad::ode_maker read_maker(portable_reader& from) {
  bool is_step = false;
  from(is_step);
  if (is_step) {
    step_maker make{};
    from(make.method, make.options);
    return make;
  }
  adjoint_maker make{};
  from(make.options);
  return make;
}

const kept_fuzz::names& names() {
  static const kept_fuzz::names all(
      {{"ode", [](portable_reader& from) { return agrad::solve_operation::read<agrad::ode_problem>(from, read_maker); }},
       {"events", [](portable_reader& from) { return agrad::solve_operation::read<agrad::event_problem>(from, read_maker); }},
       {"dae", agrad::solve_operation::read<agrad::dae_problem>},
       {"steady",
        [](portable_reader& from) {
          return agrad::solve_operation::read<agrad::steady_problem<>>(from, [](const std::string&) { return nullptr; });
        }},
       {"parallel", agrad::parallel_operation::read}});
  return all;
}

/// A program of n inputs; body(recorder, input slots, each as one) gives its outputs.
template <class Body>
shared_program recorded(std::size_t n, const Body& body) {
  recorder r;
  const numbers at(n, 0.7);
  std::vector<slots> x;
  for (const slot each : recording::range(r.input(at.data(), n), n)) x.push_back({each});
  return schedule(r, body(r, x));
}
slots times(recorder& r, const slots& a, const slots& b) { return record<agrad::multiply_rule>(r, a, b); }
slots minus(recorder& r, const slots& a, const slots& b) { return record<agrad::subtract_rule>(r, a, b); }

/// Of t, y0, y1, p0, p1: (p1 - p0 y0, t y0 - y1).
shared_program slope() {
  return recorded(5, [](recorder& r, const std::vector<slots>& x) {
    return slots{minus(r, x[4], times(r, x[3], x[1]))[0], minus(r, times(r, x[0], x[1]), x[2])[0]};
  });
}

Eigen::VectorXd each_of(Eigen::Index n, double x) { return Eigen::VectorXd::Constant(n, x); }
step_maker by_steps(agrad::ode_one_step_method method) {
  agrad::step_options options;
  options.states.absolute = each_of(2, 1e-6);
  return {static_cast<int>(method), options};
}
adjoint_maker by_adjoints() { return {agrad::tolerance_options("solve", 2, 1e-6, 1e-6, 10000)}; }

template <class Operation>
shared_program program_with(const std::shared_ptr<Operation>& f, const numbers& x, std::size_t results, std::size_t used) {
  recorder r;
  const slot first = r.input(x.data(), x.size());
  const slots y = recording::range(r.apply(f, r.consecutive(first, x.size()), results, true), used);
  return schedule(r, record<agrad::sin_rule>(r, y));
}

struct problem {
  shared_program f;
  numbers x;
};
std::shared_ptr<agrad::solve_operation> solve_of(std::shared_ptr<const agrad::recorded_problem> f) {
  return std::make_shared<agrad::solve_operation>(std::move(f));
}
template <class Operation>
problem problem_of(const std::shared_ptr<Operation>& f, const numbers& x) {
  return {program_with(f, x, f->output_size(), f->output_size()), x};
}

std::shared_ptr<agrad::solve_operation> initial_value(const agrad::ode_maker& make) {
  agrad::ode_problem::fields fields{{"solve", slope(), 2, 2}, {true, true, true}};
  return solve_of(std::make_shared<agrad::ode_problem>(fields, make));
}

problem events() {
  const auto root = recorded(4, [](recorder& r, const std::vector<slots>& x) { return minus(r, x[1], times(r, x[3], x[0])); });
  const auto reset = recorded(3, [](recorder& r, const std::vector<slots>& x) {
    return slots{times(r, x[1], x[2])[0], x[2][0]};
  });
  agrad::event_plan plan;
  plan.doses = {{0, false}, {1, true}};
  plan.stops = 1;
  plan.events = {{1, 0}};
  plan.times_move = true;
  agrad::event_problem::fields fields{{"solve", slope(), 2, 3}, plan, {{root, reset}}, {{1}, -1, 0}};
  const auto f = solve_of(std::make_shared<agrad::event_problem>(fields, by_steps(agrad::ode_one_step_method::tsit5)));
  return problem_of(f, {0.0, 0.2, 0.1, 0.1, 1.0, 2.5, 0.4, 1.5, 0.7, 0.5, -1.0, 1.1, 0.0, 0.4, 1.8, 0.6});
}

problem algebraic() {  // y0' + p y0 = 0, y0 + y1 - 1 = 0
  const auto residual = recorded(6, [](recorder& r, const std::vector<slots>& x) {
    const slots slope_of = record<agrad::add_rule>(r, x[3], times(r, x[5], x[1]));
    return slots{slope_of[0], minus(r, record<agrad::add_rule>(r, x[1], x[2]), {r.constant(1.0)})[0]};
  });
  agrad::dae_options options = agrad::dae_tolerance_options("solve", 2, 1e-6, 1e-8, 10000);
  const auto f = solve_of(std::make_shared<agrad::dae_problem>(
      agrad::dae_problem::fields{"solve", residual, 2, 1, 0, options, agrad::dae_required{true}}));
  const numbers x{0.4, 0.6, 0.0, 0.0, 0.0, 1.0, 0.8};
  return {program_with(f, x, 4, 3), x};  // without the derivative of the algebraic state
}

problem at_rest() {
  const auto f = recorded(4, [](recorder& r, const std::vector<slots>& x) {
    return slots{minus(r, x[3], times(r, x[1], x[1]))[0], minus(r, x[1], x[2])[0]};
  });
  agrad::steady_options options;
  options.states.absolute = each_of(2, 1e-10);
  using steady = agrad::steady_problem<>;
  return problem_of(solve_of(std::make_shared<steady>(steady::fields{"steady", f, 2, options})), {1.0, 1.0, 0.6});
}

const std::vector<problem>& problems() {
  static const std::vector<problem> all = [] {
    const numbers x{0.0, 0.2, 0.1, 1.0, 2.5, 0.4, 1.5};
    const auto tsit5 = initial_value(by_steps(agrad::ode_one_step_method::tsit5));
    const auto rodas = initial_value(by_steps(agrad::ode_one_step_method::rodas5p));
    const std::vector<std::uint32_t> every{0, 1, 2, 3, 4, 5, 6};
    const auto both = std::make_shared<agrad::parallel_operation>(
        "many", std::vector<agrad::parallel_operation::part>{{tsit5, every, 4}, {rodas, every, 4}}, 2);
    return std::vector<problem>{problem_of(tsit5, x),
                                problem_of(rodas, x),
                                problem_of(initial_value(by_adjoints()), x),
                                problem_of(both, x),
                                events(),
                                algebraic(),
                                at_rest()};
  }();
  return all;
}

}  // namespace

TEST_CASE("kept programs with solves: the same bits") {
  for (const problem& p : problems()) {
    const std::string bytes = agrad::stored_program(*p.f, names(), kept_fuzz::version);
    const shared_program again = agrad::program_of(bytes, names(), kept_fuzz::version);
    CHECK(is_same(everything(*again, p.x), everything(*p.f, p.x)));
    CHECK(agrad::stored_program(*again, names(), kept_fuzz::version) == bytes);
  }
}

TEST_CASE("kept programs with solves: a maker that cannot write itself does not travel") {
  const auto make = by_adjoints();
  const auto f = initial_value([make](const std::string& function, agrad::ode_system& system, agrad::ode_required required) {
    return make(function, system, required);
  });
  const shared_program p = program_with(f, {0.0, 0.2, 0.1, 1.0, 2.5, 0.4, 1.5}, 4, 4);
  CHECK_THROWS_AS(agrad::stored_program(*p, names(), kept_fuzz::version), agrad::not_portable);
}

TEST_CASE("kept programs with solves: damage with a mended checksum ends in errors, never in a crash") {
  const std::size_t rounds = kept_fuzz::rounds(60);
  unsigned seed = 100;
  for (const problem& p : problems()) {
    const std::string bytes = agrad::stored_program(*p.f, names(), kept_fuzz::version);
    const kept_fuzz::counts all = kept_fuzz::fuzz(bytes, bytes, names(), p.x, everything(*p.f, p.x), rounds, seed++);
    CHECK(all.refused + all.same + all.other + all.thrown == rounds);
  }
}

}  // namespace test_kept_solves
