// Programs kept as bytes: the same bits come back, other bytes are refused in words, and what was damaged on purpose never
// crashes.
#include <doctest/doctest.h>

#include <agrad/functionals/search/quadrature_operation.hpp>
#include <agrad/functionals/search/search_operation.hpp>
#include <agrad/program/derive/adjoints.hpp>
#include <agrad/program/kernels/batched_product.hpp>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/density.hpp>
#include <agrad/program/kernels/density_glm.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/linalg.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/loops/parallel.hpp>
#include <agrad/program/loops/scan.hpp>
#include <agrad/rules/density/normal.hpp>
#include <agrad/rules/linalg/general.hpp>
#include <agrad/rules/linalg/spd.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "pickle_fuzz.hpp"
#include "recording.hpp"

namespace test_program_portable {

namespace kernels = agrad::kernels;
using agrad::recorder;
using agrad::slot;
using agrad::span;
using kept_fuzz::everything;
using kept_fuzz::is_same;
using kept_fuzz::numbers;
using kept_fuzz::version;
using recording::range;
using recording::record;
using recording::slots;
using shared_program = std::shared_ptr<const agrad::program>;

namespace {

const kept_fuzz::names& names() {
  static const kept_fuzz::names all({{"scan", agrad::scan_operation::read},
                                     {"sweep", agrad::reverse_operation::read},
                                     {"tangent", agrad::tangent_operation::read},
                                     {"parallel", agrad::parallel_operation::read},
                                     {"quadrature", agrad::quadrature_operation::read},
                                     {"root", agrad::root_operation::read},
                                     {"minimum", agrad::minimum_operation::read}});
  return all;
}

std::string kept(const agrad::program& f) { return agrad::stored_program(f, names(), version); }
shared_program read(const std::string& bytes) { return agrad::program_of(bytes, names(), version); }

numbers point(std::size_t n) {
  numbers x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.4 + 0.3 * std::sin(static_cast<double>(3 * i));
  return x;
}
slots inputs(recorder& r, std::size_t n) {
  const numbers x = point(n);
  return range(r.input(x.data(), n), n);
}
slots constants(recorder& r, const numbers& x) { return range(r.constant(x.data(), x.size()), x.size()); }
slots apply(recorder& r, const agrad::kernel& what, std::size_t count, const std::vector<slots>& x,
            std::initializer_list<std::uint32_t> integers) {
  std::vector<span> operands;
  for (const slots& each : x) operands.push_back(r.dense(each.data(), each.size()));
  return range(r.apply(what, count, operands.data(), operands.size(), integers), count);
}
slots of_rule(recorder& r, const agrad::kernel& what, const slots& x) { return recording::record_elementwise(r, what, {x}); }
slots together(const std::vector<slots>& parts) {
  slots all;
  for (const slots& each : parts) all.insert(all.end(), each.begin(), each.end());
  return all;
}

// ---- programs of all kinds

/// Spans, runs with lists, straight code, gathers, a guard.
shared_program elementwise() {
  recorder r;
  const slots x = inputs(r, 40);
  slots scattered;
  for (std::size_t i = 0; i < 40; ++i) scattered.push_back(x[(7 * i) % 40]);
  const slots y = record<agrad::multiply_rule>(r, record<agrad::sin_rule>(r, x), record<agrad::exp_rule>(r, scattered));
  slots many;  // single operations on one level, which become a run, and a chain of others
  for (std::size_t i = 0; i < 20; ++i) many.push_back(record<agrad::fma_rule>(r, {x[i]}, {y[39 - i]}, {x[(3 * i) % 40]})[0]);
  slots chain{x[0]};
  for (int i = 0; i < 30; ++i) chain = record<agrad::hypot_rule>(r, record<agrad::cos_rule>(r, chain), {x[5]});
  r.guard(record<agrad::greater_rule>(r, {y[3]}, {r.constant(-9.0)})[0]);
  return schedule(r, together({recording::sum(r, y, 2), many, chain}));
}

shared_program lines() {
  recorder r;
  const slots x = inputs(r, 24);
  const auto along = [&](const agrad::kernel& what, std::size_t count) { return apply(r, what, count, {x}, {3, 2}); };
  const slots table = constants(r, {0.0, 0.4, 0.8, 1.2}), places = constants(r, {3, 0, 3, 2});
  return schedule(r,
                  together({along(kernels::sum_along, 8), along(kernels::product_along, 8), along(kernels::max_along, 8),
                            along(kernels::argmax_along, 8), along(kernels::sort_along, 48), along(kernels::cumulative_sum, 24),
                            along(kernels::cumulative_product, 24), along(kernels::log_sum_exp_along, 8),
                            apply(r, kernels::interpolation, 24, {x, table, slots(x.begin(), x.begin() + 4)}, {}),
                            apply(r, kernels::scatter_add, 6,
                                  {slots(x.begin(), x.begin() + 6), slots(x.begin() + 6, x.begin() + 10), places}, {})}));
}

shared_program matrices() {
  recorder r;
  const slots x = inputs(r, 24);
  const slots a(x.begin(), x.begin() + 9), b(x.begin() + 9, x.begin() + 15), c(x.begin() + 12, x.end());
  const slots spd =
      record<agrad::add_rule>(r, recording::product(r, a, slots{a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]}, 3, 3, 3),
                              constants(r, {3, 0, 0, 0, 3, 0, 0, 0, 3}));
  const auto linalg = [&](const agrad::kernel& what, std::size_t results, std::size_t slots_in_all,
                          const std::vector<slots>& of, std::initializer_list<std::uint32_t> shapes) {
    slots y = apply(r, what, slots_in_all, of, shapes);
    y.resize(results);
    return y;
  };
  using agrad::linalg::shape;
  const std::array<shape, 2> two{{{3, 3}, {3, 2}}};
  const std::array<shape, 1> one{{{3, 3}}};
  return schedule(r,
                  together({apply(r, kernels::batched_product, 8, {c, b}, {2, 3, 2, 2, 1, 0}),
                            linalg(agrad::linalg_kernel<agrad::linalg::solve_rule>, 6,
                                   6 + agrad::linalg::prepared_slots<agrad::linalg::solve_rule>(two), {spd, b}, {3, 3, 3, 2}),
                            linalg(agrad::linalg_kernel<agrad::linalg::cholesky_rule>, 9,
                                   9 + agrad::linalg::prepared_slots<agrad::linalg::cholesky_rule>(one), {spd}, {3, 3})}));
}

shared_program densities() {
  recorder r;
  const slots x = inputs(r, 12);
  const slots y(x.begin(), x.begin() + 6), beta(x.begin() + 6, x.begin() + 8);
  const span terms[] = {r.consecutive(y[0], 6), {x[8], 1, 0, true}, {x[9], 1, 0, true}};
  const slots normal{r.apply(agrad::density_kernel<agrad::normal_lpdf_rule>, 1, terms, 3, {6, 0})};
  const slots outcomes = constants(r, {1, 0, 1}), design = constants(r, {1, 2, -1, 0.5, 0.1, 3});
  const span model[] = {
      r.consecutive(outcomes[0], 3), r.consecutive(design[0], 6), {x[10], 1, 0, true}, r.consecutive(beta[0], 2)};
  const slots glm{r.apply(agrad::glm_kernel<agrad::bernoulli_logit_glm_rule>,
                          agrad::glm_slots<agrad::bernoulli_logit_glm_rule>(3, 2), model, 4, {3, 2})};
  const slots held = of_rule(r, kernels::hold, y), still = of_rule(r, kernels::stop_gradient, y);
  const slots moved = of_rule(r, kernels::perturbation, y);
  const slots both = recording::record_elementwise(r, kernels::with_derivative, {still, record<agrad::sin_rule>(r, y), moved});
  return schedule(r, together({normal, glm, record<agrad::multiply_rule>(r, held, both)}));
}

agrad::body_path step() {
  const numbers at{0.3, -0.7, 0.1, 0.9};
  recorder r;
  const slots in = range(r.input(at.data(), 4), 4);
  const slots p =
      record<agrad::add_rule>(r, record<agrad::multiply_rule>(r, {in[3]}, record<agrad::sin_rule>(r, {in[1]})), {in[2]});
  r.guard(record<agrad::less_rule>(r, {in[0]}, {r.constant(100.0)})[0]);
  const slots q = record<agrad::add_rule>(r, {in[1]}, record<agrad::multiply_rule>(r, p, {in[0]}));
  return {schedule(r, {p[0], q[0], record<agrad::multiply_rule>(r, p, q)[0]}), 1};
}
std::shared_ptr<const agrad::scan_operation> loop(bool checkpoint) {
  agrad::scan_loop how;
  how.length = 9, how.carry = 2, how.xs = {{1, {}, false}}, how.ys = {1}, how.checkpoint = checkpoint;
  const auto of = std::make_shared<agrad::body>("scan(f)", 3);
  of->add(step());
  return std::make_shared<agrad::scan_operation>(of, how, 1);
}

shared_program loops() {
  recorder r;
  const slots x = inputs(r, 12);
  const auto f = loop(true);
  const std::vector<std::uint32_t> every{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto two = std::make_shared<agrad::parallel_operation>(
      "two loops", std::vector<agrad::parallel_operation::part>{{f, every, 11}, {loop(false), every, 11}}, 1);
  const span all = r.consecutive(x[0], 12);
  return schedule(r, together({range(r.apply(f, all, 11, false), 11), range(r.apply(two, all, 22, false), 22)}));
}

/// A root of two equations, a minimum by the second derivatives of the operations, and an integral.
shared_program searches() {
  recorder equations, hollow, decay;
  const slots p = inputs(equations, 3), q = inputs(hollow, 3), both(p.begin(), p.begin() + 2), at(q.begin(), q.begin() + 2);
  const slots c{p[2]}, cube = record<agrad::multiply_rule>(equations, both, record<agrad::square_rule>(equations, both));
  const auto two = std::make_shared<agrad::body>("root(f)", 2), one = std::make_shared<agrad::body>("minimize(f)", 2);
  two->add({schedule(equations, record<agrad::subtract_rule>(equations, cube, slots{c[0], p[0]})), 1});
  const slots off = record<agrad::subtract_rule>(hollow, at, slots{q[2], q[0]});
  one->add({schedule(hollow, recording::sum(hollow, record<agrad::cosh_rule>(hollow, off))), 1});
  const slots s = inputs(decay, 3), rate{s[2]};  // x, its distance to the nearer limit, and what is captured
  const auto bell = std::make_shared<agrad::body>("quad(f)", 2);
  bell->add({schedule(decay, record<agrad::exp_rule>(decay, record<agrad::multiply_rule>(decay, slots{s[0]}, rate))), 1});
  const auto integral = std::make_shared<agrad::quadrature_operation>(
      bell, agrad::quadrature_form{agrad::detail::quadrature_method::gauss_kronrod, 1, 1, 1e-9, 0, 12, false, false}, 1);
  recorder r;
  const slots x = inputs(r, 8);
  const agrad::root_options options{1e-9, 1e-3, 100, 1e-12};
  const auto root = std::make_shared<agrad::root_operation>(two, agrad::detail::root_method::powell, options, 1);
  const auto minimum = std::make_shared<agrad::minimum_operation>(one, agrad::detail::minimum_options{}, 1);
  return schedule(r, together({range(r.apply(root, r.consecutive(x[0], 3), 11, false), 11),
                               range(r.apply(minimum, r.consecutive(x[3], 3), 9, false), 9),
                               range(r.apply(integral, r.consecutive(x[4], 4), 7, false), 7)}));
}

/// The gradient of a loop and of a solve, recorded: reverse passes as operations, and the rules that derivatives are made of.
shared_program nested() {
  recorder r;
  const slots x = inputs(r, 12);
  const std::size_t begin = r.code().operations.size();
  const slots y = range(r.apply(loop(false), r.consecutive(x[0], 12), 11, true), 11);
  const slots a = record<agrad::add_rule>(r, slots(x.begin(), x.begin() + 4), constants(r, {2, 0, 0, 2}));
  const std::array<agrad::linalg::shape, 2> shapes{{{2, 2}, {2, 1}}};
  const slots solved =
      apply(r, agrad::linalg_kernel<agrad::linalg::solve_rule>,
            2 + agrad::linalg::prepared_slots<agrad::linalg::solve_rule>(shapes), {a, {x[4], x[5]}}, {2, 2, 2, 1});
  const slots z = record<agrad::pow_rule>(r, record<agrad::exp_rule>(r, y), {x[7]});
  const slot sum = recording::sum(r, together({z, {solved[0], solved[1]}}))[0];
  agrad::recorded_part part(r, begin, r.code().operations.size(), x);
  agrad::adjoint_recorder back(r, part);
  back.seed(sum, r.constant(1.0));
  back.reverse();
  return schedule(r, back.of(x));
}

const std::vector<shared_program>& programs() {
  static const std::vector<shared_program> all{elementwise(), lines(), matrices(), densities(), loops(), nested(), searches()};
  return all;
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no exception";
}

class opaque final : public agrad::external_operation {
 public:
  std::string_view name() const override { return "doubling(f)"; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<state>(); }
  void forward(state&, const double* x, double* y, bool) const override { *y = 2 * *x; }
  void reverse(state&, const double* y_adjoint, double* x_adjoint) const override { *x_adjoint += 2 * *y_adjoint; }
};

}  // namespace

TEST_CASE("kept programs: every kind comes back with the same bits, values and derivatives") {
  for (const shared_program& f : programs()) {
    const std::string bytes = kept(*f);
    const shared_program g = read(bytes);
    const numbers x = point(f->input_size());
    CHECK(is_same(everything(*g, x), everything(*f, x)));
    CHECK(kept(*g) == bytes);
  }
}

TEST_CASE("kept programs: a loop's other path is left, not computed wrongly") {
  const shared_program f = loops(), g = read(kept(*f));
  numbers x = point(12);
  x[0] = 1e3;
  CHECK_THROWS_AS(everything(*g, x), kernels::path_left);
}

TEST_CASE("kept programs: what is shared is written once") {
  const auto f = loop(false);
  const auto size = [&](int times) {
    recorder r;
    slots x = inputs(r, 12), y;
    for (int i = 0; i < times; ++i) {
      const slots one = range(r.apply(f, r.dense(x.data(), 12), 11, false), 11);
      y.insert(y.end(), one.begin(), one.end());
      std::rotate(x.begin(), x.begin() + 1, x.end());
    }
    return kept(*schedule(r, y)).size();
  };
  CHECK(size(11) - size(1) < 10 * 500);
  CHECK(size(2) - size(1) < size(1) / 2);
}

TEST_CASE("kept programs: what cannot be kept says so, by name") {
  recorder r;
  const slots x = inputs(r, 1);
  const shared_program f = schedule(r, {r.apply(std::make_shared<opaque>(), r.consecutive(x[0], 1), 1, false)});
  CHECK_THROWS_AS(kept(*f), agrad::not_portable);
  CHECK(message_of([&] { kept(*f); }) ==
        "program: operation is doubling(f), but must be one of plain data; it cannot be stored as bytes");
}

TEST_CASE("kept programs: other formats, versions and bytes are refused in words") {
  const std::string good = kept(*programs()[0]);
  const auto refused = [&](const std::string& bytes) { return message_of([&] { read(bytes); }); };
  std::string other = good;
  other[8] = 7;
  CHECK(refused(other) == "program: format of the pickle is version 7, but must be version 6; record the program again");
  CHECK(message_of([&] { agrad::program_of(good, names(), "9.9"); }) ==
        "program: version of the pickle is 1.2.3, but must be 9.9; a program is read only by the version of agrad that "
        "pickled it, record the program again");
  CHECK(
      refused("no program") ==
      "program: the beginning of the pickle is not that of a program, but must be as it was pickled; record the program again");
  CHECK(refused(good.substr(0, good.size() - 1)).find("bytes of the pickle are damaged or lost") != std::string::npos);
  std::string unknown(agrad::unsealed(good));
  unknown.replace(unknown.find("hypot"), 5, "nobod");
  CHECK(refused(agrad::sealed(unknown)) ==
        "program: operation is nobod, but must be one that this version knows; load a library's rules before "
        "(agrad.load_rules), or record the program again");
}

TEST_CASE("kept programs: each damaged byte is noticed") {
  for (const shared_program& f : programs()) {
    const std::string good = kept(*f);
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i) {
      std::string bad = good;
      bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
      CHECK(message_of([&] { read(bad); }) != "no exception");
    }
  }
}

