// Every quantile on numbers, duals and variables: the inverse of its distribution function, in value and gradient.
// (Python compares recordings of every quantile with mpmath, in both tails and in derivatives to second order.)
#include <doctest/doctest.h>
#include <agrad/probability.hpp>
#include <agrad/tape/matrix.hpp>
#include <string>

namespace test_quantiles {

using namespace agrad;

namespace {

/// A value that meets the condition on argument k; the values grow, as those of the uniform distribution must.
double value_for(const condition& must, std::size_t k) {
  for (const double x : {0.4 + static_cast<double>(k), 0.1 * static_cast<double>(k)})
    if (must.holds(x)) return x;
  return 0;
}

/// With x = qf(p, theta), log F(x; theta) is log p: its derivative by p is 1 / p, and 0 by each parameter.
template <class Quantile, class LogCdf, std::size_t... K>
void check_inverse(std::index_sequence<K...>) {
  const double p = 0.3, given[] = {value_for(Quantile::arguments[K + 1].must, K + 1)..., 0.0};
  CAPTURE(std::string(Quantile::family));
  const double x = detail::apply_quantile<Quantile>(false, p, given[K]...);
  CHECK(x == doctest::Approx(detail::apply_quantile<Quantile>(true, 1 - p, given[K]...)).epsilon(1e-13));
  CHECK(apply_probability<LogCdf>(x, given[K]...) == doctest::Approx(std::log(p)).epsilon(1e-13));

  const scope own;
  const var q = p, theta[] = {var(given[K])..., var(0.0)};
  const var y = apply_probability<LogCdf>(detail::apply_quantile<Quantile>(false, q, theta[K]...), theta[K]...);
  y.grad();
  CHECK(q.adj() == doctest::Approx(1 / p).epsilon(1e-11));
  const double adjoints[] = {theta[K].adj()..., 0.0};
  for (const double adjoint : adjoints) CHECK(std::abs(adjoint) < 1e-11);
}

}  // namespace

TEST_CASE("a distribution function at its quantile is p, with derivatives 1 and 0") {
  for_each(rules::quantiles{}, [](auto tag) {
    using Quantile = typename decltype(tag)::type;
    check_inverse<Quantile, typename Quantile::log_cdf>(
        std::make_index_sequence<static_cast<std::size_t>(Quantile::arity) - 1>{});
  });
}

TEST_CASE("quantiles of duals have tangents") {
  using D = dual<double, 2>;
  D p(0.2), alpha(1.7);
  p.tangent[0] = 1;
  alpha.tangent[1] = 1;
  const D x = gamma_cqf(p, alpha, 2.0);
  const double h = 1e-6;
  CHECK(x.tangent[0] == doctest::Approx((gamma_cqf(0.2 + h, 1.7, 2) - gamma_cqf(0.2 - h, 1.7, 2)) / (2 * h)).epsilon(1e-8));
  CHECK(x.tangent[1] == doctest::Approx((gamma_cqf(0.2, 1.7 + h, 2) - gamma_cqf(0.2, 1.7 - h, 2)) / (2 * h)).epsilon(1e-8));
}

TEST_CASE("the quantile of a log probability refuses what is no log probability") {
  const auto message = "std_normal_log_qf: x is 0.1, but must be at most 0";
  CHECK_THROWS_WITH_AS(std_normal_log_qf(0.1), message, DomainError);
  CHECK_THROWS_WITH_AS(std_normal_log_qf(dual<double>(0.1)), message, DomainError);
  CHECK_THROWS_AS(std_normal_log_qf(quiet_nan), DomainError);
  CHECK(std_normal_log_qf(0.0) == infinity);
  const scope own;
  const var x = 0.05;
  CHECK_THROWS_WITH_AS(std_normal_log_qf(2.0 * x), message, DomainError);
  Eigen::MatrixXd values(2, 2);
  values << -1, 0.1, -2, -3;
  const auto of_entry = "std_normal_log_qf: x[0, 1] is 0.1, but must be at most 0";
  CHECK_THROWS_WITH_AS(std_normal_log_qf(values), of_entry, DomainError);
  CHECK_THROWS_WITH_AS(std_normal_log_qf(matrix<var>(values)), of_entry, DomainError);
  CHECK_THROWS_WITH_AS(std_normal_log_qf(values.row(0)), "std_normal_log_qf: x[1] is 0.1, but must be at most 0", DomainError);
  CHECK(std_normal_log_qf(-values.cwiseAbs()).rows() == 2);
}

TEST_CASE("quantiles keep the digits of small probabilities") {
  CHECK(gamma_qf(1e-300, 2, 1) == doctest::Approx(std::sqrt(2.0) * 1e-150).epsilon(1e-15));
  CHECK(student_t_cqf(1e-300, 1, 0, 1) == doctest::Approx(1 / (detail::pi * 1e-300)).epsilon(1e-13));
  CHECK(exponential_cqf(1e-300, 2) == doctest::Approx(-0.5 * std::log(1e-300)).epsilon(1e-15));
  CHECK(std_normal_log_qf(-1000.0) == doctest::Approx(-44.615747731969407).epsilon(1e-15));
}

TEST_CASE("quantiles name an argument that does not meet its condition") {
  CHECK_THROWS_WITH_AS(gamma_qf(0.5, -1, 2), "gamma_qf: alpha is -1, but must be positive and finite", DomainError);
  CHECK_THROWS_WITH_AS(beta_cqf(1.5, 1, 2), "beta_cqf: p is 1.5, but must be between 0 and 1", DomainError);
}

TEST_CASE("quantiles check conditions on two arguments") {
  CHECK_THROWS_WITH_AS(uniform_qf(0.3, 2, 1), "uniform_qf: alpha is 2, but must be less than beta = 1", DomainError);
  CHECK_THROWS_WITH_AS(uniform_cqf(0.3, var(1.0), 1), "uniform_cqf: alpha is 1, but must be less than beta = 1", DomainError);
}

TEST_CASE("a normal variable plus an exponential one of a tiny rate") {
  for (const double lambda : {1e-4, 1e-8, 1e-300}) {
    CAPTURE(lambda);
    const double lower = exp_mod_normal_qf(0.3, 0, 1, lambda), upper = exp_mod_normal_cqf(0.3, 0, 1, lambda);
    CHECK(exp_mod_normal_cdf(lower, 0, 1, lambda) == doctest::Approx(0.3).epsilon(1e-12).scale(0));
    CHECK(std::exp(exp_mod_normal_lccdf(upper, 0, 1, lambda)) == doctest::Approx(0.3).epsilon(1e-12).scale(0));
  }
  CHECK(exp_mod_normal_qf(0.3, 0, 1, 1e-310) == infinity);
  CHECK(exp_mod_normal_cqf(0.3, 0, 1, 1e-310) == infinity);
}

TEST_CASE("quantiles at tiny shapes") {
  CHECK(gamma_cqf(0.1, 1e-10, 1) == 0);
  CHECK(gamma_qf(0.9, 1e-10, 1) == 0);
  CHECK(gamma_cqf(0.1, 1e-3, 1) == doctest::Approx(9.821659644066579109e-47).epsilon(1e-12).scale(0));
  // A denormal shape: the tail has four digits, and its slope none.
  const double x = beta_cqf(5e-324, 1e-320, 1e4);
  CHECK(x > 5e-4);
  CHECK(x < 6e-4);
}

TEST_CASE("a tail inverse whose steps do not end is nan") {
  const auto at = [](double x) { return detail::tail_excess{1, 1 + 0 * x}; };
  CHECK(std::isnan(detail::inverse_of_tail(true, -infinity, 0, infinity, at, [](double x, double step) { return x + step; })));
}

}  // namespace test_quantiles
