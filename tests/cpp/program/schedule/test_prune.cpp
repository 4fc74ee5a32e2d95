// What pruning makes of external operations: those through which no derivative of an output passes compute values only.
#include <doctest/doctest.h>
#include <agrad/program/machine/custom.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "program_probe.hpp"
#include "recording.hpp"

namespace test_program_prune {

using agrad::external_operation;
using agrad::program;
using agrad::recorder;
using agrad::schedule;
using recording::range;
using recording::slots;
namespace kernels = agrad::kernels;

namespace {

/// y = x^2 entry by entry, with first derivatives in reverse mode only; counts its runs.
class squares final : public external_operation {
 public:
  struct counts {
    int with_adjoint = 0, reverse = 0;
  };
  squares(std::size_t n, counts& of) : n_(n), counts_(&of) {}

  std::string_view name() const override { return "squares"; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<point>(); }
  void forward(state& s, const double* x, double* y, bool with_adjoint) const override {
    static_cast<point&>(s).x.assign(x, x + n_);
    for (std::size_t i = 0; i < n_; ++i) y[i] = x[i] * x[i];
    counts_->with_adjoint += with_adjoint ? 1 : 0;
  }
  void reverse(state& s, const double* y_adjoint, double* x_adjoint) const override {
    const std::vector<double>& x = static_cast<point&>(s).x;
    for (std::size_t i = 0; i < n_; ++i) x_adjoint[i] += 2 * x[i] * y_adjoint[i];
    ++counts_->reverse;
  }

 private:
  struct point final : state {
    std::vector<double> x;
  };
  std::size_t n_;
  counts* counts_;
};

agrad::slot apply(recorder& r, const agrad::kernel& what, const slots& x) {
  const agrad::span operand = r.dense(x.data(), x.size());
  return r.apply(what, x.size(), &operand, 1, {});
}

/// Records stop_gradient(x^2) * x, or x^2 * x, summed.
std::shared_ptr<const program> cubes(const std::array<double, 3>& x, bool is_stopped, squares::counts& counts) {
  recorder r;
  const slots in = range(r.input(x.data(), x.size()), x.size());
  slots y = range(r.apply(std::make_shared<squares>(3, counts), r.dense(in.data(), 3), 3, false), 3);
  if (is_stopped) y = range(apply(r, kernels::stop_gradient, y), 3);
  const agrad::span operands[] = {r.dense(y.data(), 3), r.dense(in.data(), 3)};
  const agrad::slot products = r.apply(agrad::elementwise_kernel<agrad::multiply_rule>, 3, operands, 2, {});
  const agrad::span terms = r.consecutive(products, 3);
  counts = {};
  return schedule(r, {r.apply(kernels::sum, 1, &terms, 1, {3})});
}

std::pair<double, std::array<double, 3>> value_and_gradient(const program& f, agrad::workspace& w,
                                                            const std::array<double, 3>& x) {
  double y = 0;
  const double one = 1;
  std::array<double, 3> gradient{};
  f.forward(w, x.data(), &y);
  f.reverse(w, &one, gradient.data());
  return {y, gradient};
}

}  // namespace

TEST_CASE("operations before stop_gradient compute values only, and lack no derivatives") {
  const std::array<double, 3> x{1.0, -2.0, 0.5}, along{1.0, 1.0, 1.0};
  squares::counts counts;
  const std::shared_ptr<const program> f = cubes(x, true, counts);
  CHECK(f->first_without_tangents(1) == nullptr);
  CHECK(f->first_without_tangents(2) == nullptr);
  agrad::workspace w;
  const auto [y, gradient] = value_and_gradient(*f, w, x);
  CHECK(y == 1.0 - 8.0 + 0.125);
  for (std::size_t i = 0; i < 3; ++i) CHECK(gradient[i] == x[i] * x[i]);  // the factor that is stopped
  double slope = 0;
  f->tangent<1>(w, along.data(), &slope);
  CHECK(slope == 1.0 + 4.0 + 0.25);
  CHECK(counts.with_adjoint == 0);
  CHECK(counts.reverse == 0);
}

TEST_CASE("an operation that an output reaches by another way keeps its derivatives") {
  const std::array<double, 3> x{1.0, -2.0, 0.5};
  squares::counts counts;
  const std::shared_ptr<const program> f = cubes(x, false, counts);
  REQUIRE(f->first_without_tangents(1) != nullptr);
  CHECK(f->first_without_tangents(1)->name() == "squares");
  agrad::workspace w;
  const std::array<double, 3> gradient = value_and_gradient(*f, w, x).second;
  for (std::size_t i = 0; i < 3; ++i) CHECK(gradient[i] == doctest::Approx(3 * x[i] * x[i]));
  CHECK(counts.with_adjoint == 1);
  CHECK(counts.reverse == 1);
}

}  // namespace test_program_prune
