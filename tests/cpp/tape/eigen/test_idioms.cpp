// Eigen's idioms on var and dual: fixed sizes, row-major storage, maps, comma initialisers, blocks, arrays, small inverses.
#include <doctest/doctest.h>

#include <Eigen/Geometry>
#include <agrad/rules/lists/elementwise.hpp>
#include <sstream>
#include <vector>

#include "eigen_numbers.hpp"

namespace test_eigen_idioms {

using agrad::dual;
using agrad::scope;
using agrad::var;
using namespace eigen_numbers;

namespace {

constexpr double tolerance = 1e-9;  // of finite differences

template <class T>
using vector3 = Eigen::Matrix<T, 3, 1>;
template <class T>
using row_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

TEST_CASE("vectors of three: dot, cross, norms, normalized") {
  const auto f = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    const vector3<T> a = x.col(0), b = x.col(1);
    const vector3<T> c = a.cross(b) * 2 + a.normalized();
    return T(c.dot(b - a) + c.norm() / b.squaredNorm() + a.template lpNorm<1>() + b.stableNorm() +
             (a - b).template lpNorm<Eigen::Infinity>());
  };
  CHECK(gradient_error(f, numbers(3, 2, 0.2)) < tolerance);
}

TEST_CASE("comma initialisers, blocks, rows and columns, row-major storage, transposes in place") {
  const auto f = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    Eigen::Matrix<T, 2, 3> m;
    m << x(0, 0), 2.0, T(x(1, 1) * x(0, 1)),  //
        x.row(1), x(2, 1);
    row_major<T> r(4, 5);
    r << m, m.template leftCols<2>() * 3, m.array().square().matrix(), Eigen::Matrix<T, 2, 2>::Identity();
    r.template block<2, 2>(1, 1) += r.template topLeftCorner<2, 2>().transpose();
    r.row(2).swap(r.row(0));
    r.col(1) *= x(0, 0);
    r.col(3).tail(2).setConstant(x(2, 0));
    r.diagonal().array() -= 1;
    r.row(3) = r.row(0).reverse().eval();
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> weighted = r * numbers(5, 4, 0.1);
    return T(weighted.trace() + r.colwise().sum().prod() * 0.1 + r.rowwise().squaredNorm().maxCoeff());
  };
  CHECK(gradient_error(f, numbers(3, 2, 0.2)) < tolerance);
}

TEST_CASE("maps of variables: what is written through a map is recorded") {
  const scope own;
  std::vector<var> memory{1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  const std::vector<var> x = memory;
  Eigen::Map<Eigen::Matrix<var, 2, 3>> m(memory.data());
  m.col(1) *= 2.0;
  m(0, 2) += m(0, 0) * m(1, 1);
  const Eigen::Map<const Eigen::Matrix<var, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<2>> top(memory.data(), 3);
  const var y = top.sum();
  y.grad();
  CHECK(y.val() == 1 + 6 + 5 + 1 * 8);
  CHECK(x[0].adj() == 1 + 8);
  CHECK(x[1].adj() == 0);
  CHECK(x[2].adj() == 2);
  CHECK(x[3].adj() == 2);
  CHECK(x[4].adj() == 1);
}

TEST_CASE("arrays: Eigen's functions, comparisons and selections") {
  const auto f = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    using array = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic>;
    const array a = x.array(), positive = a.abs() + 0.5;
    const array b = a.sin() * a.cos() + positive.log() * a.exp() - positive.sqrt() / positive.cube() + a.tan().atan() +
                    (a / 2).asin() + (a / 2).acos() + a.sinh() + a.cosh() + a.tanh() + positive.inverse() +
                    positive.pow(T(1.5)) + positive.rsqrt() + positive.log1p() + a.expm1() + positive.log10();
    const array c = (a > 0).select(b, a * a), d = b.max(c).min(array::Constant(x.rows(), x.cols(), T(4.0)));
    return T(d.sum() + c.mean() + (d / 3).prod() + d.maxCoeff() - b.minCoeff() + (a - b).cwiseAbs().sum() +
             a.matrix().cwiseProduct(b.matrix()).sum() + a.matrix().cwiseQuotient(positive.matrix()).norm());
  };
  CHECK(gradient_error(f, numbers(2, 3, 0.2)) < tolerance);
}

TEST_CASE("reductions of nothing and of one entry") {
  const scope own;
  const VectorXv none;
  CHECK(none.sum().val() == 0);
  CHECK(none.prod().val() == 1);
  CHECK(none.norm().val() == 0);
  const VectorXv one = VectorXd::Constant(1, -3.0).cast<var>();
  const var y = one.norm() + one.prod() + one.maxCoeff() + one.mean();
  y.grad();
  CHECK(one[0].adj() == -1 + 1 + 1 + 1);
}

TEST_CASE("determinants and inverses of 1 x 1 to 5 x 5, of fixed and of free size") {
  const auto fixed = [](auto size) {
    return [](const auto& x) {
      using T = typename std::decay_t<decltype(x)>::Scalar;
      constexpr int n = decltype(size)::value;
      const Eigen::Matrix<T, n, n> a = x, inverse = a.inverse();
      return T(inverse.cwiseProduct(numbers(x.rows(), x.rows(), 0.7)).sum() + 0.1 * a.determinant());
    };
  };
  const auto at = [](Eigen::Index n) -> MatrixXd { return numbers(n, n, 0.2) + 2 * MatrixXd::Identity(n, n); };
  CHECK(gradient_error(fixed(std::integral_constant<int, 1>{}), at(1)) < tolerance);
  CHECK(gradient_error(fixed(std::integral_constant<int, 2>{}), at(2)) < tolerance);
  CHECK(gradient_error(fixed(std::integral_constant<int, 3>{}), at(3)) < tolerance);
  CHECK(gradient_error(fixed(std::integral_constant<int, 4>{}), at(4)) < tolerance);
  CHECK(gradient_error(fixed(std::integral_constant<int, Eigen::Dynamic>{}), at(5)) < tolerance);
}

TEST_CASE("printing, with the stream's precision") {
  const scope own;
  Eigen::Matrix<var, 1, 2> row;
  row << 1.0 / 3, -2.0;
  std::ostringstream out;
  out.precision(3);
  out << row;
  CHECK(out.str() == "0.333    -2");
}

}  // namespace test_eigen_idioms
