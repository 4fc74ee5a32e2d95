// Logarithms of tails, by octets and by single terms: values and slopes are those of mpmath, second derivatives are differences
// of the slopes. Neighbouring terms of an array use different formulas.
#include <doctest/doctest.h>
#include <agrad/probability.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

#include "tail_rows.hpp"

namespace test_tail_octets {

using namespace agrad;

namespace {

using tail_rows::tail;

void check_close(double x, double expected, double epsilon = 1e-13) {
  CHECK(std::abs(x - expected) <= epsilon * std::abs(expected));
}

using column = std::vector<double>;

/// Compares f(x...), of columns, with expected terms and slopes, and does the same for terms one by one, as scalars.
template <class F>
void check_terms(const F& f, const std::vector<column>& x, const column& values, const std::vector<column>& slopes,
                 double epsilon = 1e-13) {
  std::vector<column> given;
  double total = 0, sum;
  {
    const scope own;
    std::vector<std::vector<var>> v;
    for (const column& each : x) v.emplace_back(each.begin(), each.end());
    const var all = f(v);
    all.grad();
    sum = all.val();
    for (const auto& each : v) {
      given.emplace_back();
      for (const var& entry : each) given.back().push_back(entry.adj());
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    total += values[i];
    const scope own;
    std::vector<std::vector<var>> one;
    std::vector<column> plain;
    for (const column& each : x) one.push_back({var(each[i])}), plain.push_back({each[i]});
    const var term = f(one);
    term.grad();
    check_close(term.val(), values[i]);
    check_close(f(plain), values[i]);
    for (std::size_t k = 0; k < x.size(); ++k) {
      CAPTURE(k);
      if (slopes[k].empty()) continue;
      check_close(given[k][i], slopes[k][i], epsilon);
      check_close(one[k][0].adj(), slopes[k][i], epsilon);
    }
  }
  check_close(sum, total);
}

/// The same for scalars, whose terms are computed singly in every engine, with second derivatives.
template <class F>
void check_scalars(const F& f, double x, double y, const tail& expected, double longest_step = infinity) {
  using D = dual<double>;
  const auto slope = [&](bool of_first, double u, double w) {
    return f(D(u, {of_first ? 1.0 : 0.0}), D(w, {of_first ? 0.0 : 1.0}));
  };
  for (const bool of_first : {true, false}) {
    CAPTURE(of_first);
    const D here = slope(of_first, x, y);
    CHECK(here.value == f(x, y));
    check_close(here.value, expected.value);
    check_close(here.tangent[0], of_first ? expected.first : expected.second);
    for (const bool then_first : {true, false}) {
      CAPTURE(then_first);
      const double h = std::min(2.5e-4 * (then_first ? x : y), longest_step);
      const auto moved = [&](double steps) {
        return slope(of_first, x + (then_first ? steps * h : 0), y + (then_first ? 0 : steps * h)).tangent[0];
      };
      const double difference = (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * h);
      using DD = dual<D>;
      const DD both = f(DD(D(x, {then_first ? 1.0 : 0.0}), {D(of_first ? 1.0 : 0.0)}),
                        DD(D(y, {then_first ? 0.0 : 1.0}), {D(of_first ? 0.0 : 1.0)}));
      const double size = std::abs(difference) + 1e-3 * std::abs(here.tangent[0] / (then_first ? x : y));
      CHECK(std::abs(both.tangent[0].tangent[0] - difference) <= 1e-8 * size);
    }
  }
}

/// The columns of one family, made from the rows; arguments and slopes in the order of the function's arguments.
struct family {
  std::vector<column> x;
  column lower, upper;
  std::vector<column> of_lower, of_upper;

  explicit family(std::size_t arity) : x(arity), of_lower(arity), of_upper(arity) {}
  void add(const column& arguments, const tail& below, const tail& above, const column& slopes_below,
           const column& slopes_above) {
    lower.push_back(below.value), upper.push_back(above.value);
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k].push_back(arguments[k]);
      of_lower[k].push_back(slopes_below[k]), of_upper[k].push_back(slopes_above[k]);
    }
  }
};

}  // namespace

