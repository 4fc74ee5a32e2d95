// What the cases share: random inputs, and the number behind a scalar of any library.
//
// A case is a class with
//     static constexpr const char *title, *form;        // form: "loop" on scalars, or "eigen" on Eigen::Matrix<T>
//     static constexpr long sizes[];
//     explicit Case(long n);
//     vector_of<double> start(int seed) const;           // a point to take the gradient at
//     template <class T> T operator()(const vector_of<T>& x) const;                    // the function, whatever the scalar
//     double gradient(const vector_of<double>& x, vector_of<double>& g) const;         // value and gradient by hand
// and, where several gradients are right, `static void fold(vector_of<double>& g)`, which makes them equal; where memory is
// measured, `double operations() const`, the number of elementary operations. Mathematical functions are called unqualified,
// beside `using std::exp`, so that each library finds its own.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <random>

namespace bench {

template <class T>
using vector_of = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using matrix_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// The number of a scalar; a driver specialises it where the library does not say `x.val()`.
template <class T>
struct number {
  static double of(const T& x) { return x.val(); }
};
template <>
struct number<double> {
  static double of(double x) { return x; }
};

/// n numbers uniform between `low` and `high`, the same at every call.
inline vector_of<double> uniform(Eigen::Index n, double low, double high, int seed) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(seed));
  std::uniform_real_distribution<double> draw(low, high);
  vector_of<double> x(n);
  for (double& entry : x) entry = draw(engine);
  return x;
}

}  // namespace bench
