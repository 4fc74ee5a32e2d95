// Formulas for octets: values and partial derivatives of sums are those that the rules' terms have on duals, entry by entry,
// also where entries among them do not suit the formulas.
#include <doctest/doctest.h>
#include <agrad/probability.hpp>
#include <random>
#include <vector>

namespace test_octets {

using namespace agrad;

namespace {

constexpr std::size_t terms = 8 * 9 + 3;  // octets, and a rest

using columns = std::vector<std::vector<double>>;

/// Random values that meet a condition. From the seventh octet on one value in eight lies far out.
std::vector<double> values_for(const condition& must, bool is_observed, std::mt19937& random) {
  std::vector<double> x;
  while (x.size() < terms) {
    const bool is_far = is_observed && x.size() >= 48 && x.size() % 8 == 3;
    double value = std::exp(std::normal_distribution<double>(0, is_far ? 40 : 1)(random));
    if (random() % 2 == 0) value = -value;
    if (must.whole) value = std::floor(10 * std::abs(value)) * (is_far ? 50 : 1);
    if (is_observed && x.size() % 16 == 7) value = 0;
    if (!must.holds(value)) value = std::abs(value);
    if (!must.holds(value)) value = must.whole ? std::fmod(value, 2) : value / (1 + value);
    if (must.holds(value)) x.push_back(value);
  }
  return x;
}

template <class Rule>
columns arguments_of(std::mt19937& random) {
  columns all;
  for (const density_argument& argument : Rule::arguments) all.push_back(values_for(argument.must, all.empty(), random));
  for (const density_pair& pair : Rule::pairs)
    for (std::size_t i = 0; i < terms; ++i)
      if (!pair.must.holds(all[pair.first][i], all[pair.second][i])) std::swap(all[pair.first][i], all[pair.second][i]);
  return all;
}

/// A term with a tangent for each argument, by the rule's own term.
template <class Rule, bool propto, std::size_t... K>
auto term_by_duals(const columns& x, std::size_t i, std::index_sequence<K...>) {
  using T = dual<double, static_cast<int>(sizeof...(K))>;
  const auto seeded = [&](std::size_t k) {
    T argument(x[k][i]);
    argument.tangent[k] = 1;
    return argument;
  };
  return apply_probability<Rule, propto>(seeded(K)...);
}

void check_close(double x, double y, double size) {
  if (std::isfinite(y))
    CHECK(std::abs(x - y) <= 4e-14 * (std::abs(y) + size));
  else
    CHECK((x == y || (std::isnan(x) && std::isnan(y))));
}

const var& variable_of(const var& x) { return x; }
const var& variable_of(const std::vector<var>& x) { return x[0]; }

/// How many derivatives were compared, and how many of them are the same but for a thousand roundings.
struct accurate_share {
  int all = 0, accurate = 0;
  void count(double x, double y) {
    ++all;
    if (x == y || std::abs(x - y) <= 2e-13 * std::abs(y) || std::isnan(y)) ++accurate;
  }
};

/// All arguments are arrays.
template <class Rule, bool propto, std::size_t... K>
void check_arrays(const columns& x, accurate_share& share, std::index_sequence<K...> places) {
  const scope own;
  const std::vector<std::vector<var>> v{std::vector<var>(x[K].begin(), x[K].end())...};
  const var sum = apply_probability<Rule, propto>(v[K]...);
  sum.grad();
  double expected = 0, size = 0;
  for (std::size_t i = 0; i < terms; ++i) {
    const auto term = term_by_duals<Rule, propto>(x, i, places);
    CAPTURE(i);
    expected += term.value;
    size += std::abs(term.value);
    for (std::size_t k = 0; k < sizeof...(K); ++k) {
      if (Rule::arguments[k].must.whole) continue;
      CAPTURE(k);
      // A derivative is the difference of parts of about the size of 1, and of 1 / x and the term's slope in other units.
      const double unit = 1 + 1 / std::abs(x[k][i]);
      share.count(v[k][i].adj(), term.tangent[k]);
      check_close(v[k][i].adj(), term.tangent[k], unit * (1 + std::abs(term.value)));
    }
  }
  check_close(sum.val(), expected, size);
  check_close(apply_probability<Rule>(x[K]...), apply_probability<Rule>(v[K]...).val(), 0);
}

/// The first argument is an array, all others are numbers.
template <class Rule, std::size_t... K>
void check_numbers(const columns& x, std::size_t of, std::index_sequence<K...> places) {
  const scope own;
  columns mixed = x;
  for (std::size_t k = 1; k < sizeof...(K); ++k) mixed[k].assign(terms, x[k][of]);
  const std::vector<var> numbers{var(x[K][of])...};
  const auto sum_of = [&](std::size_t, auto... k) { return apply_probability<Rule>(mixed[0], numbers[k]...); };
  const var sum = sum_of(K...);
  sum.grad();
  std::vector<double> slopes(sizeof...(K)), sizes(sizeof...(K));
  double value = 0, size = 0;
  for (std::size_t i = 0; i < terms; ++i) {
    const auto term = term_by_duals<Rule, false>(mixed, i, places);
    value += term.value;
    size += std::abs(term.value);
    for (std::size_t k = 1; k < sizeof...(K); ++k)
      slopes[k] += term.tangent[k], sizes[k] += std::abs(term.tangent[k]) + 1 + 1 / std::abs(x[k][of]);
  }
  check_close(sum.val(), value, size);
  for (std::size_t k = 1; k < sizeof...(K); ++k) {
    CAPTURE(k);
    if (!Rule::arguments[k].must.whole) check_close(numbers[k].adj(), slopes[k], sizes[k]);
  }
}

/// A single term of variables, of numbers that are all variables or of sequences of length 1.
template <class Rule, bool propto, class X, std::size_t... K>
void check_single(const columns& x, std::size_t i, std::index_sequence<K...> places) {
  const scope own;
  const std::vector<X> v{X{x[K][i]}...};
  const var term = apply_probability<Rule, propto>(v[K]...);
  term.grad();
  const auto expected = term_by_duals<Rule, propto>(x, i, places);
  // A log density is a sum of parts of about the size of 1; of a small log probability the logarithm has the error.
  const bool is_density = Rule::name.find("cdf") == std::string_view::npos;
  const double size = std::abs(expected.value);
  check_close(term.val(), expected.value, is_density ? 1 : std::abs(xlogy(size, size)));
  for (std::size_t k = 0; k < sizeof...(K); ++k) {
    CAPTURE(k);
    const double unit = 1 + 1 / std::abs(x[k][i]), slope = variable_of(v[k]).adj();
    check_close(slope, Rule::arguments[k].must.whole ? 0 : expected.tangent[k], unit * (1 + std::abs(expected.value)));
  }
}

/// The first argument is a short array, whose terms are an octet at most and a rest; all others are numbers.
template <class Rule, std::size_t... K>
void check_few(const columns& x, std::size_t count, std::index_sequence<K...> places) {
  const scope own;
  columns few = x;
  for (std::size_t k = 1; k < sizeof...(K); ++k) few[k].assign(terms, x[k][0]);
  const std::vector<var> observed(few[0].begin(), few[0].begin() + static_cast<std::ptrdiff_t>(count)),
      numbers{var(x[K][0])...};
  const auto sum_of = [&](std::size_t, auto... k) { return apply_probability<Rule>(observed, numbers[k]...); };
  const var sum = sum_of(K...);
  sum.grad();
  double value = 0, size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto term = term_by_duals<Rule, false>(few, i, places);
    value += term.value;
    size += std::abs(term.value);
    if (Rule::arguments[0].must.whole) continue;
    check_close(observed[i].adj(), term.tangent[0], (1 + 1 / std::abs(few[0][i])) * (1 + std::abs(term.value)));
  }
  check_close(sum.val(), value, size);
}

template <class Rule>
void check_rule() {
  CAPTURE(Rule::name);
  std::mt19937 random(1);
  const std::make_index_sequence<std::size_t{Rule::arity}> places;
  accurate_share share;
  for (int round = 0; round < 4; ++round) {
    const columns x = arguments_of<Rule>(random);
    if constexpr (!Rule::is_product) {  // a product of many probabilities underflows
      check_arrays<Rule, false>(x, share, places);
      check_arrays<Rule, true>(x, share, places);
      for (const std::size_t of : {0U, 1U, 2U}) check_numbers<Rule>(x, of, places);
      for (const std::size_t count : {1U, 2U, 7U, 8U, 9U}) check_few<Rule>(x, count, places);
    }
    for (std::size_t i = 0; i < terms; ++i) {
      CAPTURE(i);
      check_single<Rule, false, var>(x, i, places);
      check_single<Rule, true, var>(x, i, places);
      check_single<Rule, false, std::vector<var>>(x, i, places);
    }
  }
  CHECK(share.accurate >= 0.99 * share.all);
}

}  // namespace

