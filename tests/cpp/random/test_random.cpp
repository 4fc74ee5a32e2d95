// Draws of numbers and counts against agrad's distribution functions, by the statistic of Kolmogorov and Smirnov, with fixed
// seeds. The distribution functions are tested against mpmath, and share no code with the draws.
#include <doctest/doctest.h>
#include <agrad/families/families.hpp>
#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace test_random {

using namespace agrad;
using numbers = std::vector<double>;

namespace {

constexpr int draws = 10000;

/// sqrt(n) times the largest difference to a distribution function, which is below 2.2 but for one in 8000 seeds.
template <class Cdf>
double distance(numbers y, const Cdf& cdf, double step) {
  std::sort(y.begin(), y.end());
  double largest = 0;
  const double n = static_cast<double>(y.size());
  for (std::size_t i = 0; i < y.size();) {
    std::size_t end = i;
    while (end < y.size() && y[end] == y[i]) ++end;
    largest = std::max(
        {largest, std::abs(cdf(y[i]) - static_cast<double>(end) / n), std::abs(cdf(y[i] - step) - static_cast<double>(i) / n)});
    i = end;
  }
  return largest * std::sqrt(n);
}

/// Checks draws of numbers (step 0) or counts (step 1).
template <class Draw, class Cdf>
void check_draws(const std::string& name, const Draw& draw, const Cdf& cdf, double step = 0) {
  CAPTURE(name);
  std::mt19937_64 rng(draws);
  numbers y;
  for (int i = 0; i < draws; ++i) y.push_back(static_cast<double>(draw(rng)));
  CHECK(distance(y, cdf, step) < 2.2);
}

/// A distribution function by the trapezoid rule, from the density.
template <class Density>
double integral(const Density& density, double from, double to) {
  const int n = 100;
  double sum = 0;
  for (int i = 0; i <= n; ++i) sum += (i == 0 || i == n ? 0.5 : 1.0) * density(from + (to - from) * i / n);
  return sum * (to - from) / n;
}

/// A generator with few values.
struct short_generator {
  using result_type = unsigned;
  static constexpr unsigned min() { return 3; }
  static constexpr unsigned max() { return 12; }
  std::minstd_rand inner;
  unsigned operator()() { return 3 + static_cast<unsigned>(inner() % 10); }
};
/// A generator that returns its largest value always.
struct largest_generator {
  using result_type = std::uint32_t;
  static constexpr std::uint32_t min() { return 0; }
  static constexpr std::uint32_t max() { return 0xffffffff; }
  std::uint32_t operator()() { return max(); }
};

template <class Generator>
void check_uniform(Generator rng) {
  numbers y;
  for (int i = 0; i < draws; ++i) y.push_back(open_unit_rng(rng));
  CHECK(distance(
            y, [](double x) { return x; }, 0) < 2.2);
  const auto twice = [](double x) { return 0x1p40 * x - std::floor(0x1p40 * x); };  // the lower bits are uniform, too
  for (double& x : y) x = twice(x);
  CHECK(distance(
            y, [](double x) { return x; }, 0.0) < 2.2);
}

}  // namespace

TEST_CASE("numbers of 53 bits from generators of any width, never 0 or 1") {
  check_uniform(std::mt19937_64(1));
  check_uniform(std::mt19937(1));
  check_uniform(std::minstd_rand(1));
  check_uniform(std::ranlux24(1));
  check_uniform(short_generator{});
  largest_generator largest;
  CHECK(open_unit_rng(largest) == 1 - 0x1p-53);
  std::mt19937_64 wide;  // whose first number the standard's authors print
  CHECK(open_unit_rng(wide) == static_cast<double>(14514284786278117030ULL >> 11) * 0x1p-53);
  std::mt19937 narrow;
  const std::uint64_t both = (std::uint64_t{3499211612} << 32 | 581869302) & ((std::uint64_t{1} << 53) - 1);
  CHECK(open_unit_rng(narrow) == static_cast<double>(both) * 0x1p-53);
}

