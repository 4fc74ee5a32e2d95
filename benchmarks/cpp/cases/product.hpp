// The product of all entries (Speelpenning's): a chain in which each statement needs the one before.
#pragma once

#include "case.hpp"

namespace bench {

class product {
 public:
  static constexpr const char *title = "product of all", *form = "loop";
  static constexpr long sizes[] = {10, 1000, 100000};

  explicit product(long n) : n_(n) {}
  vector_of<double> start(int seed) const { return uniform(n_, 0.99, 1.01, 30 + seed); }  // neither 0 nor infinity in the end

  template <class T>
  T operator()(const vector_of<T>& x) const {
    T y = x[0];
    for (long i = 1; i < n_; ++i) y *= x[i];
    return y;
  }

  /// Each entry's derivative is the product of those before it, times the product of those behind it.
  double gradient(const vector_of<double>& x, vector_of<double>& g) const {
    double before = 1, behind = 1;
    for (long i = 0; i < n_; ++i) {
      g[i] = before;
      before *= x[i];
    }
    for (long i = n_; i-- > 0;) {
      g[i] *= behind;
      behind *= x[i];
    }
    return before;
  }

 private:
  long n_;
};

}  // namespace bench
