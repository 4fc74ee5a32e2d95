// Decompositions under Stan's names: what Stan documents of their results, and derivatives of what is unique in them.
#include <agrad/rules/lists/stan_names.hpp>

#include "linalg_probe.hpp"
#include "message_of.hpp"

namespace test_linalg_stan_names {

using namespace linalg_probe;
using messages::message_of;

namespace {
/// Squares of entries do not depend on the signs of vectors.
template <class T>
Mat<T> squares(const Mat<T>& v) {
  return v.cwiseProduct(v);
}
/// All decompositions of one matrix, in forms that do not depend on the signs of vectors: one function, because each engine
/// compiles each function.
const auto decompositions = [](const auto& a) {
  using T = typename std::decay_t<decltype(a)>::Scalar;
  const auto y = agrad::eigendecompose_sym(a);
  Mat<T> result = squares(agrad::eigenvectors_sym(a)) - 2.5 * squares(y.vectors);
  result.col(0) += y.values + agrad::eigenvalues_sym(a);
  result += squares(agrad::svd_U(a)) + 1.5 * squares(agrad::svd_V(a));
  result += agrad::qr_thin_Q(a) + agrad::qr_thin_R(a) + squares(agrad::qr_thin(a).q);
  return Mat<T>(result + agrad::generalized_inverse(a));
};
}  // namespace

TEST_CASE("Stan's names: derivatives of decompositions") {
  check_derivatives(decompositions, spd(3));
  check_derivatives(decompositions, MatrixXd(MatrixXd::Constant(1, 1, 1.7)));
}

TEST_CASE("Stan's names: eigenvalues and eigenvectors of symmetric matrices") {
  const MatrixXd a = spd(4);
  const auto y = agrad::eigendecompose_sym(a);
  const VectorXd values = agrad::eigenvalues_sym(a);
  CHECK(y.values == values);
  CHECK(y.vectors == agrad::eigenvectors_sym(a));
  CHECK(std::is_sorted(values.data(), values.data() + 4));
  CHECK(distance(a * y.vectors, y.vectors * values.asDiagonal()) < 1e-14);
  CHECK(agrad::eigenvalues_sym(MatrixXd(0, 0)).size() == 0);
  CHECK(agrad::eigenvalues_sym(MatrixXd::Constant(1, 1, 3.0))[0] == 3);
  CHECK(agrad::eigenvalues_sym(MatrixXd(MatrixXd::Identity(3, 3))) == VectorXd::Ones(3));
  CHECK(message_of<agrad::ShapeError>([] { (void)agrad::eigenvectors_sym(numbers(2, 3)); }) ==
        "symmetric_eigen: a is of shape (2, 3), but must be square");
}

TEST_CASE("Stan's names: singular vectors") {
  for (const auto& size : {std::pair<Index, Index>{1, 1}, {3, 3}, {4, 2}, {2, 4}}) {
    const MatrixXd a = numbers(size.first, size.second), u = agrad::svd_U(a), v = agrad::svd_V(a);
    CHECK(distance(u * agrad::singular_values(a).asDiagonal() * v.transpose(), a) < 1e-14);
  }
  CHECK(agrad::svd_U(MatrixXd(3, 0)).cols() == 0);
  CHECK(agrad::svd_V(MatrixXd(3, 0)).rows() == 0);
}

TEST_CASE("Stan's names: thin QR factors") {
  const MatrixXd a = numbers(4, 3), q = agrad::qr_thin_Q(a), r = agrad::qr_thin_R(a);
  CHECK(distance(q * r, a) < 1e-14);
  CHECK((r.diagonal().array() > 0).all());
  CHECK(agrad::qr_thin(a).q == q);
  CHECK(agrad::qr_thin_Q(numbers(2, 4)).cols() == 2);
  CHECK(agrad::qr_thin_R(numbers(2, 4)).cols() == 4);
}

TEST_CASE("Stan's names: generalized inverses") {
  for (const auto& size : {std::pair<Index, Index>{1, 1}, {3, 2}, {2, 3}}) {
    const MatrixXd a = numbers(size.first, size.second), y = agrad::generalized_inverse(a);
    CHECK(distance(a * y * a, a) < 1e-14);
    CHECK(distance(y * a * y, y) < 1e-14);
  }
  CHECK(agrad::generalized_inverse(MatrixXd(MatrixXd::Ones(3, 2))).isApprox(MatrixXd::Constant(2, 3, 1.0 / 6), 1e-14));
}

TEST_CASE("Stan's names: mdivide_right_tri_low") {
  const MatrixXd l = regular(3), lower = l.triangularView<Eigen::Lower>(), b = numbers(2, 3, 0.9);
  CHECK(distance(agrad::mdivide_right_tri_low(b, l) * lower, b) < 1e-14);
  const Eigen::RowVectorXd row = b.row(1), x = agrad::mdivide_right_tri_low(row, l);
  CHECK(distance(x * lower, row) < 1e-14);
  const auto both = [&b](const auto& a) { return agrad::mdivide_right_tri_low(agrad::mdivide_right_tri_low(b, a), a); };
  check_derivatives(both, l);
  const agrad::scope own;
  const agrad::matrix<var> blocks(l);
  const agrad::matrix<var> of_blocks = agrad::mdivide_right_tri_low(b, blocks);
  CHECK(distance(of_blocks.val(), agrad::mdivide_right_tri_low(b, l)) == 0);
  const Eigen::Matrix<var, 1, -1> active = row.cast<var>(), of_active = agrad::mdivide_right_tri_low(active, l);
  of_active[0].grad();
  CHECK(std::abs(active[2].adj() - lower.inverse()(2, 0)) < 1e-14);
  CHECK(agrad::mdivide_right_tri_low(MatrixXd(2, 0), MatrixXd(0, 0)).rows() == 2);
  CHECK(agrad::mdivide_right_tri_low(MatrixXd(0, 3), l).cols() == 3);
  CHECK(message_of<agrad::ShapeError>([&] { (void)agrad::mdivide_right_tri_low(l.leftCols(2).eval(), l); }) ==
        "mdivide_right_tri_low: b is of shape (3, 2), but must be with 3 columns, as many as a has rows");
  CHECK(message_of<agrad::ShapeError>([&] { (void)agrad::mdivide_right_tri_low(b, b); }) ==
        "mdivide_right_tri_low: a is of shape (2, 3), but must be square");
  CHECK_THROWS_AS((void)agrad::mdivide_right_tri_low(b, MatrixXd(MatrixXd::Zero(3, 3))), agrad::DomainError);
}

}  // namespace test_linalg_stan_names