TEST_CASE("most formulas are those of single terms, too") {
  int single = 0;
  for_each(rules::probability{}, [&](auto tag) {
    using Rule = typename decltype(tag)::type;
    single += detail::has_single_formulas<Rule> ? 1 : 0;
  });
  CHECK(single >= 80);
}

TEST_CASE("the message of a sequence of length 1 names the index") {
  const scope own;
  const std::vector<var> y{-1.0}, none;
  const var rate = -1.0;
  CHECK_THROWS_WITH_AS(exponential_lpdf(y, std::vector<var>{rate}),
                       doctest::Contains("beta[0] is -1, but must be positive and finite"), DomainError);
  CHECK_THROWS_WITH_AS(normal_lpdf(y, 0.0, rate), doctest::Contains("sigma is -1"), DomainError);
  CHECK(exponential_lpdf(none, 1.0).val() == 0);
}

TEST_CASE("a sequence of length 1 is a leaf like any other") {
  const scope own;
  const std::size_t closures = tape::current().statistics().closures;
  const std::vector<var> y{0.5};
  const var mu = 0.25, sum = normal_lpdf(y, mu, 2.0) + normal_lpdf(y, y, std::vector<double>{3.0}) + cauchy_lpdf(y, mu, 1.0);
  sum.grad();
  const double z = 0.25, cauchy = -2 * z / (1 + z * z);
  CHECK(y[0].adj() == doctest::Approx(-z / 4 + cauchy).epsilon(1e-14));
  CHECK(mu.adj() == doctest::Approx(z / 4 - cauchy).epsilon(1e-14));
  CHECK(tape::current().statistics().closures == closures);
}

TEST_CASE("formulas for octets agree with the terms of rules") {
  int rules = 0;
  for_each(rules::probability{}, [&](auto tag) {
    using Rule = typename decltype(tag)::type;
    if constexpr (detail::has_octets<Rule>) check_rule<Rule>(), ++rules;
  });
  CHECK(rules >= 72);
}

}  // namespace test_octets
