// Passes: one factor of a discrete Fourier transform at a time, as in Stockham's algorithm.
//
// A pass of radix p replaces transforms of length p m, of which s lie side by side, by p s transforms of length m:
//     y[k + s (p q + r)] = w^(q r) sum_j exp(-2 pi i j r / p) x[k + s (q + m j)],    w = exp(-2 pi i / (p m)),
// so results are in their order after the last pass, without a permutation of bits (Stockham 1966; Van Loan, Computational
// Frameworks for the Fast Fourier Transform, 1992, section 1.7). Real and imaginary parts are apart, so that loops over k, and
// over q where s is 1, are vectors. Read next: rules/fourier/transform.ipp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace agrad::fourier {

using Eigen::Index;

struct number {
  double re, im;
};
inline number operator+(number a, number b) { return {a.re + b.re, a.im + b.im}; }
inline number operator-(number a, number b) { return {a.re - b.re, a.im - b.im}; }
inline number operator*(double f, number a) { return {f * a.re, f * a.im}; }
inline number operator*(number a, number b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
inline number conjugate(number a) { return {a.re, -a.im}; }
/// Returns -i a.
inline number turned(number a) { return {a.im, -a.re}; }

/// Returns exp(-2 pi i k / n) for 0 <= k < n. The angle is reduced without rounding, to an eighth of the circle.
inline number root(Index k, Index n) {
  const bool below = 2 * k > n;
  Index x = 8 * (below ? n - k : k);  // in units of 2 pi / (8 n)
  const bool left = x > 2 * n;
  if (left) x = 4 * n - x;
  const bool steep = x > n;
  if (steep) x = 2 * n - x;
  const double angle = static_cast<double>(x) * 0.78539816339744830962 / static_cast<double>(n);
  const double c = std::cos(angle), s = std::sin(angle), across = steep ? s : c, up = steep ? c : s;
  return {left ? -across : across, below ? up : -up};
}

/// Complex numbers with their parts apart.
struct split {
  double *re, *im;
  number operator[](Index i) const { return {re[i], im[i]}; }
  void set(Index i, number a) const {
    re[i] = a.re;
    im[i] = a.im;
  }
};
struct constant_split {
  const double *re, *im;
  number operator[](Index i) const { return {re[i], im[i]}; }
};

struct pass {
  Index radix, m, s;
  /// The powers w^(q r), those of r = 1 for all q first; then, for radices without code of their own, the p-th roots of 1.
  std::vector<double> re, im;
  number twiddle(Index r, Index q) const {
    const auto i = static_cast<std::size_t>((r - 1) * m + q);
    return {re[i], im[i]};
  }
};

inline pass make_pass(Index radix, Index m, Index s, bool wants_roots) {
  pass p{radix, m, s, {}, {}};
  const auto push = [&p](number w) {
    p.re.push_back(w.re);
    p.im.push_back(w.im);
  };
  for (Index r = 1; r < radix; ++r)
    for (Index q = 0; q < m; ++q) push(root(q * r, radix * m));
  for (Index j = 0; wants_roots && j < radix; ++j) push(root(j, radix));
  return p;
}

// ---- transforms of 2, 3, 4 and 5 numbers ----------------------------------------------------------------------------------

template <int P>
struct short_transform;
template <>
struct short_transform<2> {
  static void run(number (&a)[2]) {
    const number b = a[1];
    a[1] = a[0] - b;
    a[0] = a[0] + b;
  }
};
template <>
struct short_transform<3> {
  static void run(number (&a)[3]) {
    const number sum = a[1] + a[2], side = 0.86602540378443864676 * turned(a[1] - a[2]), middle = a[0] - 0.5 * sum;
    a[0] = a[0] + sum;
    a[1] = middle + side;
    a[2] = middle - side;
  }
};
template <>
struct short_transform<4> {
  static void run(number (&a)[4]) {
    const number even = a[0] + a[2], odd = a[1] + a[3], straight = a[0] - a[2], across = turned(a[1] - a[3]);
    a[0] = even + odd;
    a[1] = straight + across;
    a[2] = even - odd;
    a[3] = straight - across;
  }
};
template <>
struct short_transform<5> {
  static void run(number (&a)[5]) {
    constexpr double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;  // cos(2 pi / 5), cos(4 pi / 5)
    constexpr double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
    const number near = a[1] + a[4], far = a[2] + a[3], dn = turned(a[1] - a[4]), df = turned(a[2] - a[3]);
    const number first = a[0] + (c1 * near + c2 * far), second = a[0] + (c2 * near + c1 * far);
    const number up = s1 * dn + s2 * df, low = s2 * dn - s1 * df;
    a[0] = a[0] + (near + far);
    a[1] = first + up;
    a[2] = second + low;
    a[3] = second - low;
    a[4] = first - up;
  }
};

// ---- passes --------------------------------------------------------------------------------------------------------------

template <int P>
void run_pass(const pass& p, constant_split x, split y) {
  const Index m = p.m, s = p.s;
  const double* __restrict x_re = x.re, * __restrict x_im = x.im;
  double* __restrict y_re = y.re, * __restrict y_im = y.im;
  const double *w_re = p.re.data(), *w_im = p.im.data();
  const auto step = [=](Index k, Index q, const number* w) {
    number a[static_cast<std::size_t>(P)];
    for (Index j = 0; j < P; ++j) a[j] = {x_re[k + s * (q + m * j)], x_im[k + s * (q + m * j)]};
    short_transform<P>::run(a);
    for (Index r = 0; r < P; ++r) {
      const number b = r == 0 ? a[0] : w[r - 1] * a[r];
      y_re[k + s * (P * q + r)] = b.re;
      y_im[k + s * (P * q + r)] = b.im;
    }
  };
  const auto twiddles = [=](Index q, number* w) {
    for (Index r = 0; r < P - 1; ++r) w[r] = {w_re[r * m + q], w_im[r * m + q]};
  };
  if (s == 1) {
    for (Index q = 0; q < m; ++q) {
      number w[static_cast<std::size_t>(P - 1)];
      twiddles(q, w);
      step(0, q, w);
    }
    return;
  }
  for (Index q = 0; q < m; ++q) {
    number w[static_cast<std::size_t>(P - 1)];
    twiddles(q, w);
    for (Index k = 0; k < s; ++k) step(k, q, w);
  }
}

/// Runs a pass of any odd radix, which takes radix^2 products: sums and differences of the entries j and p - j are shared by
/// the results r and p - r.
inline void run_any_pass(const pass& p, constant_split x, split y) {
  constexpr Index most = 8;  // of the transforms that are computed together
  const Index n = p.radix, half = (n - 1) / 2, m = p.m, s = p.s;
  const double *cos = p.re.data() + (n - 1) * m, *sin = p.im.data() + (n - 1) * m;  // of angles < 0
  std::vector<double> room(static_cast<std::size_t>(4 * half * most));
  double* at = room.data();
  for (Index q = 0; q < m; ++q) {
    for (Index from = 0; from < s; from += most) {
      const Index count = std::min(most, s - from);
      double sum_re[most], sum_im[most];
      const auto place = [&](Index j) { return from + s * (q + m * j); };
      const auto target = [&](Index r) { return from + s * (n * q + r); };
      for (Index k = 0; k < count; ++k) {
        sum_re[k] = x.re[place(0) + k];
        sum_im[k] = x.im[place(0) + k];
      }
      for (Index j = 1; j <= half; ++j) {
        double* both = at + 4 * most * (j - 1);
        for (Index k = 0; k < count; ++k) {
          const number a = x[place(j) + k], b = x[place(n - j) + k], plus = a + b, minus = a - b;
          sum_re[k] += both[k] = plus.re;
          sum_im[k] += both[most + k] = plus.im;
          both[2 * most + k] = minus.re;
          both[3 * most + k] = minus.im;
        }
      }
      for (Index k = 0; k < count; ++k) y.set(target(0) + k, {sum_re[k], sum_im[k]});
      for (Index r = 1; r <= half; ++r) {
        double even_re[most] = {}, even_im[most] = {}, odd_re[most] = {}, odd_im[most] = {};
        Index angle = 0;
        for (Index j = 1; j <= half; ++j) {
          angle += r;
          if (angle >= n) angle -= n;
          const double c = cos[angle], t = sin[angle], *both = at + 4 * most * (j - 1);
          for (Index k = 0; k < most; ++k) {
            even_re[k] += c * both[k];
            even_im[k] += c * both[most + k];
            odd_re[k] -= t * both[3 * most + k];
            odd_im[k] += t * both[2 * most + k];
          }
        }
        const number w = p.twiddle(r, q), other = p.twiddle(n - r, q);
        for (Index k = 0; k < count; ++k) {
          const number even = x[place(0) + k] + number{even_re[k], even_im[k]}, odd{odd_re[k], odd_im[k]};
          y.set(target(r) + k, w * (even + odd));
          y.set(target(n - r) + k, other * (even - odd));
        }
      }
    }
  }
}

}  // namespace agrad::fourier
