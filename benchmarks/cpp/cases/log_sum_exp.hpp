// log(exp(x[0]) + ... + exp(x[n-1])), shifted by the largest entry, which enters as a number: the result does not depend on it.
#pragma once

#include <algorithm>

#include "case.hpp"

namespace bench {

class log_sum_exp {
 public:
  static constexpr const char *title = "log-sum-exp", *form = "loop";
  static constexpr long sizes[] = {10, 1000, 100000};

  explicit log_sum_exp(long n) : n_(n) {}
  vector_of<double> start(int seed) const { return uniform(n_, -3, 3, 40 + seed); }

  template <class T>
  T operator()(const vector_of<T>& x) const {
    using std::exp, std::log;
    double largest = number<T>::of(x[0]);
    for (long i = 1; i < n_; ++i) largest = std::max(largest, number<T>::of(x[i]));
    T sum = 0.0;
    for (long i = 0; i < n_; ++i) sum += exp(x[i] - largest);
    return log(sum) + largest;
  }

  double gradient(const vector_of<double>& x, vector_of<double>& g) const {
    double largest = x[0], sum = 0;
    for (long i = 1; i < n_; ++i) largest = std::max(largest, x[i]);
    for (long i = 0; i < n_; ++i) sum += g[i] = std::exp(x[i] - largest);
    const double scale = 1 / sum;
    for (long i = 0; i < n_; ++i) g[i] *= scale;
    return std::log(sum) + largest;
  }

 private:
  long n_;
};

}  // namespace bench
