// What operations on matrices and functionals cost: gradient over value for linear algebra, and each functional over the plain
// evaluation of the function it is given. Prints two tables; agrad alone, the comparison with other libraries is run.py's.
//
//     cmake --preset bench -B OUT && cmake --build OUT --target benchmark_operations
//     taskset -c 1 OUT/benchmarks/cpp/benchmark_operations
#include <agrad/agrad.hpp>

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "cases/lotka_volterra.hpp"

namespace {

using agrad::matrix, agrad::var;
using Eigen::MatrixXd, Eigen::VectorXd;

/// Nanoseconds of the thread's processor time, the least of 40 batches of about a millisecond.
template <class F>
double nanoseconds(const F& f) {
  const auto now = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
  };
  int batch = 1;
  double best = 1e300;
  for (int turn = 0; turn < 40; ++turn) {
    const double start = now();
    for (int i = 0; i < batch; ++i) f();
    const double each = (now() - start) / batch;
    best = std::min(best, each);
    batch = std::max(1, static_cast<int>(1e6 / std::max(best, 1.0)));
  }
  return best;
}

/// A well-conditioned symmetric positive definite matrix of order n.
MatrixXd positive_definite(Eigen::Index n) {
  const MatrixXd root = MatrixXd::NullaryExpr(
      n, n, [](Eigen::Index i, Eigen::Index j) { return std::sin(static_cast<double>(3 * i + 7 * j + i * j)); });
  return root * root.transpose() / static_cast<double>(n) + MatrixXd::Identity(n, n);
}

double total(double x) { return x; }
double total(const MatrixXd& x) { return x.sum(); }
var total(const var& x) { return x; }
var total(const matrix<var>& x) { return sum(x); }

/// One cell: the gradient of the sum of f's result, over f of doubles, at order n.
template <class F>
double gradient_over_value(const F& f, Eigen::Index n) {
  const MatrixXd a = positive_definite(n);
  volatile double sink = 0;
  const double value = nanoseconds([&] { sink = total(f(a)); });
  const double gradient = nanoseconds([&] {
    const agrad::scope own;
    const matrix<var> v(a);
    const var y = total(f(v));
    y.grad();
    sink = v.adj()(0, 0);
  });
  return gradient / value;
}

template <class F>
void print_row(const char* name, const F& f) {
  std::printf("| `%s` |", name);
  for (const Eigen::Index n : {10, 50, 200}) std::printf(" %.1f |", gradient_over_value(f, n));
  std::printf("\n");
  std::fflush(stdout);
}

void linear_algebra() {
  std::printf("| gradient / value | n = 10 | 50 | 200 |\n|---|---|---|---|\n");
  print_row("inverse(a)", [](const auto& a) { return agrad::inverse(a); });
  print_row("log_determinant(a)", [](const auto& a) { return agrad::log_determinant(a); });
  print_row("log_determinant_spd(a)", [](const auto& a) { return agrad::log_determinant_spd(a); });
  print_row("cholesky(a)", [](const auto& a) { return agrad::cholesky(a); });
  print_row("solve(a, b), a column", [](const auto& a) { return agrad::solve(a, VectorXd(VectorXd::Ones(a.rows()))); });
  print_row("solve(a, b), n columns",
            [](const auto& a) { return agrad::solve(a, MatrixXd(MatrixXd::Ones(a.rows(), a.rows()))); });
  print_row("solve_spd(a, b), a column", [](const auto& a) { return agrad::solve_spd(a, VectorXd(VectorXd::Ones(a.rows()))); });
  print_row("symmetric_eigenvalues(a)", [](const auto& a) { return agrad::symmetric_eigenvalues(a); });
  print_row("singular_values(a)", [](const auto& a) { return agrad::singular_values(a); });
  print_row("matrix_exp(a)", [](const auto& a) { return agrad::matrix_exp(a); });
}

template <class F>
void print_time(const char* name, double plain, const F& f) {
  std::printf("| `%s` | %.1f |\n", name, nanoseconds(f) / plain);
  std::fflush(stdout);
}

/// Functionals on 100 steps of Runge and Kutta, 6 inputs; the Jacobian's function gives both species after each step.
void functionals() {
  const bench::lotka_volterra f(100);
  const VectorXd x = f.start(0), v = VectorXd::Ones(x.size());
  VectorXd g, hv;
  MatrixXd h;
  double fx;
  volatile double sink = 0;
  const double plain = nanoseconds([&] { sink = f(x); });
  std::printf("\n| time / plain evaluation (%.1f us) | |\n|---|---|\n", plain / 1000);
  print_time("gradient", plain, [&] { agrad::gradient(f, x, fx, g); });
  print_time("gradient_dot_vector", plain, [&] { agrad::gradient_dot_vector(f, x, v, fx, fx); });
  print_time("hessian_times_vector", plain, [&] { agrad::hessian_times_vector(f, x, v, fx, hv); });
  print_time("hessian", plain, [&] { agrad::hessian(f, x, fx, g, h); });
}

}  // namespace

int main() {
  linear_algebra();
  functionals();
}
