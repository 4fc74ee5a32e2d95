// One tape a thread: eight threads of gradients, of explicit tapes, and of a program that all share, for the thread sanitizer.
#include <doctest/doctest.h>
#include <agrad/functionals/gradient.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/matrix.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "recording.hpp"

namespace test_threads {

using agrad::active_tape;
using agrad::matrix;
using agrad::scope;
using agrad::ScopeError;
using agrad::tape;
using agrad::var;
using doctest::Approx;

namespace {

constexpr int thread_count = 8;

/// Runs work(0) ... work(7) at the same time; assertions belong after it.
void at_once(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) threads.emplace_back(work, i);
  for (std::thread& t : threads) t.join();
}

double relative_difference(double a, double b) { return std::abs(a - b) / (1 + std::abs(b)); }

}  // namespace

TEST_CASE("eight threads of gradients") {
  const auto f = [](const auto& x) {
    auto y = x;
    for (int i = 0; i < 200; ++i) y = (sin(y) + x * 0.5).eval();
    return y.dot(x) + lgamma(x[0]);  // C's lgamma writes to a global variable, ours must not
  };
  const Eigen::VectorXd at = Eigen::VectorXd::LinSpaced(5, 0.1, 0.9);
  double value = 0;
  Eigen::VectorXd expected;
  agrad::gradient(f, at, value, expected);
  std::vector<int> right(thread_count, 0);
  at_once([&](int thread) {
    for (int repetition = 0; repetition < 20; ++repetition) {
      double fx = 0;
      Eigen::VectorXd g;
      agrad::gradient(f, at, fx, g);
      if (fx == value && g == expected) ++right[static_cast<std::size_t>(thread)];
    }
  });
  for (const int count : right) CHECK(count == 20);
}

TEST_CASE("eight threads that record, nest, reverse pass, throw and reset") {
  std::vector<double> worst(thread_count, 1e300);
  at_once([&](int thread) {
    const double at = 1 + 0.1 * thread;
    double difference = 0;
    for (int repetition = 0; repetition < 50; ++repetition) {
      agrad::reset();
      const var x = at;
      var y = x * x;
      try {
        const scope inner;
        const auto text = std::make_shared<std::string>(100, 'x');
        const var z = agrad::custom(y.val(), [y, text](auto& adjoint, const var& r) { adjoint[y] += adjoint[r]; });
        z.grad();
        if (repetition % 2 == 0) throw repetition;
      } catch (const int&) {
      }
      y += sum(matrix<var>(Eigen::MatrixXd::Constant(3, 3, at)) * Eigen::MatrixXd(Eigen::MatrixXd::Zero(3, 3))) + exp(x);
      y.grad();
      difference = std::max(difference, relative_difference(x.adj(), 2 * at + std::exp(at)));
    }
    worst[static_cast<std::size_t>(thread)] = difference;
  });
  for (const double difference : worst) CHECK(difference < 1e-15);
}

TEST_CASE("each thread has its own tape, and a variable of another thread says so") {
  const scope own;
  const var x = 2.0;
  const var y = x * 3;
  std::vector<tape*> tapes(thread_count);
  std::vector<int> refused(thread_count, 0);
  at_once([&](int thread) {
    const auto i = static_cast<std::size_t>(thread);
    tapes[i] = &tape::current();
    const var z = x.val() + thread;  // values may be handed over
    z.grad();
    try {
      x.adj();
    } catch (const ScopeError&) {
      ++refused[i];
    }
    try {
      y.grad();
    } catch (const ScopeError&) {
      ++refused[i];
    }
  });
  for (const int count : refused) CHECK(count == 2);
  for (const tape* t : tapes) CHECK(t != &tape::current());
  y.grad();
  CHECK(x.adj() == 3);
}

TEST_CASE("an explicit tape may be filled by one thread and swept by another") {
  tape mine;
  var x, y;
  std::thread([&] {
    const active_tape use(mine);
    x = 2.0;
    y = x * x * x;
  }).join();
  double by_other_thread = 0;
  std::thread([&] {
    const active_tape use(mine);
    y.grad();
    by_other_thread = x.adj();
  }).join();
  CHECK(by_other_thread == 12);
  const active_tape use(mine);
  CHECK(x.adj() == 12);
}

TEST_CASE("a program is shared, workspaces are not") {
  const std::vector<double> at{0.3, 0.6, 0.9};
  agrad::recorder r;
  const recording::slots x = recording::range(r.input(at.data(), 3), 3);
  recording::slots y = x;
  for (int i = 0; i < 50; ++i)
    y = recording::record<agrad::add_rule>(r, recording::record<agrad::sin_rule>(r, y), {y[1], y[2], y[0]});
  const std::shared_ptr<const agrad::program> f = schedule(r, recording::sum(r, y));
  const auto gradient_at = [&](double shift) {
    agrad::workspace w;
    std::vector<double> in = at, g(3);
    for (double& v : in) v += shift;
    double value = 0, seed = 1;
    for (int repetition = 0; repetition < 20; ++repetition) {
      f->forward(w, in.data(), &value);
      f->reverse(w, &seed, g.data());
    }
    return g;
  };
  std::vector<std::vector<double>> gradients(thread_count);
  at_once([&](int thread) { gradients[static_cast<std::size_t>(thread)] = gradient_at(0.01 * thread); });
  for (int i = 0; i < thread_count; ++i) CHECK(gradients[static_cast<std::size_t>(i)] == gradient_at(0.01 * i));
}

}  // namespace test_threads
