// promoted_t: the scalar of a result of mixed scalars, containers and expressions; and that code written with it computes.
#include <doctest/doctest.h>
#include <Eigen/SparseCore>
#include <agrad/dual/dual.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/rules/promote.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/matrix.hpp>
#include <agrad/tape/scope.hpp>
#include <string>

namespace test_promote {

using agrad::dual;
using agrad::promoted_t;
using agrad::var;
using agrad::vector_of;

namespace {

template <class Expected, class... T>
inline constexpr bool gives = std::is_same_v<promoted_t<T...>, Expected>;

using sum_of_vars = decltype(var() * 2 + var());
using sum_of_vectors = decltype(vector_of<var>() + vector_of<var>());
using deep = dual<dual<var>>;

static_assert(gives<double> && gives<double, double> && gives<double, int, float, bool> && gives<double, long, const double&>);
static_assert(gives<var, var> && gives<var, double, var> && gives<var, var&, int> && gives<var, const var&, var&&>);
static_assert(gives<var, sum_of_vars> && gives<var, double, sum_of_vars, int>);
static_assert(gives<dual<double>, int, dual<double>> && gives<dual<double, 4>, dual<double, 4>, double>);
static_assert(gives<dual<var>, var, dual<var>, double> && gives<dual<var>, dual<var>, sum_of_vars>);
static_assert(gives<deep, deep, dual<var>, var, double> && gives<deep, double, var, dual<var>, deep>);

static_assert(gives<double, Eigen::VectorXd> && gives<double, Eigen::MatrixXi> && gives<double, std::vector<int>>);
static_assert(gives<var, Eigen::VectorXd, vector_of<var>> && gives<var, sum_of_vectors> && gives<var, Eigen::Array<var, 2, 2>>);
static_assert(gives<var, decltype(vector_of<var>().head(2))> && gives<var, decltype(vector_of<var>().segment<2>(0))>);
static_assert(gives<var, decltype(std::declval<Eigen::Matrix<var, 3, 3>&>().row(0))>);
static_assert(gives<var, Eigen::Map<const vector_of<var>>> && gives<var, Eigen::Ref<const vector_of<var>>>);
static_assert(gives<dual<double>, const vector_of<dual<double>>&, Eigen::SparseMatrix<double>>);
static_assert(gives<dual<double>, Eigen::SparseMatrix<dual<double>>>);
static_assert(gives<var, agrad::matrix<var>> && gives<dual<var>, agrad::matrix<var>, dual<var>>);
static_assert(gives<var, decltype(std::declval<const agrad::matrix<var>&>().transpose())>);
static_assert(gives<var, std::vector<var>> && gives<var, std::vector<vector_of<var>>, double> &&
              gives<var, std::array<var, 3>>);
static_assert(gives<var, std::tuple<double, std::vector<var>>> && gives<dual<var>, std::pair<var, std::tuple<dual<var>>>>);
static_assert(gives<double, std::string> && gives<var, std::string, var> && gives<double, std::tuple<>>);

/// A weighted sum in the style of mixed templates: each argument constant or not.
template <class A, class B, class C>
promoted_t<A, B, C> weighted(const std::vector<A>& a, const Eigen::Matrix<B, Eigen::Dynamic, 1>& b, const C& c) {
  using std::exp;
  promoted_t<A, B, C> sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[static_cast<Eigen::Index>(i)] * exp(c);
  return sum;
}

}  // namespace

TEST_CASE("mixed templates compute with every choice of what is constant") {
  const agrad::scope own;
  const std::vector<double> a{1, 2};
  const Eigen::VectorXd b = Eigen::Vector2d(3, 4);
  const double expected = 11 * std::exp(0.5);
  CHECK(weighted(a, b, 0.5) == doctest::Approx(expected).epsilon(1e-15));

  const var c = 0.5;
  const var y = weighted(a, b, c);
  y.grad();
  CHECK(y.val() == doctest::Approx(expected).epsilon(1e-15));
  CHECK(c.adj() == doctest::Approx(expected).epsilon(1e-15));

  const std::vector<var> va{1, 2};
  const var z = weighted(va, b, 0.5);
  z.grad();
  CHECK(va[1].adj() == doctest::Approx(4 * std::exp(0.5)).epsilon(1e-15));

  const std::vector<dual<var>> da{var(1), dual<var>(var(2), {var(1)})};
  const dual<var> mixed = weighted(da, vector_of<var>(b.cast<var>()), c);
  CHECK(mixed.tangent[0].val() == doctest::Approx(4 * std::exp(0.5)).epsilon(1e-15));
  mixed.tangent[0].grad();
  CHECK(c.adj() == doctest::Approx(4 * std::exp(0.5)).epsilon(1e-15));
}

}  // namespace test_promote
