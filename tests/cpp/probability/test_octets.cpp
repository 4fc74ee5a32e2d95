// Formulas for octets: values and partial derivatives of sums are those that the rules' terms have on duals, entry by entry,
// also where entries among them do not suit the formulas.
#include <doctest/doctest.h>
#include <agrad/probability.hpp>
#include <random>
#include <string_view>
#include <vector>

namespace test_octets {

using namespace agrad;

namespace {

constexpr std::size_t terms = 8 * 9 + 3;  // octets, and a rest

using columns = std::vector<std::vector<double>>;

/// A term and its slopes.
struct term_slopes {
  double value;
  std::vector<double> slopes;
};

/// A rule without its type: what follows is compiled once, and not for each rule.
struct any_rule {
  std::string_view name;
  std::vector<density_argument> arguments;
  std::vector<density_pair> pairs;
  double (*of_numbers)(const columns&) = nullptr;
  var (*of_arrays)(const std::vector<std::vector<var>>&) = nullptr;
  var (*of_arrays_propto)(const std::vector<std::vector<var>>&) = nullptr;
  var (*of_scalars)(const std::vector<var>&) = nullptr;
  var (*of_scalars_propto)(const std::vector<var>&) = nullptr;
  var (*of_observed_numbers)(const std::vector<double>&, const std::vector<var>&) = nullptr;
  var (*of_observed)(const std::vector<var>&, const std::vector<var>&) = nullptr;
  term_slopes (*by_duals)(const columns&, std::size_t) = nullptr;
  term_slopes (*by_duals_propto)(const columns&, std::size_t) = nullptr;
};

/// The sum of a rule's terms; its arguments are the entries of x.
template <class Rule, bool propto, class X, std::size_t... K>
auto sum_of(const std::vector<X>& x, std::index_sequence<K...>) {
  return apply_probability<Rule, propto>(x[K]...);
}

/// The same with a first argument of its own; the other arguments are the entries of x behind the first.
template <class Rule, class First, std::size_t... K>
var sum_with(const First& first, const std::vector<var>& x, std::index_sequence<K...>) {
  return apply_probability<Rule>(first, x[K + 1]...);
}

/// A term with a tangent for each argument, by the rule's own term.
template <class Rule, bool propto, std::size_t... K>
term_slopes term_by_duals(const columns& x, std::size_t i, std::index_sequence<K...>) {
  using T = dual<double, static_cast<int>(sizeof...(K))>;
  const auto seeded = [&](std::size_t k) {
    T argument(x[k][i]);
    argument.tangent[k] = 1;
    return argument;
  };
  const T term = apply_probability<Rule, propto>(seeded(K)...);
  return {term.value, {term.tangent[K]...}};
}

template <class Rule>
any_rule without_type() {
  static constexpr std::make_index_sequence<std::size_t{Rule::arity}> all;
  static constexpr std::make_index_sequence<std::size_t{Rule::arity - 1}> others;
  any_rule rule;
  rule.name = Rule::name;
  rule.arguments.assign(std::begin(Rule::arguments), std::end(Rule::arguments));
  rule.pairs.assign(Rule::pairs.begin(), Rule::pairs.end());
  rule.of_scalars = [](const auto& x) { return sum_of<Rule, false>(x, all); };
  rule.of_scalars_propto = [](const auto& x) { return sum_of<Rule, true>(x, all); };
  rule.of_arrays = [](const auto& x) { return sum_of<Rule, false>(x, all); };
  rule.by_duals = [](const columns& x, std::size_t i) { return term_by_duals<Rule, false>(x, i, all); };
  rule.by_duals_propto = [](const columns& x, std::size_t i) { return term_by_duals<Rule, true>(x, i, all); };
  if constexpr (!Rule::is_product) {
    rule.of_numbers = [](const columns& x) { return sum_of<Rule, false>(x, all); };
    rule.of_arrays_propto = [](const auto& x) { return sum_of<Rule, true>(x, all); };
    rule.of_observed_numbers = [](const auto& first, const auto& x) { return sum_with<Rule>(first, x, others); };
    rule.of_observed = [](const auto& first, const auto& x) { return sum_with<Rule>(first, x, others); };
  }
  return rule;
}

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

columns arguments_of(const any_rule& rule, std::mt19937& random) {
  columns all;
  for (const density_argument& argument : rule.arguments) all.push_back(values_for(argument.must, all.empty(), random));
  for (const density_pair& pair : rule.pairs)
    for (std::size_t i = 0; i < terms; ++i)
      if (!pair.must.holds(all[pair.first][i], all[pair.second][i])) std::swap(all[pair.first][i], all[pair.second][i]);
  return all;
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
void check_arrays(const any_rule& rule, bool propto, const columns& x, accurate_share& share) {
  const scope own;
  std::vector<std::vector<var>> v;
  for (const std::vector<double>& each : x) v.emplace_back(each.begin(), each.end());
  const var sum = (propto ? rule.of_arrays_propto : rule.of_arrays)(v);
  sum.grad();
  double expected = 0, size = 0;
  for (std::size_t i = 0; i < terms; ++i) {
    const term_slopes term = (propto ? rule.by_duals_propto : rule.by_duals)(x, i);
    CAPTURE(i);
    expected += term.value;
    size += std::abs(term.value);
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (rule.arguments[k].must.whole) continue;
      CAPTURE(k);
      // A derivative is the difference of parts of about the size of 1, and of 1 / x and the term's slope in other units.
      const double unit = 1 + 1 / std::abs(x[k][i]);
      share.count(v[k][i].adj(), term.slopes[k]);
      check_close(v[k][i].adj(), term.slopes[k], unit * (1 + std::abs(term.value)));
    }
  }
  check_close(sum.val(), expected, size);
  check_close(rule.of_numbers(x), rule.of_arrays(v).val(), 0);
}

/// The first argument is an array, all others are numbers.
void check_numbers(const any_rule& rule, const columns& x, std::size_t of) {
  const scope own;
  columns mixed = x;
  std::vector<var> numbers;
  for (std::size_t k = 0; k < x.size(); ++k) numbers.emplace_back(x[k][of]);
  for (std::size_t k = 1; k < x.size(); ++k) mixed[k].assign(terms, x[k][of]);
  const var sum = rule.of_observed_numbers(mixed[0], numbers);
  sum.grad();
  std::vector<double> slopes(x.size()), sizes(x.size());
  double value = 0, size = 0;
  for (std::size_t i = 0; i < terms; ++i) {
    const term_slopes term = rule.by_duals(mixed, i);
    value += term.value;
    size += std::abs(term.value);
    for (std::size_t k = 1; k < x.size(); ++k)
      slopes[k] += term.slopes[k], sizes[k] += std::abs(term.slopes[k]) + 1 + 1 / std::abs(x[k][of]);
  }
  check_close(sum.val(), value, size);
  for (std::size_t k = 1; k < x.size(); ++k) {
    CAPTURE(k);
    if (!rule.arguments[k].must.whole) check_close(numbers[k].adj(), slopes[k], sizes[k]);
  }
}

/// A single term of variables, of numbers that are all variables or of sequences of length 1.
template <class X>
void check_single(const any_rule& rule, var (*sum)(const std::vector<X>&), bool propto, const columns& x, std::size_t i) {
  const scope own;
  std::vector<X> v;
  for (const std::vector<double>& each : x) v.push_back(X{each[i]});
  const var term = sum(v);
  term.grad();
  const term_slopes expected = (propto ? rule.by_duals_propto : rule.by_duals)(x, i);
  // A log density is a sum of parts of about the size of 1; of a small log probability the logarithm has the error.
  const bool is_density = rule.name.find("cdf") == std::string_view::npos;
  const double size = std::abs(expected.value);
  check_close(term.val(), expected.value, is_density ? 1 : std::abs(xlogy(size, size)));
  for (std::size_t k = 0; k < x.size(); ++k) {
    CAPTURE(k);
    const double unit = 1 + 1 / std::abs(x[k][i]), slope = variable_of(v[k]).adj();
    check_close(slope, rule.arguments[k].must.whole ? 0 : expected.slopes[k], unit * (1 + std::abs(expected.value)));
  }
}

/// The first argument is a short array, whose terms are an octet at most and a rest; all others are numbers.
void check_few(const any_rule& rule, const columns& x, std::size_t count) {
  const scope own;
  columns few = x;
  std::vector<var> numbers;
  for (std::size_t k = 0; k < x.size(); ++k) numbers.emplace_back(x[k][0]);
  for (std::size_t k = 1; k < x.size(); ++k) few[k].assign(terms, x[k][0]);
  const std::vector<var> observed(few[0].begin(), few[0].begin() + static_cast<std::ptrdiff_t>(count));
  const var sum = rule.of_observed(observed, numbers);
  sum.grad();
  double value = 0, size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const term_slopes term = rule.by_duals(few, i);
    value += term.value;
    size += std::abs(term.value);
    if (rule.arguments[0].must.whole) continue;
    check_close(observed[i].adj(), term.slopes[0], (1 + 1 / std::abs(few[0][i])) * (1 + std::abs(term.value)));
  }
  check_close(sum.val(), value, size);
}

void check_rule(const any_rule& rule) {
  CAPTURE(rule.name);
  std::mt19937 random(1);
  accurate_share share;
  for (int round = 0; round < 4; ++round) {
    const columns x = arguments_of(rule, random);
    if (rule.of_numbers != nullptr) {  // a product of many probabilities underflows
      check_arrays(rule, false, x, share);
      check_arrays(rule, true, x, share);
      for (const std::size_t of : {0U, 1U, 2U}) check_numbers(rule, x, of);
      for (const std::size_t count : {1U, 2U, 7U, 8U, 9U}) check_few(rule, x, count);
    }
    for (std::size_t i = 0; i < terms; ++i) {
      CAPTURE(i);
      check_single(rule, rule.of_scalars, false, x, i);
      check_single(rule, rule.of_scalars_propto, true, x, i);
      check_single(rule, rule.of_arrays, false, x, i);
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
    if constexpr (detail::has_octets<Rule>) check_rule(without_type<Rule>()), ++rules;
  });
  CHECK(rules >= 72);
}

}  // namespace test_octets
