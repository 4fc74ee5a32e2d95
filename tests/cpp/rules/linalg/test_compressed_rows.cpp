// Sparse matrices by compressed rows, and powers of matrices: values, derivatives, errors.
#include <agrad/rules/linalg/compressed_rows.hpp>
#include <agrad/rules/linalg/matrix_power.hpp>

#include "linalg_probe.hpp"
#include "message_of.hpp"

namespace test_compressed_rows {

using namespace linalg_probe;
using messages::message_of;

namespace {
using places = std::vector<int>;

const MatrixXd full = (MatrixXd(3, 4) << 0, 1.5, 0, -2, 0, 0, 0, 0, 3, 0, 0.5, 0).finished();
}  // namespace

TEST_CASE("compressed rows: entries of matrices") {
  const agrad::csr_entries entries = agrad::csr_extract(full);
  CHECK(entries.w == Eigen::Vector4d(1.5, -2, 3, 0.5));
  CHECK(entries.v == places{1, 3, 0, 2});
  CHECK(entries.u == places{0, 2, 2, 4});
  CHECK(agrad::csr_extract_w(full) == entries.w);
  CHECK(agrad::csr_extract_v(full) == entries.v);
  CHECK(agrad::csr_extract_u(full) == entries.u);
  const Eigen::SparseMatrix<double> sparse = full.sparseView();
  CHECK(agrad::csr_extract_w(sparse) == entries.w);
  CHECK(agrad::csr_extract_v(sparse) == entries.v);
  CHECK(agrad::csr_extract_u(sparse) == entries.u);
  CHECK(agrad::csr_to_dense_matrix(3, 4, entries.w, entries.v, entries.u) == full);
  CHECK(agrad::csr_extract_u(MatrixXd(0, 3)) == places{0});
  CHECK(agrad::csr_extract_u(MatrixXd(2, 0)) == places{0, 0, 0});
  CHECK(agrad::csr_extract_u(MatrixXd::Constant(1, 1, 2)) == places{0, 1});
}

TEST_CASE("compressed rows: products and dense matrices") {
  const agrad::csr_entries entries = agrad::csr_extract(full);
  const VectorXd b = numbers(4, 1);
  CHECK(distance(agrad::csr_matrix_times_vector(3, 4, entries.w, entries.v, entries.u, b), full * b) < 1e-15);
  const auto both = [&](const auto& x) {  // values and factors are of the argument
    using T = typename std::decay_t<decltype(x)>::Scalar;
    const agrad::vector_of<T> w = x.col(0), factors = x.col(1);
    const Mat<T> dense = agrad::csr_to_dense_matrix(3, 4, w, entries.v, entries.u);
    Mat<T> result(3, 3);
    result.col(0) = agrad::csr_matrix_times_vector(3, 4, w, entries.v, entries.u, factors);
    result.col(1) = agrad::csr_matrix_times_vector(3, 4, entries.w, entries.v, entries.u, factors);
    result.col(2) = dense.cwiseProduct(dense) * b.cast<T>();
    return result;
  };
  check_derivatives(both, numbers(4, 2));
  const places v{0, 0}, u{0, 2};
  CHECK(agrad::csr_to_dense_matrix(1, 1, Eigen::Vector2d(2, 3), v, u)(0, 0) == 5);
  CHECK(agrad::csr_matrix_times_vector(1, 1, Eigen::RowVector2d(2, 3), v, u, VectorXd::Constant(1, 2.0))[0] == 10);
  CHECK(agrad::csr_matrix_times_vector(0, 2, VectorXd(0), {}, {0}, Eigen::Vector2d(1, 2)).size() == 0);
  CHECK(agrad::csr_matrix_times_vector(2, 0, VectorXd(0), {}, {0, 0, 0}, VectorXd(0)) == Eigen::Vector2d(0, 0));
}

TEST_CASE("compressed rows: errors") {
  const auto of = [](int m, int n, const places& v, const places& u, Index length) {
    return message_of([&] { (void)agrad::csr_matrix_times_vector(m, n, Eigen::Vector2d(1, 2), v, u, VectorXd(length)); });
  };
  const std::string name = "csr_matrix_times_vector: ";
  CHECK(of(-1, 2, {0, 1}, {}, 2) == name + "m is -1, but must be nonnegative");
  CHECK(of(1, -2, {0, 1}, {0, 2}, 2) == name + "n is -2, but must be nonnegative");
  CHECK(of(1, 2, {0}, {0, 2}, 2) == name + "v is of length 1, but must be of length 2; the length of w");
  CHECK(of(1, 2, {0, 1}, {0}, 2) == name + "u is of length 1, but must be of length 2; one more than the rows");
  CHECK(of(1, 2, {0, 2}, {0, 2}, 2) == name + "v[1] is 2, but must be a column, 0 to 1; columns count from 0");
  CHECK(of(1, 2, {0, 1}, {1, 3}, 2) == name + "u is from 1 to 3, but must be from 0 to 2, the number of values");
  CHECK(of(3, 2, {0, 1}, {0, 2, 1, 2}, 2) == name + "u[2] is 1, but must be at least u[1] = 2");
  CHECK(of(1, 2, {0, 1}, {0, 2}, 3) == name + "b is of length 3, but must be of length 2; the number of columns");
  CHECK(message_of([] {
          (void)agrad::csr_to_dense_matrix(1, 1, Eigen::VectorXd::Ones(1), {-1}, {0, 1});
        }) == "csr_to_dense_matrix: v[0] is -1, but must be a column, 0 to 0; columns count from 0");
}

TEST_CASE("matrix_power: values, derivatives and errors") {
  const MatrixXd a = 0.5 * numbers(3, 3);
  MatrixXd product = MatrixXd::Identity(3, 3);
  for (int n = 0; n <= 9; ++n) {
    CHECK(distance(agrad::matrix_power(a, n), product) < 1e-14);
    product = (product * a).eval();
  }
  for (const int n : {0, 1, 2, 5}) check_derivatives([n](const auto& x) { return agrad::matrix_power(x, n); }, a);
  const agrad::scope own;
  const agrad::matrix<var> blocks(a);
  const agrad::matrix<var> unit = agrad::matrix_power(blocks, 0), cube = agrad::matrix_power(blocks, 3);
  CHECK(unit.val() == MatrixXd::Identity(3, 3));
  CHECK(cube.val() == agrad::matrix_power(a, 3));
  CHECK(agrad::matrix_power(MatrixXd(0, 0), 3).size() == 0);
  CHECK(agrad::matrix_power(MatrixXd::Constant(1, 1, 3.0), 4)(0, 0) == 81);
  CHECK(message_of([&] { (void)agrad::matrix_power(a, -1); }) ==
        "matrix_power: n is -1, but must be nonnegative; take a power of inverse(a)");
  CHECK(message_of([] { (void)agrad::matrix_power(numbers(2, 3), 2); }) ==
        "matrix_power: a is of shape (2, 3), but must be square");
}

}  // namespace test_compressed_rows
