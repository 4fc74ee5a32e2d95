// Eigenvalues, singular values and their vectors, as rules/linalg/test_verified.cpp tests them: vectors without their signs.
#include <agrad/rules/spectra/eigen.hpp>
#include <agrad/rules/spectra/svd.hpp>

#include "verified.hpp"

namespace test_verified_spectra {

namespace {

using namespace verified;

/// Columns of x, times the first entries of those of y.
template <class T>
matrix_of<T> signless(const matrix_of<T>& x, const matrix_of<T>& y) {
  matrix_of<T> result(x.rows(), x.cols());
  for (Index j = 0; j < x.cols(); ++j)
    for (Index i = 0; i < x.rows(); ++i) result(i, j) = x(i, j) * y(0, j);
  return result;
}
matrix<var> signless(const matrix<var>& x, const matrix<var>& y) {
  return elementwise_product(x, MatrixXd::Ones(x.rows(), 1) * y.row(0));
}

const auto symmetric = [](Index n) { return arguments{graduated(n, n)}; };

// Iterations leave in every entry, however small, an error of the size of the whole matrix; differences take it for the
// entry's.
const double noise = 1000;

const bool spectra[] = {
    add(
        "symmetric_eigen",
        [](const auto& a) {
          const auto y = agrad::symmetric_eigen(a);
          return std::make_tuple(y.values, signless(y.vectors, y.vectors));
        },
        at_sizes(symmetric), noise),
    add(
        "symmetric_eigenvalues", [](const auto& a) { return agrad::symmetric_eigenvalues(a); }, at_sizes(symmetric), noise),
    add(
        "svd",
        [](const auto& a) {
          const auto y = agrad::svd(a);
          return std::make_tuple(signless(y.u, y.v), y.s, signless(y.v, y.u));
        },
        of_all_shapes(), noise),
    add(
        "singular_values", [](const auto& a) { return agrad::singular_values(a); }, of_all_shapes(), noise),
};

}  // namespace

}  // namespace test_verified_spectra