TEST_CASE("tails of the gamma distribution and its inverse") {
  family gamma(3), inverse(3);
  for (const auto& r : tail_rows::gamma_rows) {
    const double y = r.x / 4, v = 4 / r.x;  // for the rate or scale 4
    const auto of_gamma = [&](const tail& t) { return column{4 * t.second, t.first, y * t.second}; };
    const auto of_inverse = [&](const tail& t) { return column{-r.x / v * t.second, t.first, t.second / v}; };
    gamma.add({y, r.a, 4}, r.lower, r.upper, of_gamma(r.lower), of_gamma(r.upper));
    inverse.add({v, r.a, 4}, r.upper, r.lower, of_inverse(r.upper), of_inverse(r.lower));
  }
  check_terms([](const auto& x) { return gamma_lcdf(x[0], x[1], x[2]); }, gamma.x, gamma.lower, gamma.of_lower);
  check_terms([](const auto& x) { return gamma_lccdf(x[0], x[1], x[2]); }, gamma.x, gamma.upper, gamma.of_upper);
  check_terms([](const auto& x) { return inv_gamma_lcdf(x[0], x[1], x[2]); }, inverse.x, inverse.lower, inverse.of_lower);
  check_terms([](const auto& x) { return inv_gamma_lccdf(x[0], x[1], x[2]); }, inverse.x, inverse.upper, inverse.of_upper);
}

TEST_CASE("tails of the chi-square distribution and its inverses") {
  family chi_square(2), inverse(2), scaled(3);
  for (const auto& r : tail_rows::gamma_rows) {
    const double nu = 2 * r.a, s = 3, y = nu * s * s / (2 * r.x);
    const auto of_chi = [](const tail& t) { return column{t.second / 2, t.first / 2}; };
    const auto of_inverse = [&](const tail& t) { return column{-2 * r.x * r.x * t.second, t.first / 2}; };
    const auto of_scaled = [&](const tail& t) {
      return column{-r.x / y * t.second, t.first / 2 + r.x / nu * t.second, 2 * r.x / s * t.second};
    };
    chi_square.add({2 * r.x, nu}, r.lower, r.upper, of_chi(r.lower), of_chi(r.upper));
    inverse.add({0.5 / r.x, nu}, r.upper, r.lower, of_inverse(r.upper), of_inverse(r.lower));
    scaled.add({y, nu, s}, r.upper, r.lower, of_scaled(r.upper), of_scaled(r.lower));
  }
  check_terms([](const auto& x) { return chi_square_lcdf(x[0], x[1]); }, chi_square.x, chi_square.lower, chi_square.of_lower);
  check_terms([](const auto& x) { return chi_square_lccdf(x[0], x[1]); }, chi_square.x, chi_square.upper, chi_square.of_upper);
  check_terms([](const auto& x) { return inv_chi_square_lcdf(x[0], x[1]); }, inverse.x, inverse.lower, inverse.of_lower);
  check_terms([](const auto& x) { return inv_chi_square_lccdf(x[0], x[1]); }, inverse.x, inverse.upper, inverse.of_upper);
  // The derivative with respect to nu is a difference, here as well.
  check_terms([](const auto& x) { return scaled_inv_chi_square_lcdf(x[0], x[1], x[2]); }, scaled.x, scaled.lower,
              scaled.of_lower, 1e-11);
  check_terms([](const auto& x) { return scaled_inv_chi_square_lccdf(x[0], x[1], x[2]); }, scaled.x, scaled.upper,
              scaled.of_upper, 1e-11);
}

TEST_CASE("single tails of the gamma distribution have the same slopes, and second derivatives") {
  for (const auto& r : tail_rows::gamma_rows) {
    CAPTURE(r.a);
    CAPTURE(r.x);
    check_scalars([](const auto& a, const auto& x) { return gamma_lcdf(x, a, 1.0); }, r.a, r.x, r.lower, 1e-3);
    check_scalars([](const auto& a, const auto& x) { return gamma_lccdf(x, a, 1.0); }, r.a, r.x, r.upper, 1e-3);
    const auto of = [](const tail& t) {
      return tail{std::exp(t.value), std::exp(t.value) * t.first, std::exp(t.value) * t.second};
    };
    check_scalars([](const auto& a, const auto& x) { return gamma_cdf(x, a, 1.0); }, r.a, r.x, of(r.lower), 1e-3);
    check_scalars([](const auto& a, const auto& x) { return inv_gamma_cdf(1.0, a, x); }, r.a, r.x, of(r.upper), 1e-3);
  }
}

