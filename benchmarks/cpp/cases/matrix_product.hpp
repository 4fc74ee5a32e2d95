// Sum of the entries of A B, where x holds A and B (n x n, column-major): in plain loops, and with Eigen's product.
#pragma once

#include "case.hpp"

namespace bench {

class matrix_product {
 public:
  static constexpr const char *title = "matrix product, n x n", *form = "eigen";
  static constexpr long sizes[] = {10, 50, 200};

  explicit matrix_product(long n) : n_(n), product_(n, n), adjoint_(matrix_of<double>::Ones(n, n)) {}
  vector_of<double> start(int seed) const { return uniform(2 * n_ * n_, -1, 1, 70 + seed); }
  long rows() const { return n_; }

  template <class T>
  T operator()(const vector_of<T>& x) const {
    using map = Eigen::Map<const matrix_of<T>>;
    const matrix_of<T> c = map(x.data(), n_, n_) * map(x.data() + n_ * n_, n_, n_);
    return c.sum();
  }

  /// Two more products, as for any function of A B; that the adjoint is all ones here is not made use of.
  double gradient(const vector_of<double>& x, vector_of<double>& g) const {
    using map = Eigen::Map<matrix_of<double>>;
    const Eigen::Map<const matrix_of<double>> a(x.data(), n_, n_), b(x.data() + n_ * n_, n_, n_);
    product_.noalias() = a * b;
    map(g.data(), n_, n_).noalias() = adjoint_ * b.transpose();
    map(g.data() + n_ * n_, n_, n_).noalias() = a.transpose() * adjoint_;
    return product_.sum();
  }

 private:
  long n_;
  mutable matrix_of<double> product_;
  matrix_of<double> adjoint_;
};

class matrix_product_loops : public matrix_product {
 public:
  static constexpr const char* form = "loop";
  using matrix_product::matrix_product;

  template <class T>
  T operator()(const vector_of<T>& x) const {
    const long n = rows();
    T total = 0.0;
    for (long j = 0; j < n; ++j) {
      for (long i = 0; i < n; ++i) {
        const T *a = x.data() + i, *b = x.data() + (n + j) * n;
        T entry = a[0] * b[0];
        for (long k = 1; k < n; ++k) entry += a[k * n] * b[k];
        total += entry;
      }
    }
    return total;
  }
};

}  // namespace bench