TEST_CASE("numbers on the line have their distribution functions") {
  check_draws(
      "std_normal", [](auto& g) { return std_normal_rng(g); }, [](double y) { return std_normal_cdf(y); });
  check_draws(
      "normal", [](auto& g) { return normal_rng(0.5, 2.0, g); }, [](double y) { return normal_cdf(y, 0.5, 2.0); });
  check_draws(
      "lognormal", [](auto& g) { return lognormal_rng(0.5, 2, g); }, [](double y) { return lognormal_cdf(y, 0.5, 2); });
  for (const double nu : {0.3, 4.0, 1e8})
    check_draws(
        "student_t", [&](auto& g) { return student_t_rng(nu, 1.0, 2.0, g); },
        [&](double y) { return student_t_cdf(y, nu, 1.0, 2.0); });
  check_draws(
      "cauchy", [](auto& g) { return cauchy_rng(1.0, 2.0, g); }, [](double y) { return cauchy_cdf(y, 1.0, 2.0); });
  check_draws(
      "double_exponential", [](auto& g) { return double_exponential_rng(1.0, 2.0, g); },
      [](double y) { return double_exponential_cdf(y, 1.0, 2.0); });
  check_draws(
      "skew_double_exponential", [](auto& g) { return skew_double_exponential_rng(1.0, 2.0, 0.2, g); },
      [](double y) { return skew_double_exponential_cdf(y, 1.0, 2.0, 0.2); });
  check_draws(
      "gumbel", [](auto& g) { return gumbel_rng(1.0, 2.0, g); }, [](double y) { return gumbel_cdf(y, 1.0, 2.0); });
  check_draws(
      "logistic", [](auto& g) { return logistic_rng(1.0, 2.0, g); }, [](double y) { return logistic_cdf(y, 1.0, 2.0); });
  check_draws(
      "exp_mod_normal", [](auto& g) { return exp_mod_normal_rng(1.0, 2.0, 0.5, g); },
      [](double y) { return exp_mod_normal_cdf(y, 1.0, 2.0, 0.5); });
  check_draws(
      "uniform", [](auto& g) { return uniform_rng(-1.0, 2.0, g); }, [](double y) { return uniform_cdf(y, -1.0, 2.0); });
  const auto skew = [](double y) { return std::exp(skew_normal_lpdf(y, 1.0, 2.0, 3.0)); };
  check_draws(
      "skew_normal", [](auto& g) { return skew_normal_rng(1.0, 2.0, 3.0, g); },
      [&](double y) { return integral(skew, -8.0, y); });
  for (const double kappa : {0.0, 0.5, 20.0}) {
    const auto angle = [&](double y) { return std::exp(von_mises_lpdf(y, 1.0, kappa)); };
    check_draws(
        "von_mises", [&](auto& g) { return von_mises_rng(1.0, kappa, g); },
        [&](double y) { return integral(angle, 1 - 3.14159265358979324, y); });
  }
  check_draws(
      "von_mises", [](auto& g) { return von_mises_rng(0.0, 1e12, g); }, [](double y) { return normal_cdf(y, 0.0, 1e-6); });
}

TEST_CASE("positive numbers have their distribution functions") {
  check_draws(
      "exponential", [](auto& g) { return exponential_rng(0.5, g); }, [](double y) { return exponential_cdf(y, 0.5); });
  for (const double alpha : {0.05, 1.0, 2.5, 1e8})
    check_draws(
        "gamma", [&](auto& g) { return gamma_rng(alpha, 0.3, g); }, [&](double y) { return gamma_cdf(y, alpha, 0.3); });
  check_draws(
      "chi_square", [](auto& g) { return chi_square_rng(5.0, g); }, [](double y) { return chi_square_cdf(y, 5.0); });
  check_draws(
      "inv_gamma", [](auto& g) { return inv_gamma_rng(0.4, 0.3, g); }, [](double y) { return inv_gamma_cdf(y, 0.4, 0.3); });
  check_draws(
      "inv_chi_square", [](auto& g) { return inv_chi_square_rng(5.0, g); },
      [](double y) { return inv_chi_square_cdf(y, 5.0); });
  check_draws(
      "scaled_inv_chi_square", [](auto& g) { return scaled_inv_chi_square_rng(5.0, 2.0, g); },
      [](double y) { return scaled_inv_chi_square_cdf(y, 5.0, 2.0); });
  check_draws(
      "weibull", [](auto& g) { return weibull_rng(0.1, 2.0, g); }, [](double y) { return weibull_cdf(y, 0.1, 2.0); });
  check_draws(
      "frechet", [](auto& g) { return frechet_rng(1.5, 2.0, g); }, [](double y) { return frechet_cdf(y, 1.5, 2.0); });
  check_draws(
      "rayleigh", [](auto& g) { return rayleigh_rng(2.0, g); }, [](double y) { return rayleigh_cdf(y, 2.0); });
  check_draws(
      "loglogistic", [](auto& g) { return loglogistic_rng(2.0, 1.5, g); },
      [](double y) { return loglogistic_cdf(y, 2.0, 1.5); });
  check_draws(
      "pareto", [](auto& g) { return pareto_rng(2.0, 1.5, g); }, [](double y) { return pareto_cdf(y, 2.0, 1.5); });
  check_draws(
      "pareto_type_2", [](auto& g) { return pareto_type_2_rng(1.0, 2.0, 1.5, g); },
      [](double y) { return pareto_type_2_cdf(y, 1.0, 2.0, 1.5); });
  check_draws(
      "beta", [](auto& g) { return beta_rng(0.3, 0.6, g); }, [](double y) { return beta_cdf(y, 0.3, 0.6); });
  check_draws(
      "beta", [](auto& g) { return beta_rng(2.0, 3e5, g); }, [](double y) { return beta_cdf(y, 2.0, 3e5); });
  check_draws(
      "beta_proportion", [](auto& g) { return beta_proportion_rng(0.3, 5.0, g); },
      [](double y) { return beta_cdf(y, 1.5, 3.5); });
}

