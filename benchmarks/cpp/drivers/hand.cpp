// Gradients written by hand: what a library can hope for. They are compared with differences, everything else with them.
#include "driver.hpp"

namespace {
struct by_hand {
  template <class F>
  static double gradient(const F& f, const bench::vector_of<double>& x, bench::vector_of<double>& g) {
    return f.gradient(x, g);
  }
};
}  // namespace

int main(int argc, char** argv) {
  bench::driver rows("by hand", bench::verification::by_differences);
  rows.add_scalar<by_hand>();
  return rows.run(argc, argv);
}
