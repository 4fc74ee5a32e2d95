// Constraining transforms: Python's values, determinants of differences, inverses, and derivatives to second order.
#include <doctest/doctest.h>
#include <agrad/constraints.hpp>
#include <agrad/functionals/hessian.hpp>
#include <cmath>
#include <vector>

#include "finite_differences.hpp"

namespace test_constraints {

using namespace agrad;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// A transform, the sizes of its free numbers (a column vector where `columns` is 0), and Python's log Jacobian and weighted
/// sum of values at `free_numbers`.
struct transform {
  const char* name;
  int rows, columns;
  double log_jacobian, weighted_sum;
  int size() const { return columns == 0 ? rows : rows * columns; }
};

const std::vector<transform> transforms{
    {"lower_bound", 3, 0, 0.6407698180148053, 3.5237908341582984},
    {"upper_bound", 3, 0, 0.6407698180148053, -2.129382960580721},
    {"lower_upper_bound", 3, 0, -1.1736597925748624, 1.465935373753587},
    {"offset_multiplier", 3, 0, 2.0794415416798357, 2.8272305043865438},
    {"ordered", 4, 0, -0.45418884986423713, -2.077350855820195},
    {"positive_ordered", 4, 0, -0.06477050755558666, -1.544501249096192},
    {"simplex", 4, 0, -7.983000055001595, -0.216626124784451},
    {"unit_vector", 3, 0, -0.6355735673528196, 0.9446199496215542},
    {"sum_to_zero", 4, 0, 0.0, -0.5328172345927873},
    {"sum_to_zero", 2, 3, 0.0, -0.051534142393907245},
    {"stochastic_row", 2, 2, -6.304358213879437, 0.1644691403850328},
    {"stochastic_column", 2, 2, -6.266377662035355, -0.14735904372965308},
    {"cholesky_factor_corr", 6, 0, -3.525873831490381, 1.492432192275493},
    {"corr_matrix", 6, 0, -4.184202002358929, 1.6438917446098498},
    {"cholesky_factor_cov", 9, 0, 0.27858130782381624, 1.1428845251589443},
    {"cov_matrix", 6, 0, 2.80358295100205, 2.6648321929319083},
};

VectorXd free_numbers(int n) {
  VectorXd y(n);
  for (int k = 0; k < n; ++k) y[k] = std::sin(1.7 * k + 0.4);
  return y;
}

template <class M>
auto by_rows(const M& x) {
  Eigen::Matrix<typename M::Scalar, Eigen::Dynamic, 1> flat(x.size());
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j) flat[i * x.cols() + j] = x(i, j);
  return flat;
}

/// What a transform computes of free numbers: values and the inverse of the values.
template <class T>
struct result {
  Eigen::Matrix<T, Eigen::Dynamic, 1> value, back;
  template <class M, class B>
  result(const M& v, const B& b) : value(by_rows(v)), back(by_rows(b)) {}
};

template <class T>
result<T> computed(std::size_t which, const Eigen::Matrix<T, Eigen::Dynamic, 1>& y, T& lp) {
  const transform& of = transforms[which];
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> m(of.rows, std::max(of.columns, 1));
  for (Eigen::Index i = 0; i < y.size(); ++i) m(i / m.cols(), i % m.cols()) = y[i];
  const auto done = [&](const auto& value, const auto& back) { return result<T>(value, back(value)); };
  switch (which) {
    case 0:
      return done(lower_bound_jacobian(y, 0.5, lp), [](const auto& x) { return lower_bound_unconstrain(x, 0.5); });
    case 1:
      return done(upper_bound_jacobian(y, 0.5, lp), [](const auto& x) { return upper_bound_unconstrain(x, 0.5); });
    case 2:
      return done(lower_upper_bound_jacobian(y, -1.0, VectorXd::Constant(3, 2.0), lp),
                  [](const auto& x) { return lower_upper_bound_unconstrain(x, -1.0, 2.0); });
    case 3:
      return done(offset_multiplier_jacobian(y, 0.5, 2, lp),
                  [](const auto& x) { return offset_multiplier_unconstrain(x, 0.5, 2); });
    case 4:
      return done(ordered_jacobian(y, lp), [](const auto& x) { return ordered_unconstrain(x); });
    case 5:
      return done(positive_ordered_jacobian(y, lp), [](const auto& x) { return positive_ordered_unconstrain(x); });
    case 6:
      return done(simplex_jacobian(y, lp), [](const auto& x) { return simplex_unconstrain(x); });
    case 7:
      return done(unit_vector_jacobian(y, lp), [](const auto& x) { return unit_vector_unconstrain(x); });
    case 8:
      return done(sum_to_zero_jacobian(y, lp), [](const auto& x) { return sum_to_zero_unconstrain(x); });
    case 9:
      return done(sum_to_zero_jacobian(m, lp), [](const auto& x) { return sum_to_zero_unconstrain(x); });
    case 10:
      return done(stochastic_row_jacobian(m, lp), [](const auto& x) { return stochastic_row_unconstrain(x); });
    case 11:
      return done(stochastic_column_jacobian(m, lp), [](const auto& x) { return stochastic_column_unconstrain(x); });
    case 12:
      return done(cholesky_factor_corr_jacobian(y, 4, lp), [](const auto& x) { return cholesky_factor_corr_unconstrain(x); });
    case 13:
      return done(corr_matrix_jacobian(y, 4, lp), [](const auto& x) { return corr_matrix_unconstrain(x); });
    case 14:
      return done(cholesky_factor_cov_jacobian(y, 4, 3, lp), [](const auto& x) { return cholesky_factor_cov_unconstrain(x); });
    default:
      return done(cov_matrix_jacobian(y, 3, lp), [](const auto& x) { return cov_matrix_unconstrain(x); });
  }
}

