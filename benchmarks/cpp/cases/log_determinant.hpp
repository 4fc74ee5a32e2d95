// log det A of a symmetric positive definite matrix (x holds A, n x n, column-major) by Cholesky's factors: in plain loops, and
// with Eigen::LLT. The functions read the lower triangle, so a derivative may lie in either of two mirrored entries.
#pragma once

#include <Eigen/Cholesky>

#include "case.hpp"
#include "spd_inverse.hpp"

namespace bench {

class log_determinant {
 public:
  static constexpr const char *title = "log determinant, n x n", *form = "eigen";
  static constexpr long sizes[] = {10, 50, 200};

  explicit log_determinant(long n) : n_(n), factor_(n), inverse_(n) {}
  vector_of<double> start(int seed) const {
    const vector_of<double> entries = uniform(n_ * n_, -1, 1, 80 + seed);
    const Eigen::Map<const matrix_of<double>> root(entries.data(), n_, n_);
    matrix_of<double> a = root * root.transpose() / static_cast<double>(n_);
    a.diagonal().array() += 0.5;
    return a.reshaped();
  }
  long rows() const { return n_; }

  template <class T>
  T operator()(const vector_of<T>& x) const {
    using std::log;
    const Eigen::LLT<matrix_of<T>> factor(Eigen::Map<const matrix_of<T>>(x.data(), n_, n_));
    T sum = 0.0;
    for (long i = 0; i < n_; ++i) sum += log(factor.matrixLLT()(i, i));
    return 2.0 * sum;
  }

  /// The gradient is the inverse.
  double gradient(const vector_of<double>& x, vector_of<double>& g) const {
    factor_.compute(Eigen::Map<const matrix_of<double>>(x.data(), n_, n_));
    Eigen::Map<matrix_of<double>> inverse(g.data(), n_, n_);
    inverse_.compute(factor_.matrixLLT(), inverse);
    double sum = 0;
    for (long i = 0; i < n_; ++i) sum += std::log(factor_.matrixLLT()(i, i));
    return 2 * sum;
  }

  /// Moves derivatives of the upper triangle into the lower one.
  static void fold(vector_of<double>& g) {
    const auto n = static_cast<long>(std::lround(std::sqrt(static_cast<double>(g.size()))));
    Eigen::Map<matrix_of<double>> m(g.data(), n, n);
    m.triangularView<Eigen::StrictlyLower>() += m.transpose();
    m.triangularView<Eigen::StrictlyUpper>().setZero();
  }

 private:
  long n_;
  mutable Eigen::LLT<matrix_of<double>> factor_;
  mutable spd_inverse inverse_;
};

class log_determinant_loops : public log_determinant {
 public:
  static constexpr const char* form = "loop";
  using log_determinant::log_determinant;

  template <class T>
  T operator()(const vector_of<T>& x) const {
    using std::log, std::sqrt;
    const long n = rows();
    matrix_of<T> l(n, n);
    T sum = 0.0;
    for (long j = 0; j < n; ++j) {
      T pivot = x[j * n + j];
      for (long k = 0; k < j; ++k) pivot -= l(j, k) * l(j, k);
      sum += log(pivot);
      const T inverse = 1.0 / sqrt(pivot);
      for (long i = j + 1; i < n; ++i) {
        T entry = x[j * n + i];
        for (long k = 0; k < j; ++k) entry -= l(i, k) * l(j, k);
        l(i, j) = entry * inverse;
      }
    }
    return sum;
  }
};

}  // namespace bench