TEST_CASE("counts have their distribution functions") {
  check_draws(
      "bernoulli", [](auto& g) { return bernoulli_rng(0.3, g); }, [](double n) { return n < 0   ? 0
                                                                                        : n < 1 ? 0.7
                                                                                                : 1; }, 1);
  check_draws(
      "bernoulli_logit", [](auto& g) { return bernoulli_logit_rng(std::log(3.0 / 7), g); },
      [](double n) { return n < 0   ? 0
                            : n < 1 ? 0.7
                                    : 1; }, 1);
  const auto from_0 = [](const auto& cdf) { return [&cdf](double n) { return n < 0 ? 0.0 : cdf(n); }; };
  for (const double n : {5.0, 40.0, 1000.0}) {
    const auto cdf = [&](double k) { return binomial_cdf(k, n, 0.3); };
    check_draws(
        "binomial", [&](auto& g) { return binomial_rng(n, 0.3, g); }, from_0(cdf), 1);
  }
  for (const double rate : {0.3, 11.0, 13.0, 500.0}) {
    const auto cdf = [&](double k) { return poisson_cdf(k, rate); };
    check_draws(
        "poisson", [&](auto& g) { return poisson_rng(rate, g); }, from_0(cdf), 1);
    check_draws(
        "poisson_log", [&](auto& g) { return poisson_log_rng(std::log(rate), g); }, from_0(cdf), 1);
    check_draws(
        "neg_binomial_2", [&](auto& g) { return neg_binomial_2_rng(rate, 1e15, g); }, from_0(cdf), 1);
  }
  const auto neg_binomial = [](double k) { return neg_binomial_cdf(k, 2.5, 0.3); };
  check_draws(
      "neg_binomial", [](auto& g) { return neg_binomial_rng(2.5, 0.3, g); }, from_0(neg_binomial), 1);
  const auto log_mean = [](double k) { return neg_binomial_2_cdf(k, std::exp(1.5), 0.5); };
  check_draws(
      "neg_binomial_2_log", [](auto& g) { return neg_binomial_2_log_rng(1.5, 0.5, g); }, from_0(log_mean), 1);
  const auto sums = [](const auto& lpmf) {
    return [&lpmf](double n) {
      double sum = 0;
      for (double k = 0; k <= n; ++k) sum += std::exp(lpmf(k));
      return sum;
    };
  };
  const auto beta_binomial = [](double k) { return beta_binomial_lpmf(k, 12, 2.0, 3.0); };
  check_draws(
      "beta_binomial", [](auto& g) { return beta_binomial_rng(12, 2.0, 3.0, g); }, sums(beta_binomial), 1);
  const auto beta_neg = [](double k) { return beta_neg_binomial_lpmf(k, 2.5, 6.0, 3.0); };
  check_draws(
      "beta_neg_binomial", [](auto& g) { return beta_neg_binomial_rng(2.5, 6.0, 3.0, g); }, sums(beta_neg), 1);
  const auto hyper = [](double k) { return hypergeometric_lpmf(k, 30, 25, 40); };
  check_draws(
      "hypergeometric", [](auto& g) { return hypergeometric_rng(30, 25, 40, g); }, sums(hyper), 1);
  const auto more = [](double k) { return hypergeometric_lpmf(k, 30, 40, 25); };
  check_draws(
      "hypergeometric", [](auto& g) { return hypergeometric_rng(30, 40, 25, g); }, sums(more), 1);
  const auto yule = [](double n) { return n < 1 ? 0.0 : yule_simon_cdf(n, 2.5); };
  check_draws(
      "yule_simon", [](auto& g) { return yule_simon_rng(2.5, g); }, yule, 1);
  const auto range = [](double n) { return discrete_range_cdf(n, -3, 4); };
  check_draws(
      "discrete_range", [](auto& g) { return discrete_range_rng(-3, 4, g); }, range, 1);
}

