// Every elementwise rule on every engine: values agree to the last bit, derivatives with each other and with finite
// differences, and nan and the domain are as IEEE has them. A new rule is tested by being in its family's list.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "rule_probe.hpp"

namespace test_rules {

using probing::derivatives;
using probing::most_arguments;
using probing::probe;

namespace {

const std::vector<probe>& probes() {
  static const std::vector<probe> all = probing::probes_of(agrad::rules::elementwise{});
  return all;
}

/// Numbers inside of an interval, away from its ends; `shift` keeps those of different arguments apart.
std::vector<double> inside(const agrad::interval& domain, double shift) {
  if (domain.whole) {
    const double first = std::isfinite(domain.lower) ? domain.lower : -3;
    return {first, first + 1, first + 2, first + 5};
  }
  std::vector<double> points;
  if (std::isfinite(domain.lower) && std::isfinite(domain.upper)) {
    for (const double t : {0.12, 0.37, 0.62, 0.83})
      points.push_back(domain.lower + (t + shift / 8) * (domain.upper - domain.lower));
  } else if (std::isfinite(domain.lower)) {
    for (const double t : {0.2, 0.9, 1.7, 4.3}) points.push_back(domain.lower + t + shift);
  } else if (std::isfinite(domain.upper)) {
    for (const double t : {0.2, 0.9, 1.7, 4.3}) points.push_back(domain.upper - t - shift);
  } else {
    for (const double t : {-2.6, -0.7, 0.6, 1.2, 3.1}) points.push_back(t + shift);
  }
  return points;
}

struct point {
  double x[most_arguments] = {};
};

/// All combinations of the arguments' points.
std::vector<point> points_of(const probe& f) {
  std::vector<point> points(1);
  for (int k = 0; k < f.arity; ++k) {
    std::vector<point> longer;
    for (const point& p : points) {
      for (const double value : inside(f.domain[k], 0.21 * k)) {
        longer.push_back(p);
        longer.back().x[k] = value;
      }
    }
    points = longer;
  }
  return points;
}

bool same_bits(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }
bool close(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * (std::abs(a) + std::abs(b)) / 2 + tolerance * 1e-2;
}

/// The derivative with respect to argument k by central differences of order 6.
template <class F>
double difference(const F& f, const point& p, int k) {
  constexpr double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
  const double h = 0x1p-10;
  double sum = 0;
  for (int i = 1; i <= 3; ++i) {
    point right = p, left = p;
    right.x[k] += i * h;
    left.x[k] -= i * h;
    sum += weight[i - 1] * (f(right) - f(left));
  }
  return sum / h;
}

std::string described(const probe& f, const point& p) {
  std::string text = f.name + "(";
  for (int k = 0; k < f.arity; ++k) text += (k > 0 ? ", " : "") + std::to_string(p.x[k]);
  return text + ")";
}

template <class Check>
void at_every_point(const Check& check) {
  int checked = 0;
  for (const probe& f : probes()) {
    for (const point& p : points_of(f)) {
      INFO(described(f, p));
      check(f, p);
      ++checked;
    }
  }
  CHECK(checked > 500);
}

}  // namespace

TEST_CASE("every engine gives the rule's value to the last bit") {
  at_every_point([](const probe& f, const point& p) {
    const double value = f.value(p.x);
    CHECK(same_bits(f.by_var(p.x).value, value));
    CHECK(same_bits(f.by_dual(p.x).value, value));
    CHECK(same_bits(f.by_dual_of_var(p.x).value, value));
    CHECK(same_bits(f.by_dual_of_dual(p.x).value, value));
  });
}

TEST_CASE("first derivatives agree between engines and with finite differences") {
  at_every_point([](const probe& f, const point& p) {
    if (std::isnan(f.value(p.x))) return;  // a power of a negative number
    const derivatives by_var = f.by_var(p.x), by_dual = f.by_dual(p.x), by_both = f.by_dual_of_var(p.x);
    for (int k = 0; k < f.arity; ++k) {
      INFO("argument " << k);
      CHECK(close(by_dual.gradient[k], by_var.gradient[k], 1e-15));
      CHECK(close(by_both.gradient[k], by_var.gradient[k], 1e-15));
      const double approximate = f.domain[k].whole ? 0 : difference([&](const point& q) { return f.value(q.x); }, p, k);
      if (!std::isnan(approximate)) CHECK(close(by_var.gradient[k], approximate, 1e-9));
    }
  });
}

TEST_CASE("second derivatives agree between engines and with finite differences, and are symmetric") {
  at_every_point([](const probe& f, const point& p) {
    if (std::isnan(f.value(p.x))) return;
    const derivatives over_tape = f.by_dual_of_var(p.x), over_dual = f.by_dual_of_dual(p.x);
    for (int k = 0; k < f.arity; ++k) {
      for (int j = 0; j < f.arity; ++j) {
        INFO("arguments " << k << " and " << j);
        if (std::isnan(over_tape.gradient[k]) || std::isnan(over_tape.gradient[j])) continue;  // pow, in the exponent
        CHECK(close(over_tape.hessian[k][j], over_dual.hessian[k][j], 1e-14));
        CHECK(close(over_tape.hessian[k][j], over_tape.hessian[j][k], 1e-13));
        const double approximate =
            f.domain[j].whole ? 0 : difference([&](const point& q) { return f.by_var(q.x).gradient[k]; }, p, j);
        CHECK(close(over_tape.hessian[k][j], approximate, 1e-8));
      }
    }
  });
}

TEST_CASE("numbers among the arguments are constants") {
  at_every_point([](const probe& f, const point& p) {
    const derivatives all = f.by_var(p.x);
    for (std::size_t i = 0; i < f.by_masked_var.size(); ++i) {
      const derivatives by_var = f.by_masked_var[i](p.x), by_dual = f.by_masked_dual[i](p.x);
      CHECK(same_bits(by_var.value, all.value));
      CHECK(same_bits(by_dual.value, all.value));
      for (int k = 0; k < f.arity; ++k) {
        const bool variable = ((i + 1) >> k & 1U) != 0;
        CHECK(same_bits(by_var.gradient[k], variable ? all.gradient[k] : 0.0));
        CHECK(same_bits(by_dual.gradient[k], variable ? all.gradient[k] : 0.0));
      }
    }
  });
}

TEST_CASE("nan in, nan out") {
  // IEEE 754, C and NumPy have it otherwise for these and for conditions: nan loses against a number, has a sign, compares
  // false and is not 0.
  const std::set<std::string> exempt{"fmax", "fmin", "copysign", "select", "heaviside"};
  int checked = 0;
  for (const probe& f : probes()) {
    if (f.is_condition || exempt.count(f.name) != 0) continue;
    for (const point& p : points_of(f)) {
      for (int k = 0; k < f.arity; ++k) {
        point q = p;
        q.x[k] = agrad::quiet_nan;
        INFO(described(f, q));
        CHECK(std::isnan(f.value(q.x)));
        CHECK(std::isnan(f.by_var(q.x).value));
        CHECK(std::isnan(f.by_dual(q.x).value));
        ++checked;
      }
    }
  }
  CHECK(checked > 500);
}

TEST_CASE("outside of its domain a function is nan, or infinite where the rule says so") {
  int checked = 0;
  for (const probe& f : probes()) {
    for (const point& p : points_of(f)) {
      for (int k = 0; k < f.arity; ++k) {
        std::vector<double> outside{f.domain[k].lower - 1, f.domain[k].lower - 1e-9, f.domain[k].upper + 1,
                                    f.domain[k].upper + 1e-9};
        if (f.domain[k].whole) outside.push_back(p.x[k] + 0.5);
        for (const double value : outside) {
          if (std::isinf(value)) continue;
          point q = p;
          q.x[k] = value;
          INFO(described(f, q));
          CHECK(same_bits(f.value(q.x), f.outside));
          ++checked;
        }
      }
    }
  }
  CHECK(checked > 100);
}

TEST_CASE("names are unique, and every rule says what it is") {
  std::set<std::string> names;
  agrad::for_each(agrad::rules::elementwise{}, [&](auto tag) {
    using Rule = typename decltype(tag)::type;
    CHECK(names.insert(std::string(Rule::name)).second);
    CHECK(Rule::text.size() > 2);
    CHECK(Rule::text.back() == '.');
  });
}

}  // namespace test_rules