/// The entries of a value that determine the others.
VectorXd independent(std::size_t which, const VectorXd& x) {
  const std::string name = transforms[which].name;
  std::vector<double> some;
  const Eigen::Index n = name == "cov_matrix" || name == "cholesky_factor_cov" || name == "stochastic_row" ? 3
                         : name == "stochastic_column"                                                     ? 2
                                                                                                           : 4;
  const bool is_square = name == "cholesky_factor_corr" || name == "corr_matrix";
  const bool is_lower = name == "cholesky_factor_cov" || name == "cov_matrix";
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    const Eigen::Index i = k / n, j = k % n;
    if ((is_square && j >= i) || (is_lower && j > i)) continue;
    if (name == "simplex" && k == x.size() - 1) continue;
    if ((name == "stochastic_row" && j == n - 1) || (name == "stochastic_column" && i == x.size() / n - 1)) continue;
    some.push_back(x[k]);
  }
  return Eigen::Map<VectorXd>(some.data(), static_cast<Eigen::Index>(some.size()));
}

/// A weighted sum of what a transform computes, as a function for the engines.
struct loss {
  std::size_t which;
  template <class T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& y) const {
    T lp(0.0);
    const result<T> all = computed(which, y, lp);
    T sum = lp;
    for (Eigen::Index k = 0; k < all.value.size(); ++k) sum += std::cos(0.9 * static_cast<double>(k)) * all.value[k];
    for (Eigen::Index k = 0; k < all.back.size(); ++k) sum += std::sin(1.3 * static_cast<double>(k)) * square(all.back[k]);
    return sum;
  }
};

}  // namespace

TEST_CASE("values and log Jacobians are Python's, and inverses lead back") {
  for (std::size_t which = 0; which < transforms.size(); ++which) {
    CAPTURE(transforms[which].name);
    const VectorXd y = free_numbers(transforms[which].size());
    double lp = 1;
    const result<double> all = computed(which, y, lp);
    double sum = 0;
    for (Eigen::Index k = 0; k < all.value.size(); ++k) sum += std::cos(0.9 * static_cast<double>(k)) * all.value[k];
    CHECK(lp - 1 == doctest::Approx(transforms[which].log_jacobian).epsilon(1e-13));
    CHECK(sum == doctest::Approx(transforms[which].weighted_sum).epsilon(1e-13));
    const VectorXd expected = std::string(transforms[which].name) == "unit_vector" ? VectorXd(y / y.norm()) : y;
    CHECK((all.back - expected).norm() < 1e-12);
  }
}

TEST_CASE("log Jacobians are the determinants of differences, also at 0 and far from it") {
  for (std::size_t which = 0; which < transforms.size(); ++which) {
    const std::string name = transforms[which].name;
    if (name == "unit_vector") continue;  // whose log Jacobian is a density of the norm
    CAPTURE(name);
    for (const double factor : {0.0, 1.0, 3.0}) {
      const VectorXd y = factor * free_numbers(transforms[which].size());
      double lp = 0;
      const auto f = [&](const VectorXd& at) {
        double unused = 0;
        return independent(which, computed(which, at, unused).value);
      };
      computed(which, y, lp);
      const MatrixXd J = finite_differences::jacobian(f, y, 1e-3);
      const double square_of_volume = (J.transpose() * J).determinant();
      CHECK(lp == doctest::Approx(0.5 * std::log(square_of_volume)).epsilon(1e-7));
    }
  }
}

