// Every probability rule on numbers, duals and variables of the tape: one value and one gradient.
// (Python compares recordings of every rule with mpmath, in value and derivatives to second order.)
#include <doctest/doctest.h>
#include <agrad/probability.hpp>
#include <string>
#include <vector>

namespace test_probability {

using namespace agrad;

namespace {

/// A few values that meet a condition.
std::vector<double> values_for(const condition& must) {
  std::vector<double> some;
  for (const double x : {1.0, 2.0, 0.4, 0.0, 3.5, -0.7})
    if (must.holds(x)) some.push_back(x);
  return some;
}

/// Sequences of three values for each argument, shifted against each other.
template <class Rule>
std::vector<std::vector<double>> sequences() {
  std::vector<std::vector<double>> all;
  for (const density_argument& argument : Rule::arguments) {
    const auto some = values_for(argument.must);
    std::vector<double> three;
    for (std::size_t i = 0; i < 3; ++i) three.push_back(some[(i + all.size()) % some.size()]);
    all.push_back(three);
  }
  for (const density_pair& pair : Rule::pairs)
    for (std::size_t i = 0; i < 3; ++i) {
      double &first = all[pair.first][i], &second = all[pair.second][i];
      if (!pair.must.holds(first, second)) std::swap(first, second);
    }
  for (const density_sum& sum : Rule::sums)
    for (std::size_t i = 0; i < 3; ++i) {
      const double of_others = all[sum.second][i] + all[sum.third][i];
      if (!sum.must.holds(all[sum.first][i], of_others)) all[sum.first][i] = of_others;
    }
  return all;
}

void check_same(std::string_view name, double x, double y) {
  CAPTURE(name);
  if (std::isfinite(y))
    CHECK(x == doctest::Approx(y).epsilon(1e-11));
  else
    CHECK((x == y || (std::isnan(x) && std::isnan(y))));
}

/// The partial derivative with respect to entry i of argument k, by duals.
template <class Rule, std::size_t... K>
double partial_by_duals(const std::vector<std::vector<double>>& x, std::size_t k, std::size_t i, std::index_sequence<K...>) {
  const auto with_tangent = [&](std::size_t of) {
    std::vector<dual<double>> duals(x[of].begin(), x[of].end());
    if (of == k) duals[i].tangent[0] = 1;
    return duals;
  };
  return apply_probability<Rule>(with_tangent(K)...).tangent[0];
}

template <class Rule, std::size_t... K>
void check_engines(std::index_sequence<K...> places) {
  const auto x = sequences<Rule>();
  const double value = apply_probability<Rule>(x[K]...);
  const scope own;
  const std::vector<std::vector<var>> v{std::vector<var>(x[K].begin(), x[K].end())...};
  const var y = apply_probability<Rule>(v[K]...);
  y.grad();
  check_same(Rule::name, y.val(), value);

  for (std::size_t k = 0; k < x.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i) {
      const double partial = partial_by_duals<Rule>(x, k, i, places);
      check_same(Rule::name, v[k][i].adj(), partial);
    }
}

}  // namespace

TEST_CASE("numbers, duals and variables have one value and one gradient") {
  for_each(rules::probability{}, [](auto tag) {
    using Rule = typename decltype(tag)::type;
    check_engines<Rule>(std::make_index_sequence<std::size_t{Rule::arity}>{});
  });
}

TEST_CASE("single variables among sequences of numbers make one statement") {
  const scope own;
  const std::vector<double> y{0.5, 1.0, 2.5};
  const var beta = 1.5;
  const var sum = exponential_lpdf(y, beta);
  sum.grad();
  CHECK(sum.val() == doctest::Approx(3 * std::log(1.5) - 6.0).epsilon(1e-15));
  CHECK(beta.adj() == doctest::Approx(2.0 - 4.0).epsilon(1e-15));
}

TEST_CASE("a product of distribution functions has the derivative of a product, also where a factor is zero") {
  const scope own;
  const std::vector<var> y{0.0, 1.0};
  const var product = exponential_cdf(y, 1.0);
  product.grad();
  CHECK(product.val() == 0);
  CHECK(y[0].adj() == doctest::Approx(-std::expm1(-1.0)).epsilon(1e-15));
  CHECK(y[1].adj() == 0);
}

TEST_CASE("propto drops what depends on numbers alone") {
  const scope own;
  const var y = 0.5;
  CHECK(exponential_lpdf<true>(y, 2.0).val() == -1.0);
  CHECK(exponential_lpdf<true>(0.5, 2.0) == 0.0);
}

TEST_CASE("second derivatives by duals of variables") {
  const scope own;
  const var beta = 1.5;
  const dual<var> moved(beta, {var(1.0)});
  const dual<var> sum = exponential_lcdf(std::vector<double>{0.5, 2.0}, moved);
  sum.tangent[0].grad();
  double exact = 0;
  for (const double y : {0.5, 2.0}) exact -= y * y * std::exp(1.5 * y) / std::pow(std::expm1(1.5 * y), 2);
  CHECK(beta.adj() == doctest::Approx(exact).epsilon(1e-14));
}

TEST_CASE("outside of the support are constants") {
  const scope own;
  const var y = -0.5;
  CHECK(exponential_lpdf(-0.5, 1.0) == -infinity);
  CHECK(exponential_cdf(-0.5, 1.0) == 0);
  CHECK(exponential_lcdf(-0.5, 1.0) == -infinity);
  const var complement = exponential_lccdf(y, 1.0);
  complement.grad();
  CHECK(complement.val() == 0);
  CHECK(y.adj() == 0);
}

TEST_CASE("arguments are checked") {
  CHECK_THROWS_WITH_AS(exponential_lpdf(1.0, std::vector<double>{1.0, -1.0}),
                       "exponential_lpdf: beta[1] is -1, but must be positive and finite", DomainError);
  CHECK_THROWS_AS(exponential_lpdf(std::vector<double>{1.0, 2.0}, std::vector<double>{1.0}), ShapeError);
  CHECK(exponential_cdf(std::vector<double>{}, 1.0) == 1.0);
}

TEST_CASE("a condition on the sum of two arguments is checked in every engine") {
  CHECK(hypergeometric_lpmf(2, 4, 2, 2) == 0);
  CHECK(hypergeometric_lpmf(1, 4, 2, 2) == -infinity);
  CHECK_THROWS_WITH_AS(hypergeometric_lpmf(1, 5, 2, 2), "hypergeometric_lpmf: N is 5, but must be at most a + b = 4",
                       DomainError);
  const std::vector<double> n{1, 1, 1}, draws{2, 4, 5};
  const auto message = "hypergeometric_lpmf: N[2] is 5, but must be at most a + b = 4";
  CHECK_THROWS_WITH_AS(hypergeometric_lpmf(n, draws, 2, 2), message, DomainError);
  CHECK_THROWS_WITH_AS(hypergeometric_lpmf(n, draws, dual<double>(2), 2), message, DomainError);
  const scope own;
  CHECK_THROWS_WITH_AS(hypergeometric_lpmf(n, draws, 2, var(2)), message, DomainError);
}

TEST_CASE("conditions on two arguments together are checked in every engine") {
  const std::vector<double> alpha{0.0, 2.5};
  const char* text = "uniform_lpdf: alpha[1] is 2.5, but must be less than beta = 2";
  CHECK_THROWS_WITH_AS(uniform_lpdf(0.5, alpha, 2.0), text, DomainError);
  CHECK_THROWS_WITH_AS(uniform_lpdf(0.5, alpha, dual<double>(2.0)), text, DomainError);
  const scope own;
  const var beta = 2.0;
  CHECK_THROWS_WITH_AS(uniform_lpdf(0.5, alpha, beta), text, DomainError);
  CHECK_THROWS_WITH_AS(uniform_cdf(std::vector<double>{0.5, 1.0}, beta, 2),
                       "uniform_cdf: alpha is 2, but must be less than beta = 2", DomainError);
  CHECK(uniform_lpdf(std::vector<double>{}, beta, 2.0).val() == 0);
}

}  // namespace test_probability