TEST_CASE("large counts are normal in the limit, and every one is possible") {
  std::mt19937_64 rng(1);
  const auto normal = [](double z) { return std_normal_cdf(z); };
  const auto check_normal = [&](const auto& draw, double mean, double deviation) {
    numbers z;
    std::set<long long> halves;
    for (int i = 0; i < draws; ++i) {
      const auto n = draw();
      halves.insert(n % 2);
      z.push_back((static_cast<double>(n) - mean) / deviation);
    }
    CHECK(distance(z, normal, 0) < 2.2);
    CHECK(halves.size() == 2);
  };
  check_normal([&] { return poisson_rng(0x1p52, rng); }, 0x1p52, 0x1p26);
  check_normal([&] { return binomial_rng(0x1p53 - 1, 0.25, rng); }, 0x1p51, std::sqrt(0x1p51 * 0.75));
  check_normal([&] { return hypergeometric_rng(0x1p40, 0x1p41, 0x1p41, rng); }, 0x1p39, std::sqrt(0x1p38 * 0.75));
  numbers wide;
  for (int i = 0; i < draws; ++i) wide.push_back(static_cast<double>(discrete_range_rng(1 - 0x1p53, 0x1p53 - 1, rng)) / 0x1p53);
  CHECK(distance(
            wide, [](double x) { return (x + 1) / 2; }, 0) < 2.2);
}

TEST_CASE("shapes that underflow") {
  std::mt19937_64 rng(1);
  int ones = 0;
  for (int i = 0; i < draws; ++i) {
    const double y = beta_rng(1e-305, 3e-305, rng);
    CHECK((y == 0 || y == 1));
    ones += y == 1 ? 1 : 0;
  }
  CHECK(std::abs(ones - draws / 4) < 4 * std::sqrt(draws * 3.0 / 16));
  check_draws(
      "gamma", [](auto& g) { return std::fmax(gamma_rng(1e-3, 1.0, g), 1e-300); },
      [](double y) { return y < 1e-300 ? 0 : gamma_cdf(y, 1e-3, 1.0); }, 1e-310);
  CHECK(gamma_rng(1e300, 1e300, rng) == doctest::Approx(1.0).epsilon(1e-14));
}

TEST_CASE("parameters are numbers, vectors and Eigen's arrays") {
  std::mt19937_64 rng(7), same(7);
  const std::vector<double> mu{0.0, 100.0, -100.0};
  const Eigen::VectorXd sigma = Eigen::Vector3d(1.0, 2.0, 3.0);
  const std::vector<double> y = normal_rng(mu, sigma, rng);
  for (std::size_t i = 0; i < 3; ++i) CHECK(y[i] == normal_rng(mu[i], sigma[static_cast<Eigen::Index>(i)], same));
  CHECK(normal_rng(0, 2 * sigma, rng).size() == 3);
  const std::vector<std::int64_t> n = binomial_rng(std::vector<int>{3, 5}, 1.0, rng);
  CHECK(n == std::vector<std::int64_t>{3, 5});
  CHECK(normal_rng(std::vector<double>{}, 1.0, rng).empty());
}

TEST_CASE("parameters are checked") {
  std::mt19937_64 rng(7);
  const std::vector<double> bad{1.0, -1.0}, good{1.0, 2.0};
  CHECK_THROWS_WITH_AS(normal_rng(0.0, bad, rng), "normal_rng: sigma[1] is -1, but must be positive and finite", DomainError);
  CHECK_THROWS_AS(normal_rng(good, std::vector<double>{1.0}, rng), ShapeError);
  CHECK_THROWS_WITH_AS(uniform_rng(good, 1.5, rng),
                       "uniform_rng: beta is 1.5, but must be greater than alpha; in draw 1; alpha is 2", DomainError);
  CHECK_THROWS_WITH_AS(uniform_rng(2.0, 1.5, rng), "uniform_rng: beta is 1.5, but must be greater than alpha; alpha is 2",
                       DomainError);
  CHECK_THROWS_AS(discrete_range_rng(3, 2, rng), DomainError);
  CHECK_THROWS_AS(hypergeometric_rng(5, 2, 2, rng), DomainError);
  CHECK_THROWS_WITH_AS(poisson_rng(1e16, rng),
                       "poisson_rng: lambda_ is 1e+16, but must be nonnegative and at most 2^52, so that "
                       "doubles count",
                       DomainError);
  CHECK_THROWS_AS(poisson_log_rng(37.0, rng), DomainError);
  CHECK_THROWS_AS(neg_binomial_rng(2.0, 1e-20, rng), DomainError);
  CHECK_THROWS_AS(binomial_rng(1e17, 0.5, rng), DomainError);
  CHECK_THROWS_AS(skew_double_exponential_rng(0.0, 1.0, 1.0, rng), DomainError);
  CHECK_THROWS_AS(yule_simon_rng(std::vector<double>(50, 0.01), rng), DomainError);
  CHECK_THROWS_AS(student_t_rng(std::numeric_limits<double>::quiet_NaN(), 0, 1, rng), DomainError);
}

}  // namespace test_random
