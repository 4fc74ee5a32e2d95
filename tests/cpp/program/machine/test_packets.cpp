// Rules that compute eight entries at once: values and derivatives against the same rules of one number, wherever these lie,
// however many there are, and beside numbers for which packets are no good.
#include <doctest/doctest.h>
#include <agrad/program/recording/elementwise.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

namespace test_program_packets {

namespace {

using agrad::infinity;
using numbers = std::vector<double>;

/// How many units in the last place apart; 0 for two nans, infinite for a nan beside a number.
double ulps(double found, double expected) {
  if (std::isnan(expected) || std::isinf(expected) || expected == 0)
    return (std::isnan(found) && std::isnan(expected)) || found == expected ? 0 : infinity;
  const double size = std::abs(expected);
  return std::abs(found - expected) / (std::nextafter(size, infinity) - size);
}

/// Small and large, of both signs, and what is no number; ordinary ones between them.
numbers spread() {
  numbers x;
  for (const double size : {0.0, 5e-324, 1e-310, 1e-200, 1e-17, 1e-9,  0.1,   0.3,   0.6249, 0.6251, 0.9999, 1.0001,
                            2.0, 19.0,   37.0,   300.0,  354.0, 700.0, 707.9, 708.1, 745.2,  1e17,   1e300,  infinity}) {
    x.push_back(size);
    x.push_back(-size);
  }
  x.push_back(agrad::quiet_nan);
  for (int i = 0; i < 400; ++i) x.push_back(std::sinh(0.02 * (i - 200)));
  return x;
}

/// Second derivatives beside those of the rule on duals; their errors are measured by the larger of both orders, because they
/// have zeros.
template <class Rule, class... X>
void check_second(double tolerance, const X&... x) {
  CAPTURE(Rule::name);
  constexpr std::size_t arity = sizeof...(x);
  using direction = agrad::dual<double, static_cast<int>(arity)>;
  const agrad::entry_functions& functions = *agrad::kernel_of_rule<Rule>().entries;
  const numbers columns[] = {x...};
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    std::array<direction, arity> at;
    std::array<const double*, arity> one;
    for (std::size_t k = 0; k < arity; ++k) {
      at[k] = columns[k][i];
      at[k].tangent[k] = 1;
      one[k] = &columns[k][i];
    }
    const direction y = std::apply([](const auto&... of) { return agrad::apply<Rule>(of...); }, at);
    for (std::size_t j = 0; j < arity; ++j) {
      const direction expected = std::apply(
          [&](const auto&... of) {
            return j == 0 ? direction(Rule::derivative(agrad::wrt<0>{}, of..., y))
                          : direction(Rule::derivative(agrad::wrt<arity - 1>{}, of..., y));
          },
          at);
      double d, h[3], *to[] = {h, h + 1, h + 2};
      functions.second(j, 1, one.data(), &y.value, &d, to);
      for (std::size_t l = 0; l < arity; ++l) {
        CAPTURE(*one[0]);
        const bool equal = h[l] == expected.tangent[l] || (std::isnan(h[l]) && std::isnan(expected.tangent[l]));
        const double size = std::max(std::abs(d), std::abs(expected.tangent[l]));
        CHECK((equal || std::abs(h[l] - expected.tangent[l]) <= tolerance * size));
      }
    }
  }
}

/// The largest errors of values and of derivatives in ulps; every length from 1 to 9 begins at every entry.
template <class Rule, class... X>
void check(double of_values, double of_derivatives, const X&... x) {
  CAPTURE(Rule::name);
  const agrad::entry_functions& functions = *agrad::kernel_of_rule<Rule>().entries;
  const numbers* columns[] = {&x...};
  const std::size_t size = columns[0]->size();
  double worst = 0, worst_slope = 0;
  for (std::size_t begin = 0; begin < size; ++begin) {
    const std::size_t n = std::min(size - begin, 1 + begin % 9);
    const double* at[] = {x.data() + begin...};
    numbers y(n), d(n), exact(n);
    functions.values(static_cast<std::uint32_t>(n), at, y.data());
    for (std::size_t i = 0; i < n; ++i) {
      exact[i] = Rule::value(x[begin + i]...);
      worst = std::max(worst, ulps(y[i], exact[i]));
    }
    for (std::size_t j = 0; j < sizeof...(x); ++j) {
      functions.partial(j, static_cast<std::uint32_t>(n), at, exact.data(), d.data());
      for (std::size_t i = 0; i < n; ++i) {
        const double expected = j == 0 ? Rule::derivative(agrad::wrt<0>{}, x[begin + i]..., exact[i])
                                       : Rule::derivative(agrad::wrt<sizeof...(x) - 1>{}, x[begin + i]..., exact[i]);
        worst_slope = std::max(worst_slope, ulps(d[i], expected));
      }
    }
  }
  CHECK(worst <= of_values);
  CHECK(worst_slope <= of_derivatives);
}

}  // namespace

TEST_CASE("eight entries at once are as good as one") {
  const numbers x = spread();
  check<agrad::exp_rule>(2.5, 2.5, x);
  check<agrad::tanh_rule>(2.5, 5, x);
  check<agrad::inv_logit_rule>(3.5, 6, x);
  check<agrad::log1p_exp_rule>(3.5, 4, x);
  check<agrad::log_inv_logit_rule>(3.5, 4, x);
  check<agrad::erf_rule>(3.5, 4, x);
  check<agrad::erfc_rule>(6, 4, x);
  check<agrad::erfcx_rule>(6, 0, x);
  check<agrad::ndtr_rule>(9, 6, x);
  check<agrad::log_ndtr_rule>(9, 9, x);
  numbers left, right;  // every pair
  for (const double a : x)
    for (const double b : {0.0, a, -a, a + 0.5, a - 40, a + 800, infinity, -infinity, agrad::quiet_nan}) {
      left.push_back(a);
      right.push_back(b);
    }
  check<agrad::log_sum_exp_rule>(3.5, 4, left, right);
}

TEST_CASE("second derivatives of eight entries at once are as good as one") {
  const numbers x = spread();
  check_second<agrad::tanh_rule>(2e-15, x);
  check_second<agrad::inv_logit_rule>(2e-15, x);
  check_second<agrad::log1p_exp_rule>(2e-15, x);
  check_second<agrad::log_inv_logit_rule>(2e-15, x);
  check_second<agrad::erf_rule>(2e-15, x);
  check_second<agrad::erfc_rule>(2e-15, x);
  check_second<agrad::ndtr_rule>(2e-15, x);
  check_second<agrad::log_ndtr_rule>(4e-15, x);
  numbers left, right;
  for (const double a : x)
    for (const double b : {0.0, -a, a + 0.5, a - 40, a + 800}) {
      left.push_back(a);
      right.push_back(b);
    }
  check_second<agrad::log_sum_exp_rule>(2e-15, left, right);
}

TEST_CASE("an entry's value does not depend on its neighbours") {
  const numbers x = spread();
  const agrad::entry_functions& functions = *agrad::kernel_of_rule<agrad::tanh_rule>().entries;
  numbers together(x.size()), alone(x.size());
  const double* all = x.data();
  functions.values(static_cast<std::uint32_t>(x.size()), &all, together.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double* one = x.data() + i;
    functions.values(1, &one, alone.data() + i);
  }
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(ulps(together[i], alone[i]) == 0);
}

}  // namespace test_program_packets