TEST_CASE("kept programs: damage with a mended checksum ends in errors, never in a crash") {
  const std::size_t times = kept_fuzz::rounds(400);
  const std::string others = kept(*programs()[4]) + kept(*programs()[5]);
  unsigned seed = 1;
  std::size_t refused = 0, ran = 0;
  for (const shared_program& f : programs()) {
    const numbers x = point(f->input_size());
    const kept_fuzz::counts all = kept_fuzz::fuzz(kept(*f), others, names(), x, everything(*f, x), times, seed++);
    refused += all.refused;
    ran += all.same + all.other + all.thrown;
  }
  CHECK(refused + ran == times * programs().size());
  CHECK(refused > ran);  // damage of what a program is, rather than of its constants, is refused
}

TEST_CASE("kept programs: an order of operations that cannot be is refused") {
  agrad::program_code code;
  agrad::operation op;
  op.what = &agrad::kernel_of_rule<agrad::sin_rule>();
  op.result = 1, op.count = 1, op.arity = 1;
  op.operands[0] = {0, 1, 0, true, false};
  code.operations = {op};
  const auto check = [&](std::size_t fixed, std::size_t size, const slots& in, const slots& out) {
    return message_of([&] { agrad::check_program(code, numbers(fixed), size, in, out); });
  };
  const std::string fine = "no exception";
  CHECK(check(1, 2, {0}, {1}) == fine);
  CHECK(check(1, 1, {0}, {0}) != fine);      // no slot for the result
  CHECK(check(1, 3, {0}, {1}) != fine);      // a slot that nothing fills
  CHECK(check(2, 2, {0}, {1}) != fine);      // a result where a constant is
  CHECK(check(1, 2, {0}, {2}) != fine);      // an output that is not there
  CHECK(check(1, 2, {0, 1}, {1}) != fine);   // an input that is a result
  code.operations[0].operands[0].first = 1;  // of itself
  CHECK(check(1, 2, {0}, {1}) != fine);
  code.operations = {op, op};  // the same slot twice
  CHECK(check(1, 2, {0}, {1}) != fine);
  CHECK(check(1, 3, {0}, {1}) != fine);
  code.operations = {op};
  code.operations[0].arity = 2;
  CHECK(check(1, 2, {0}, {1}) != fine);
}

}  // namespace test_program_portable
