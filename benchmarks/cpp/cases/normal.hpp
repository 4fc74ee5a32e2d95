// Normal log density of n observations; the parameters are the mean and the standard deviation itself, not its logarithm.
#pragma once

#include "case.hpp"

namespace bench {

class normal {
 public:
  static constexpr const char *title = "normal log density", *form = "loop";
  static constexpr long sizes[] = {10, 1000, 100000};
  static constexpr double half_log_two_pi = 0.91893853320467274178;

  explicit normal(long n) : observations_(uniform(n, -2, 2, 50)) {}
  vector_of<double> start(int seed) const {
    vector_of<double> x(2);
    x << 0.25 + 0.125 * seed, 1.5 - 0.25 * seed;
    return x;
  }
  const vector_of<double>& observations() const { return observations_; }

  template <class T>
  T operator()(const vector_of<T>& x) const {
    using std::log;
    const T &mu = x[0], &sigma = x[1];
    const T log_sigma = log(sigma);
    T sum = 0.0;
    for (const double y : observations_) {
      const T z = (y - mu) / sigma;
      sum += -0.5 * z * z - log_sigma - half_log_two_pi;
    }
    return sum;
  }

  double gradient(const vector_of<double>& x, vector_of<double>& g) const {
    const double mu = x[0], inverse = 1 / x[1], n = static_cast<double>(observations_.size());
    double first = 0, second = 0;  // moments of the standardised observations
    for (const double y : observations_) {
      const double z = (y - mu) * inverse;
      first += z;
      second += z * z;
    }
    g[0] = first * inverse;
    g[1] = (second - n) * inverse;
    return -0.5 * second - n * (std::log(x[1]) + half_log_two_pi);
  }

 private:
  vector_of<double> observations_;
};

}  // namespace bench