TEST_CASE("tails of the negative binomial distribution") {
  family by_mean(3), by_shape(3);
  for (const auto& r : tail_rows::count_rows) {
    const double beta = r.phi / r.mu;
    const auto of_mean = [](const tail& t) { return column{0, t.first, t.second}; };
    const auto of_shape = [&](const tail& t) { return column{0, t.second + t.first / beta, -r.mu / beta * t.first}; };
    by_mean.add({r.n, r.mu, r.phi}, r.lower, r.upper, of_mean(r.lower), of_mean(r.upper));
    by_shape.add({r.n, r.phi, beta}, r.lower, r.upper, of_shape(r.lower), of_shape(r.upper));
  }
  for (family* of : {&by_mean, &by_shape}) of->of_lower[0].clear(), of->of_upper[0].clear();
  const auto whole = [](const auto& x) {
    std::vector<int> n;
    for (const auto& each : x) n.push_back(static_cast<int>(detail::primal_value(each)));
    return n;
  };
  check_terms([&](const auto& x) { return neg_binomial_2_lcdf(whole(x[0]), x[1], x[2]); }, by_mean.x, by_mean.lower,
              by_mean.of_lower);
  check_terms([&](const auto& x) { return neg_binomial_2_lccdf(whole(x[0]), x[1], x[2]); }, by_mean.x, by_mean.upper,
              by_mean.of_upper);
  check_terms([&](const auto& x) { return neg_binomial_lcdf(whole(x[0]), x[1], x[2]); }, by_shape.x, by_shape.lower,
              by_shape.of_lower);
  check_terms([&](const auto& x) { return neg_binomial_lccdf(whole(x[0]), x[1], x[2]); }, by_shape.x, by_shape.upper,
              by_shape.of_upper);
  for (const auto& r : tail_rows::count_rows) {
    CAPTURE(r.n);
    const int n = static_cast<int>(r.n);
    check_scalars([&](const auto& mu, const auto& phi) { return neg_binomial_2_lcdf(n, mu, phi); }, r.mu, r.phi, r.lower);
    check_scalars([&](const auto& mu, const auto& phi) { return neg_binomial_2_lccdf(n, mu, phi); }, r.mu, r.phi, r.upper);
    const double f = std::exp(r.lower.value);
    check_scalars([&](const auto& mu, const auto& phi) { return neg_binomial_2_cdf(n, mu, phi); }, r.mu, r.phi,
                  {f, f * r.lower.first, f * r.lower.second});
  }
}

TEST_CASE("tails of Student's t distribution") {
  family student(4);
  for (const auto& r : tail_rows::student_rows) {
    const double mu = 0.25, sigma = 2;
    const auto of = [&](const tail& t) {
      return column{t.second / sigma, t.first, -t.second / sigma, -t.second * r.z / sigma};
    };
    student.add({mu + sigma * r.z, r.nu, mu, sigma}, r.lower, r.upper, of(r.lower), of(r.upper));
  }
  check_terms([](const auto& x) { return student_t_lcdf(x[0], x[1], x[2], x[3]); }, student.x, student.lower, student.of_lower);
  check_terms([](const auto& x) { return student_t_lccdf(x[0], x[1], x[2], x[3]); }, student.x, student.upper,
              student.of_upper);
  for (const auto& r : tail_rows::student_rows) {
    CAPTURE(r.nu);
    CAPTURE(r.z);
    check_scalars([](const auto& nu, const auto& z) { return student_t_lcdf(z, nu, 0.0, 1.0); }, r.nu, r.z, r.lower, 1e-3);
    check_scalars([](const auto& nu, const auto& z) { return student_t_lccdf(z, nu, 0.0, 1.0); }, r.nu, r.z, r.upper, 1e-3);
    const double f = std::exp(r.lower.value);
    check_scalars([](const auto& nu, const auto& z) { return student_t_cdf(z, nu, 0.0, 1.0); }, r.nu, r.z,
                  {f, f * r.lower.first, f * r.lower.second}, 1e-3);
  }
}

}  // namespace test_tail_octets
