// Sums over one vector: products of neighbours, and a chain of elementary functions of each entry.
#pragma once

#include "case.hpp"

namespace bench {

/// x[0] x[1] + x[1] x[2] + ... + x[n-1] x[0]: nothing but the cost of a statement.
class neighbours {
 public:
  static constexpr const char *title = "sum of neighbours' products", *form = "loop";
  static constexpr long sizes[] = {10, 1000, 100000};

  explicit neighbours(long n) : n_(n) {}
  vector_of<double> start(int seed) const { return uniform(n_, -1, 1, 10 + seed); }

  template <class T>
  T operator()(const vector_of<T>& x) const {
    T sum = x[n_ - 1] * x[0];
    for (long i = 1; i < n_; ++i) sum += x[i - 1] * x[i];
    return sum;
  }

  double gradient(const vector_of<double>& x, vector_of<double>& g) const {
    const long last = n_ - 1;
    double sum = x[last] * x[0];
    g[0] = x[last] + x[1];
    for (long i = 1; i < last; ++i) {
      sum += x[i - 1] * x[i];
      g[i] = x[i - 1] + x[i + 1];
    }
    g[last] = x[last - 1] + x[0];
    return sum + x[last - 1] * x[last];
  }

 private:
  long n_;
};

/// Sum of exp(sin x) log1p(x^2): six elementary operations an entry, the sum included, three of them of the mathematical
/// library.
class elementwise {
 public:
  static constexpr const char *title = "sum of exp(sin x) log1p(x^2)", *form = "loop";
  static constexpr long sizes[] = {10, 1000, 100000};

  explicit elementwise(long n) : n_(n) {}
  vector_of<double> start(int seed) const { return uniform(n_, -2, 2, 20 + seed); }
  double operations() const { return 6.0 * static_cast<double>(n_); }

  template <class T>
  T operator()(const vector_of<T>& x) const {
    using std::exp, std::log1p, std::sin;
    T sum = 0.0;
    for (long i = 0; i < n_; ++i) sum += exp(sin(x[i])) * log1p(x[i] * x[i]);
    return sum;
  }

  double gradient(const vector_of<double>& x, vector_of<double>& g) const {
    double sum = 0;
    for (long i = 0; i < n_; ++i) {
      const double square = x[i] * x[i], factor = std::exp(std::sin(x[i])), logarithm = std::log1p(square);
      sum += factor * logarithm;
      g[i] = factor * (std::cos(x[i]) * logarithm + 2 * x[i] / (1 + square));
    }
    return sum;
  }

 private:
  long n_;
};

}  // namespace bench
