// Verified: the list of the functions of matrices that are held against mpmath and against themselves in every mode.
//
// A function is stated once, as a template on its matrices, and registered with points to test its properties at:
//     const bool registered = verified::add("solve", [](const auto& a, const auto& b) { return agrad::solve(a, b); }, points);
// It is then a function of the entries of all arguments, whatever the scalar, with nothing left of its type:
// rules/linalg/test_verified.cpp, where the tests are, compiles once. Its points in tests/reference/matrix.txt are found by the
// name.
#pragma once

#include <Eigen/Core>
#include <agrad/dual/matrix.hpp>
#include <agrad/rules/arrays/reduce.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/matrix/linalg.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace verified {

using agrad::dual;
using agrad::matrix;
using agrad::var;
using agrad::vector_of;
using Eigen::Index;
using Eigen::MatrixXd;
template <class T>
using matrix_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

using arguments = std::vector<MatrixXd>;
using shapes = std::vector<std::pair<Index, Index>>;

/// From the entries of all arguments to the entries of all results.
template <class T>
using flat = std::function<vector_of<T>(const vector_of<T>&, const shapes&)>;

struct function {
  std::string name;
  std::vector<arguments> points;  // where properties are tested
  double noise;                   // how many times its rounding errors are what finite differences take them for
  flat<double> on_numbers;
  flat<dual<double>> on_duals;
  flat<var> on_variables, on_handles;  // Eigen::Matrix<var> and matrix<var>
  flat<dual<var>> on_second_order;
};

/// All functions of this program.
inline std::vector<function>& functions() {
  static std::vector<function> all;
  return all;
}

// ---- results as entries --------------------------------------------------------------------------------------------------

template <class T, int C>
void append(std::vector<T>& entries, const Eigen::Matrix<T, Eigen::Dynamic, C>& y) {
  entries.insert(entries.end(), y.data(), y.data() + y.size());
}
template <class T>
void append(std::vector<T>& entries, const T& y) {
  entries.push_back(y);
}
inline void append(std::vector<var>& entries, const matrix<var>& y) {
  for (Index j = 0; j < y.cols(); ++j)
    for (Index i = 0; i < y.rows(); ++i) entries.push_back(y(i, j));
}
template <class T, class... Y>
void append(std::vector<T>& entries, const std::tuple<Y...>& results) {
  std::apply([&](const auto&... y) { (append(entries, y), ...); }, results);
}

// ---- functions of entries ------------------------------------------------------------------------------------------------

template <class Matrix, class T>
Matrix argument(const vector_of<T>& x, const shapes& s, std::size_t which) {
  Index start = 0;
  for (std::size_t k = 0; k < which; ++k) start += s[k].first * s[k].second;
  return Matrix(matrix_of<T>(Eigen::Map<const matrix_of<T>>(x.data() + start, s[which].first, s[which].second)));
}

template <class T, class Matrix, class F>
flat<T> flattened(const F& f) {
  return [f](const vector_of<T>& x, const shapes& s) {
    std::vector<T> entries;
    if constexpr (std::is_invocable_v<F, Matrix>)
      append(entries, f(argument<Matrix>(x, s, 0)));
    else
      append(entries, f(argument<Matrix>(x, s, 0), argument<Matrix>(x, s, 1)));
    return vector_of<T>(Eigen::Map<const vector_of<T>>(entries.data(), static_cast<Index>(entries.size())));
  };
}

/// f: of one or of two matrices of any scalar, or of matrix<var>; returns a scalar, a matrix or a tuple of these.
template <class F>
bool add(const std::string& name, const F& f, const std::vector<arguments>& points, double noise = 1) {
  functions().push_back({name, points, noise, flattened<double, matrix_of<double>>(f),
                         flattened<dual<double>, matrix_of<dual<double>>>(f), flattened<var, matrix_of<var>>(f),
                         flattened<var, matrix<var>>(f), flattened<dual<var>, matrix_of<dual<var>>>(f)});
  return true;
}

// ---- points --------------------------------------------------------------------------------------------------------------

inline const Index sizes[] = {1, 2, 5, 8};

inline unsigned long long& random_state() {
  static unsigned long long state = 1;
  return state;
}
/// Pseudo-random numbers in (-1, 1), the same at each run; each function's points begin anew.
inline MatrixXd numbers(Index rows, Index cols) {
  unsigned long long& state = random_state();
  MatrixXd x(rows, cols);
  for (Index i = 0; i < x.size(); ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x.data()[i] = static_cast<double>(state >> 11) * 0x1p-52 - 1;
  }
  return x;
}
/// Invertible, far from singular.
inline MatrixXd regular(Index n) { return numbers(n, n) + 2 * std::sqrt(static_cast<double>(n)) * MatrixXd::Identity(n, n); }
inline MatrixXd positive_definite(Index n) {
  const MatrixXd x = numbers(n, n);
  return x * x.transpose() + MatrixXd::Identity(n, n);
}
/// With singular values, or of the symmetric part eigenvalues, that are about a factor of 2 apart, so that they stay apart when
/// entries change by a good part of themselves, as finite differences make them.
inline MatrixXd graduated(Index rows, Index cols) {
  MatrixXd x = numbers(rows, cols) / 4;
  for (Index i = 0; i < std::min(rows, cols); ++i) x(i, i) += std::ldexp(1.0, static_cast<int>(i));
  return x;
}
/// Arguments for each of the sizes.
template <class Point>
std::vector<arguments> at_sizes(const Point& point) {
  random_state() = 1;
  std::vector<arguments> all;
  for (const Index n : sizes) all.push_back(point(n));
  return all;
}
/// Graduated matrices, for each of the sizes a square, a tall and a wide one.
inline std::vector<arguments> of_all_shapes() {
  random_state() = 1;
  std::vector<arguments> all;
  for (const Index n : sizes)
    for (const auto& [rows, cols] : {std::pair{n, n}, {n + 2, n}, {n, n + 1}}) all.push_back({graduated(rows, cols)});
  return all;
}

}  // namespace verified
