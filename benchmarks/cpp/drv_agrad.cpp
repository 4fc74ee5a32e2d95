// agrad's driver for the harness that times gradients of many libraries side by side (harness.h, found through -I).
//
//     g++ -O3 -march=native -DNDEBUG -std=c++17 -I cpp/include -I HARNESS -isystem EIGEN benchmarks/cpp/drv_agrad.cpp -o drv_agrad
//     taskset -c 1 ./drv_agrad > agrad.csv
//
// Timed: copy in, record, sweep, copy out, reset; the variables are kept between calls, as the other drivers keep theirs.
#include <agrad/functionals/gradient.hpp>
#include <agrad/rules/elementwise.hpp>
#include <memory>

#include "harness.h"

namespace bm {
template <>
struct Ops<agrad::var> {
  static double val(const agrad::var& x) { return x.val(); }
};
}  // namespace bm

namespace {

struct generic {
  template <class F>
  static bm::GradFn prepare(const F& f, const std::vector<double>& x0) {
    auto kept = std::make_shared<std::vector<agrad::var>>(x0.size());
    return [f, kept](const std::vector<double>& x, std::vector<double>& g) {
      const agrad::scope own;
      std::vector<agrad::var>& variables = *kept;
      for (std::size_t i = 0; i < x.size(); ++i) variables[i] = x[i];
      const agrad::var y = f(variables);
      y.grad(variables, g);
      return y.val();
    };
  }
};

}  // namespace

int main(int argc, char** argv) {
  bm::Bench bench = bm::parse("agrad", argc, argv);
  bm::generic_cases<generic>(bench);
  bm::eigen_cases<generic>(bench);
}