TEST_CASE("derivatives of values, log Jacobians and inverses are right to second order, also at 0") {
  for (std::size_t which = 0; which < transforms.size(); ++which) {
    CAPTURE(transforms[which].name);
    for (const double factor : {0.0, 1.0}) {
      if (factor == 0 && std::string(transforms[which].name) == "unit_vector") continue;
      const VectorXd y = factor * free_numbers(transforms[which].size());
      const loss f{which};
      const auto gradient_at = [&](const VectorXd& at) {
        double fx = 0;
        VectorXd g;
        gradient(f, at, fx, g);
        return g;
      };
      double fx = 0;
      VectorXd g;
      MatrixXd H;
      hessian(f, y, fx, g, H);
      const VectorXd by_differences = finite_differences::gradient(f, y, 1e-3);
      const MatrixXd second = finite_differences::jacobian(gradient_at, y, 1e-3);
      CHECK((gradient_at(y) - by_differences).norm() < 1e-8 * (1 + by_differences.norm()));
      CHECK((g - gradient_at(y)).norm() < 1e-12 * (1 + g.norm()));
      CHECK((H - second).norm() < 1e-7 * (1 + second.norm()));
    }
  }
}

TEST_CASE("tails keep their digits") {
  double lp = 0;
  CHECK(lower_upper_bound_jacobian(-700.0, 0.0, 1.0, lp) == doctest::Approx(std::exp(-700.0)).epsilon(1e-13));
  CHECK(lp == doctest::Approx(-700.0).epsilon(1e-14));
  CHECK(lower_upper_bound_constrain(30.0, -1.0, 0.0) == doctest::Approx(-std::exp(-30.0)).epsilon(1e-13));
  lp = 0;
  const MatrixXd factor = cholesky_factor_corr_jacobian(VectorXd::Constant(1, 300.0), 2, lp);
  CHECK(factor(1, 1) == doctest::Approx(2 * std::exp(-300.0)).epsilon(1e-13));
  CHECK(lp == doctest::Approx(2 * std::log(2.0) - 600.0).epsilon(1e-14));
  CHECK(cholesky_factor_corr_unconstrain(factor)[0] == doctest::Approx(300.0).epsilon(1e-14));
  lp = 0;
  const VectorXd share = simplex_jacobian((VectorXd(2) << 1e3, 0.0).finished(), lp);
  CHECK(share.allFinite());
  CHECK(std::isfinite(lp));
  CHECK(unit_vector_constrain(VectorXd::Constant(2, 1e200))[0] == doctest::Approx(std::sqrt(0.5)).epsilon(1e-15));
}

TEST_CASE("bounds may be variables, and infinite ones are none") {
  const scope own;
  const var y = 0.3, low = 0.5, high = 2.0;
  var lp = 0.0;
  const var x = lower_upper_bound_jacobian(y, low, high, lp);
  const var total = x + lp;
  total.grad();
  const double s = 1 / (1 + std::exp(-0.3)), width = 1.5;
  CHECK(low.adj() == doctest::Approx(1 - s - 1 / width).epsilon(1e-14));
  CHECK(high.adj() == doctest::Approx(s + 1 / width).epsilon(1e-14));
  CHECK(y.adj() == doctest::Approx(width * s * (1 - s) + 1 - 2 * s).epsilon(1e-14));
  CHECK(lower_upper_bound_constrain(0.3, 0.0, infinity) == std::exp(0.3));
  CHECK(upper_bound_unconstrain(0.3, infinity) == 0.3);
}

TEST_CASE("infinite variables are no bounds, and have the derivative 0") {
  for (const bool has_high : {false, true}) {
    const scope own;
    const var y = 0.3, low = -infinity, high = has_high ? 2.0 : infinity;
    var lp = 0.0;
    const var x = lower_upper_bound_jacobian(y, low, high, lp);
    const var total = x + 3.0 * lp + 5.0 * lower_upper_bound_unconstrain(x, low, high);
    total.grad();
    CHECK(x.val() == (has_high ? 2 - std::exp(0.3) : 0.3));
    CHECK(lp.val() == (has_high ? 0.3 : 0.0));
    CHECK(low.adj() == 0);
    CHECK(high.adj() == doctest::Approx(has_high ? 1 : 0));
    CHECK(y.adj() == doctest::Approx(has_high ? 3 - std::exp(0.3) + 5 : 6).epsilon(1e-14));
  }
}

