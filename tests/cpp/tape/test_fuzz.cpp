// Random sequences of operations, copies, moves and increments on the tape, against dual numbers and plain numbers that run the
// same sequence.
#include <doctest/doctest.h>
#include <agrad/dual/dual.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_tape_fuzz {

using agrad::scope;
using agrad::tape;
using agrad::var;
using doctest::Approx;

namespace {

constexpr int inputs = 4;
using tangents = agrad::dual<double, inputs>;

struct step {
  int what;
  std::size_t i, j, k;
  double c;
};
constexpr int kinds_of_step = 22;

std::vector<step> random_steps(std::mt19937& random, int n) {
  std::uniform_int_distribution<int> what(0, kinds_of_step - 1);
  std::uniform_int_distribution<std::size_t> place(0, 7);
  std::uniform_real_distribution<double> number(-1.5, 1.5);
  std::vector<step> steps;
  for (int s = 0; s < n; ++s) steps.push_back({what(random), place(random), place(random), place(random), number(random)});
  return steps;
}

/// A reverse pass within a scope of its own, which must leave no trace; nothing for numbers without a tape.
template <class T>
void aside(std::vector<T>& v, const step& s) {
  if constexpr (std::is_same_v<T, var>) {
    const scope inner;
    var t = v[s.j] * s.c;
    t += v[s.k];
    t += t * v[s.i];
    t.grad();
  } else {
    (void)v, (void)s;
  }
}

template <class T>
void carry_out(std::vector<T>& v, const step& s) {
  T& x = v[s.i];
  const T& y = v[s.j];
  const T& z = v[s.k];
  const auto by_value = [](T a, T b) {
    a += b;
    return a;
  };
  switch (s.what) {
    case 0:
      x = y * z + s.c;
      break;
    case 1:
      x += y;
      break;
    case 2:
      x -= y * z;
      break;
    case 3:
      x *= sin(y);
      break;
    case 4:
      x /= 2 + y * y;
      break;
    case 5:
      x += x * s.c;
      break;
    case 6:
      x += s.c;
      break;
    case 7:
      x = y;
      break;
    case 8:
      std::swap(v[s.i], v[s.j]);
      break;
    case 9: {
      T moved = std::move(v[s.j]);
      v[s.j] = s.c;
      v[s.i] = std::move(moved);
      break;
    }
    case 10: {
      const auto held = y * z;
      v[s.j] += z;
      x = held;
      break;
    }
    case 11: {
      const auto later = [y, c = s.c] { return y * c; };
      v[s.j] += z * z;
      x += later();
      break;
    }
    case 12: {
      const std::vector<T> copy = v;
      x += y;
      v[s.k] -= copy[s.i];
      break;
    }
    case 13:
      v.push_back(y);
      v[s.i] += v.back();
      v.pop_back();
      break;
    case 14:
      std::rotate(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(s.i), v.end());
      break;
    case 15:
      for (std::size_t q = 0; q < 4; ++q) x += v[q] * s.c;
      break;
    case 16:
      x = by_value(y, z);
      break;
    case 17:
      x = s.c > 0 ? y : T(z * s.c);
      break;
    case 18:
      aside(v, s);
      break;
    case 19: {
      T t = y;
      t -= z;
      t += x;
      x -= t;
      break;
    }
    case 20:
      x = cos(y - z) * s.c - x;
      break;
    case 21:
      v.insert(v.begin() + static_cast<std::ptrdiff_t>(s.i), T(y * s.c));
      v.pop_back();
      break;
  }
  for (T& each : v)
    if (each > 4 || each < -4) each = sin(each);
}

}  // namespace

TEST_CASE("random sequences of operations, copies, moves and increments have the gradients of dual numbers") {
  std::mt19937 random(20240607);
  std::uniform_real_distribution<double> number(-2, 2);
  for (int sequence = 0; sequence < 3000; ++sequence) {
    const scope own;
    std::vector<var> v;
    std::vector<tangents> d;
    std::vector<double> x;
    std::array<tape::index_type, inputs> index{};  // by index, because copies of the inputs would mark them as shared
    for (std::size_t i = 0; i < 8; ++i) {
      x.push_back(number(random));
      v.emplace_back(x[i]);
      d.emplace_back(x[i]);
      if (i < inputs) index[i] = v[i].index(), d[i].tangent[i] = 1;
    }
    const std::vector<step> steps = random_steps(random, 40);
    for (std::size_t s = 0; s < steps.size(); ++s) {
      carry_out(v, steps[s]);
      carry_out(d, steps[s]);
      carry_out(x, steps[s]);
      if (s % 10 != 9) continue;
      const std::size_t which = steps[s].j;
      v[which].grad();
      double scale = 1, difference = 0;
      for (std::size_t i = 0; i < inputs; ++i) {
        scale = std::max(scale, std::abs(d[which].tangent[i]));
        difference = std::max(difference, std::abs(d[which].tangent[i] - tape::current().adjoint(index[i])));
      }
      if (!(difference < 1e-10 * scale) || v[which].val() != Approx(x[which]).epsilon(1e-10)) {
        FAIL("sequence ", sequence, " after step ", s, ": gradients differ by ", difference);
      }
    }
  }
}

}  // namespace test_tape_fuzz
