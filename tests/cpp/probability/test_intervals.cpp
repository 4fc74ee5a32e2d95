// Log probabilities of intervals: both tails, short intervals, kinks, counts and ends, on numbers, duals and the tape. (Python
// compares all families with mpmath, in every mode.)
#include <doctest/doctest.h>
#include <agrad/families/families.hpp>
#include <agrad/tape/scope.hpp>
#include <array>
#include <vector>

namespace test_intervals {

using namespace agrad;

namespace {

/// Value, first derivatives, and second derivatives by the same argument twice.
template <std::size_t N>
struct expected {
  std::array<double, N> x;
  double value;
  std::array<double, N> slope, bend;
};

/// Compares f with the row: values of numbers, derivatives of the tape and of duals of duals.
template <std::size_t N, class F>
void check(const expected<N>& row, const F& f, double epsilon) {
  CAPTURE(row.x[0]);
  const auto near = [&](double x) { return doctest::Approx(x).epsilon(epsilon).scale(0); };
  CHECK(std::apply(f, row.x) == near(row.value));
  const scope own;
  std::array<var, N> of_tape;
  for (std::size_t k = 0; k < N; ++k) of_tape[k] = row.x[k];
  const var total = std::apply(f, of_tape);
  total.grad();
  CHECK(total.val() == near(row.value));
  for (std::size_t k = 0; k < N; ++k) {
    CHECK(of_tape[k].adj() == near(row.slope[k]));
    using D = dual<double>;
    std::array<dual<D>, N> x;
    for (std::size_t j = 0; j < N; ++j) x[j] = dual<D>(D(row.x[j]));
    x[k] = dual<D>(D(row.x[k], {1.0}), {D(1.0)});
    const dual<D> y = std::apply(f, x);
    CHECK(y.tangent[0].value == near(row.slope[k]));
    CHECK(y.tangent[0].tangent[0] == near(row.bend[k]));
  }
}

const auto normal = [](const auto&... x) { return normal_lbetween(x...); };
const auto gamma = [](const auto&... x) { return gamma_lbetween(x...); };

}  // namespace

TEST_CASE("intervals in the tails, short ones and long ones have all digits") {  // numbers from mpmath with 700 digits
  check<4>({{38, 39, 0, 1},
            -726.55721601882013,
            {-38.02627946657587, 7.2401286351100929e-16, 38.026279466575869, 1444.998619729883},
            {-0.99931034024656059, -2.8236501676929363e-14, -0.99931034024653376, -4333.0013707757609}},
           normal, 1e-11);
  check<4>({{-39, -38, 0, 1},
            -726.55721601882013,
            {-7.2401286351100929e-16, 38.02627946657587, -38.026279466575869, 1444.998619729883},
            {-2.8236501676929363e-14, -0.99931034024656059, -0.99931034024653376, -4333.0013707757609}},
           normal, 1e-11);
  check<4>({{0.5, 0.625, 0.25, 2},
            -3.703893063392617,
            {-8.0365095200510955, 7.9584099480145777, 0.078099572036517848, -0.48763817524634637},
            {-64.083203420868696, -64.082389833283759, -0.24991863077546043, 0.23146522820428915}},
           normal, 1e-12);
  check<4>({{-6, 5, 0.5, 1},
            -3.3977190569767566e-6,
            {-2.6695656851816449e-10, 1.5983795415259497e-5, -1.5983528458690979e-5, -7.1928814586363106e-5},
            {-1.735217695439335e-9, -7.1927334850383615e-5, -7.1929070059545096e-5, -0.0013127442147447926}},
           normal, 1e-13);
  check<4>({{30, 30.125, 2.5, 1},
            -27.321120046844344,
            {-8.4844344951099109, 7.5343326697417666, 2.7000800447607933, -27.561263177326609},
            {-63.925415931456553, -63.925347954150812, -0.49035631631678703, -2.4986988355476172}},
           gamma, 1e-11);
  check<4>({{0.25, 6, 2.5, 1},
            -0.043601360959944938,
            {-0.076495523883154897, 0.028625930655007975, -0.025231901294401662, 0.15263170295925913},
            {-0.38832918458993281, -0.022288891897121306, -0.090801597067151096, -0.82010141564694474}},
           gamma, 1e-12);
}

TEST_CASE("an interval across a kink has its digits") {  // log((2 - exp(-u) - exp(-v)) / 2)
  for (const double u : {1e-12, 1e-6, 0.1, 3.0}) {
    const double v = 0.75 * u, expected = std::log(-0.5 * (std::expm1(-u) + std::expm1(-v)));
    CHECK(double_exponential_lbetween(-u, v, 0.0, 1.0) == doctest::Approx(expected).epsilon(1e-14).scale(0));
  }
}

TEST_CASE("intervals far from a location are those of the nearer end, and angles of a large location are reduced") {
  const auto far = [](const auto& upper, const auto& sigma) { return normal_lbetween(0.25, upper, 1e36, sigma); };
  check<2>({{1.5, 0.25}, normal_lcdf(1.5, 1e36, 0.25), {1.6e37, 6.4e73}, {-16, -7.68e74}}, far, 1e-12);
  const auto von_mises = [](const auto&... x) { return von_mises_lbetween(x...); };
  for (const double turns : {16, 1 << 20}) {
    const double mu = 0.5 + turns * 6.283185307179586, mean = std::remainder(mu, 6.283185307179586);
    CHECK(von_mises(0.25, 1.0, mu, 3.0) == doctest::Approx(von_mises(0.25, 1.0, mean, 3.0)).epsilon(1e-9));
  }
  CHECK(von_mises(0.69, 3.14, -7e29, 3.8) ==
        doctest::Approx(std::log(von_mises_cdf(3.14, -7e29, 3.8) - von_mises_cdf(0.69, -7e29, 3.8))).epsilon(1e-12));
}

TEST_CASE("counts include both ends") {
  const double rate = 2.5;
  double sum = 0;
  for (int n = 2; n <= 5; ++n) sum += std::exp(poisson_lpmf(n, rate));
  CHECK(poisson_lbetween(2, 5, rate) == doctest::Approx(std::log(sum)).epsilon(1e-14));
  for (int n = 6; n <= 30; ++n) sum += std::exp(poisson_lpmf(n, rate));
  CHECK(poisson_lbetween(2, 30, rate) == doctest::Approx(std::log(sum)).epsilon(1e-14));
  CHECK(poisson_lbetween(-4, -1, rate) == -infinity);
  CHECK(binomial_lbetween(0, 7, 7, 0.3) == doctest::Approx(0).epsilon(1e-15));
  CHECK(bernoulli_lbetween(1, 4, 0.3) == doctest::Approx(std::log(0.3)).epsilon(1e-15));
  const scope own;
  var p = 0.3;
  const var value = binomial_lbetween(0, 0, 7, p);
  value.grad();
  CHECK(p.adj() == doctest::Approx(-10).epsilon(1e-14));
}

TEST_CASE("sequences are summed and arguments checked") {
  const std::vector<double> lower{0.0, 1.0}, upper{1.0, 2.0};
  CHECK(normal_lbetween(lower, upper, 0.0, 1.0) ==
        doctest::Approx(normal_lbetween(0.0, 1.0, 0.0, 1.0) + normal_lbetween(1.0, 2.0, 0.0, 1.0)).epsilon(1e-15));
  CHECK(normal_lbetween(1.0, 1.0, 0.0, 1.0) == -infinity);
  CHECK(normal_lbetween(-infinity, infinity, 0.0, 1.0) == 0);
  CHECK(uniform_lbetween(-0.001, 0.1, 0.0, 1.0) == doctest::Approx(std::log(0.1)).epsilon(1e-15));
  CHECK_THROWS_WITH_AS(normal_lbetween(lower, 0.5, 0.0, 1.0), "normal_lbetween: lower[1] is 1, but must be at most upper = 0.5",
                       DomainError);
}

}  // namespace test_intervals