TEST_CASE("the distance of two bounds may be larger than the largest number") {
  const double far = 1.5e308, s = 1 / (1 + std::exp(1.3));  // of y = -1.3
  double lp = 0;
  CHECK(lower_upper_bound_jacobian(0.0, -far, far, lp) == 0);
  CHECK(lp == doctest::Approx(std::log(far) - std::log(2.0)).epsilon(1e-15));
  CHECK(lower_upper_bound_constrain(-1.3, -far, far) == doctest::Approx(far * (2 * s - 1)).epsilon(1e-15));
  CHECK(lower_upper_bound_constrain(1.3, -far, far) == doctest::Approx(far * (1 - 2 * s)).epsilon(1e-15));
  CHECK(lower_upper_bound_constrain(800.0, -far, far) == far);
  CHECK(lower_upper_bound_unconstrain(far * (2 * s - 1), -far, far) == doctest::Approx(-1.3).epsilon(1e-12));
  const scope own;
  const var y = -1.3, low = -far, high = far;
  lower_upper_bound_constrain(y, low, high).grad();
  CHECK(low.adj() == doctest::Approx(1 - s).epsilon(1e-15));
  CHECK(high.adj() == doctest::Approx(s).epsilon(1e-15));
  CHECK(y.adj() == doctest::Approx(far * (2 * s * (1 - s))).epsilon(1e-14));
}

TEST_CASE("faults are named") {
  const VectorXd ones = VectorXd::Ones(2);
  CHECK_THROWS_WITH_AS(lower_upper_bound_constrain(0.0, 1.0, 1.0),
                       "lower_upper_bound_constrain: lb is 1, but must be less than ub = 1", DomainError);
  CHECK_THROWS_WITH_AS(lower_bound_constrain(0.0, infinity), "lower_bound_constrain: lb is inf, but must be less than ub = inf",
                       DomainError);
  CHECK_THROWS_WITH_AS(lower_bound_unconstrain(ones, 1.0), "lower_bound_unconstrain: x[0] is 1, but must be above 1",
                       DomainError);
  CHECK_THROWS_AS(lower_bound_constrain(ones, VectorXd::Ones(3)), ShapeError);
  CHECK_THROWS_WITH_AS(offset_multiplier_constrain(ones, 0.0, -1.0),
                       "offset_multiplier_constrain: mult[0] is -1, but must be positive and finite", DomainError);
  CHECK_THROWS_WITH_AS(ordered_unconstrain(ones),
                       "ordered_unconstrain: x[1] is 1, but must be greater than the entry before it, 1", DomainError);
  CHECK_THROWS_WITH_AS(simplex_unconstrain(ones), "simplex_unconstrain: the sum of x is 2, but must be 1", DomainError);
  CHECK_THROWS_AS(sum_to_zero_unconstrain(ones), DomainError);
  CHECK_THROWS_AS(sum_to_zero_unconstrain(Eigen::Vector2d(infinity, 0)), DomainError);
  CHECK_THROWS_WITH_AS(offset_multiplier_unconstrain(quiet_nan, 0.0, 1.0),
                       "offset_multiplier_unconstrain: x is nan, but must be a number, not nan", DomainError);
  CHECK_THROWS_AS(unit_vector_unconstrain(ones), DomainError);
  CHECK_THROWS_WITH_AS(
      unit_vector_constrain(VectorXd::Zero(2)),
      doctest::Contains("unit_vector_constrain: the largest size of an entry of y is 0, but must be at least 2.2"),
      DomainError);
  CHECK_THROWS_AS(unit_vector_constrain(VectorXd::Constant(2, -1e-320)), DomainError);
  CHECK(unit_vector_constrain(VectorXd::Constant(2, -1e-307))[0] == doctest::Approx(-std::sqrt(0.5)).epsilon(1e-15));
  for (const int n : {1, 2}) {
    const MatrixXd infinite = MatrixXd::Constant(n, n, infinity);
    CHECK_THROWS_WITH_AS(cov_matrix_unconstrain(infinite), "cov_matrix_unconstrain: x[0, 0] is inf, but must be finite",
                         DomainError);
  }
  CHECK_THROWS_AS(corr_matrix_constrain(ones, 3), ShapeError);
  CHECK_THROWS_WITH_AS(corr_matrix_unconstrain(MatrixXd::Ones(2, 2)),
                       doctest::Contains("corr_matrix_unconstrain: x is not positive definite"), DomainError);
  CHECK_THROWS_WITH_AS(cov_matrix_unconstrain(-MatrixXd::Identity(2, 2)),
                       doctest::Contains("cov_matrix_unconstrain: x is not positive definite"), DomainError);
  CHECK_THROWS_AS(cov_matrix_unconstrain(MatrixXd::Ones(2, 3)), ShapeError);
  CHECK_THROWS_AS(cholesky_factor_cov_constrain(ones, 2, 3), ShapeError);
  CHECK_THROWS_AS(cholesky_factor_corr_unconstrain(MatrixXd::Ones(2, 2)), DomainError);
  CHECK_THROWS_AS(ordered_constrain(VectorXd()), ShapeError);
}

}  // namespace test_constraints
