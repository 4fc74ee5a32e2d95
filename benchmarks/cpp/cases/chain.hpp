// n / 3 steps of x = sin(x) + x c: a chain that is long enough to show what an operation costs in memory, and that nothing
// recurses.
#pragma once

#include "case.hpp"

namespace bench {

class chain {
 public:
  static constexpr const char *title = "chain x = sin(x) + x c", *form = "loop";
  static constexpr long sizes[] = {1000, 100000000};
  static constexpr double factor = 1e-9;  // x tends to zero like n^(-1/2) then, and the derivative like n^(-3/2)

  explicit chain(long n) : steps_(n / 3) {}
  vector_of<double> start(int seed) const { return vector_of<double>::Constant(1, 1.0 + 0.25 * seed); }
  double operations() const { return 3.0 * static_cast<double>(steps_); }

  template <class T>
  T operator()(const vector_of<T>& start) const {
    using std::sin;
    T x = start[0];
    for (long i = 0; i < steps_; ++i) x = sin(x) + x * factor;
    return x;
  }

  double gradient(const vector_of<double>& start, vector_of<double>& g) const {
    double x = start[0];
    g[0] = 1;
    for (long i = 0; i < steps_; ++i) {
      g[0] *= std::cos(x) + factor;
      x = std::sin(x) + x * factor;
    }
    return x;
  }

 private:
  long steps_;
};

}  // namespace bench
