// Sorting, quantiles, variances: values, derivatives, equal entries, empty and single ones, errors.
#include <agrad/rules/arrays/moments.hpp>
#include <agrad/rules/arrays/sorting.hpp>
#include <agrad/tape/matrix/reduce.hpp>

#include "linalg_probe.hpp"
#include "message_of.hpp"

namespace test_sorting {

using namespace linalg_probe;
using agrad::vector_of;
using messages::message_of;

namespace {
using places = std::vector<int>;
const double infinity = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("sorting: orders, kinds and equal entries") {
  const std::vector<double> x{3, 1, 2, 1};
  CHECK(agrad::sort_asc(x) == std::vector<double>{1, 1, 2, 3});
  CHECK(agrad::sort_desc(x) == std::vector<double>{3, 2, 1, 1});
  CHECK(agrad::sort_indices_asc(x) == places{1, 3, 2, 0});
  CHECK(agrad::sort_indices_desc(x) == places{0, 2, 1, 3});
  CHECK(agrad::sort_asc(std::vector<int>{2, -1}) == std::vector<int>{-1, 2});
  const Eigen::RowVector4d row(3, 1, 2, 1);
  const Eigen::RowVector4d sorted = agrad::sort_asc(row);
  CHECK(sorted == Eigen::RowVector4d(1, 1, 2, 3));
  CHECK(agrad::sort_desc((2 * row).tail(3)) == Eigen::RowVector3d(4, 2, 2));
  CHECK(agrad::sort_indices_desc(row) == places{0, 2, 1, 3});
  CHECK(agrad::sort_asc(VectorXd(0)).size() == 0);
  CHECK(agrad::sort_indices_asc(std::vector<double>()).empty());
  CHECK(agrad::sort_desc(std::vector<double>{7}) == std::vector<double>{7});
  CHECK(agrad::sort_asc(Eigen::Vector3d(infinity, 0, -infinity)) == Eigen::Vector3d(-infinity, 0, infinity));
  for (const int n : {0, 1}) {
    const Eigen::Vector2d bad(n == 0 ? std::nan("") : 0, std::nan(""));
    const std::string is = "x[" + std::to_string(n) + "] is nan, but must be a number, not nan";
    CHECK(message_of([&] { (void)agrad::sort_asc(bad); }) == "sort_asc: " + is);
    CHECK(message_of([&] { (void)agrad::sort_indices_desc(bad); }) == "sort_indices_desc: " + is);
    CHECK(message_of([&] { (void)agrad::quantile(bad, 0.5); }) == "quantile: " + is);
  }
}

TEST_CASE("sorting: entries keep their derivatives") {
  const agrad::scope own;
  const std::vector<var> x{var(2.0), var(1.0), var(1.0)};
  const std::vector<var> up = agrad::sort_asc(x), down = agrad::sort_desc(x);
  var(up[0] * 3.0 + up[2]).grad();
  CHECK(x[0].adj() == 1);
  CHECK(x[1].adj() == 3);
  CHECK(x[2].adj() == 0);
  var(down[1] * 5.0).grad();
  CHECK(x[1].adj() == 5);
}

TEST_CASE("quantile: interpolation of definition 7") {
  const Eigen::Vector4d x(3, 1, 7, 2);
  CHECK(agrad::quantile(x, 0.0) == 1);
  CHECK(agrad::quantile(x, 1.0) == 7);
  CHECK(agrad::quantile(x, 0.5) == 2.5);
  CHECK(agrad::quantile(x, 0.25) == 1.75);  // numpy.quantile([3, 1, 7, 2], 0.25)
  CHECK(agrad::quantile(std::vector<double>{3, 1, 7, 2}, {0.25, 1.0}) == std::vector<double>{1.75, 7});
  CHECK(agrad::quantile(x, std::vector<double>()).empty());
  CHECK(agrad::quantile(VectorXd::Constant(1, 4.0), 0.3) == 4);
  CHECK(agrad::quantile(VectorXd::Constant(3, 0.1), 0.3) == 0.1);
  CHECK(agrad::quantile(Eigen::Vector2d(-1e308, 1e308), 0.25) == -0.5e308);
  CHECK(agrad::quantile(Eigen::Vector2d(infinity, infinity), 0.25) == infinity);
  CHECK(message_of([] { (void)agrad::quantile(VectorXd(0), 0.3); }) ==
        "quantile: x is of size 0, but must be of at least one entry");
  CHECK(message_of([&] { (void)agrad::quantile(x, 1.5); }) == "quantile: p is 1.5, but must be between 0 and 1");
  CHECK(message_of([&] {
          (void)agrad::quantile(x, {0.5, std::nan("")});
        }) == "quantile: p[1] is nan, but must be between 0 and 1");
}

TEST_CASE("quantile, variance, sd, sorting: derivatives") {
  const auto all = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    const vector_of<T> cubes = x.col(0).cwiseProduct(x.col(0)).cwiseProduct(x.col(0));
    Mat<T> result(x.rows() + 3, 1);
    result.topRows(x.rows()) = agrad::sort_asc(cubes).cwiseProduct(agrad::sort_desc(vector_of<T>(x.col(0))));
    result(x.rows(), 0) = agrad::quantile(cubes, 0.4);
    result(x.rows() + 1, 0) = agrad::variance(cubes) + agrad::variance(x);
    result(x.rows() + 2, 0) = agrad::sd(std::vector<T>(x.data(), x.data() + x.size()));
    return result;
  };
  check_derivatives(all, numbers(5, 1));
}

TEST_CASE("variance and sd: values, and what has no spread") {
  const Eigen::Vector3d x(1, 2, 6);
  CHECK(agrad::variance(x) == 7);
  CHECK(agrad::sd(x) == doctest::Approx(std::sqrt(7.0)).epsilon(1e-15));
  CHECK(agrad::variance(std::vector<double>{1, 2, 6}) == 7);
  CHECK(agrad::variance(x.array() + 1e15) == 7);
  CHECK(agrad::variance(Eigen::Matrix2d(Eigen::Matrix2d::Identity())) == doctest::Approx(1.0 / 3).epsilon(1e-15));
  CHECK(agrad::sd((1e200 * x).eval()) == doctest::Approx(1e200 * std::sqrt(7.0)).epsilon(1e-15));
  const agrad::scope own;
  for (const Index n : {1, 3}) {
    const vector_of<var> equal = VectorXd::Constant(n, 0.1).cast<var>();
    for (const var& y : {agrad::sd(equal), agrad::variance(equal)}) {
      CHECK(y.val() == 0);
      var(y * 1.0).grad();
      for (Index i = 0; i < n; ++i) CHECK(equal[i].adj() == 0);
    }
  }
  const agrad::matrix<var> blocks(MatrixXd(x.transpose()));
  const var of_blocks = agrad::variance(blocks);
  of_blocks.grad();
  CHECK(of_blocks.val() == 7);
  CHECK(distance(blocks.adj(), Eigen::RowVector3d(-2, -1, 3)) < 1e-15);
  CHECK(agrad::sd(blocks).val() == agrad::sd(x));
  CHECK(message_of([] { (void)agrad::variance(VectorXd(0)); }) ==
        "variance: x is of size 0, but must be of at least one entry");
  CHECK(message_of([] { (void)agrad::sd(std::vector<double>()); }) == "sd: x is of size 0, but must be of at least one entry");
}

}  // namespace test_sorting
