// Definitions of rules/fourier/transform.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/rules/fourier/passes.hpp>
#include <agrad/rules/fourier/transform.hpp>

namespace agrad::fourier {

/// Returns two arrays of n doubles from memory of `split_size(n)`, and moves the pointer behind them. The gaps keep entries of
/// several arrays, of a length that is a power of 2, out of the same lines of the cache: half the time at 16384 numbers.
inline constexpr Index gap = 136;
inline Index split_size(Index n) { return 2 * n + 3 * gap; }
inline split take_split(double*& room, Index n) {
  const split taken{room + gap, room + n + 3 * gap};
  room += split_size(n);
  return taken;
}

/// The tables of a length, and the algorithm of its transforms.
class plan {
 public:
  explicit plan(Index n);
  Index size() const { return n_; }
  /// The number of doubles that `run` needs.
  Index room() const { return chirp_re_.empty() ? split_size(n_) : 2 * split_size(around_->size()) + around_->room(); }
  void run(constant_split x, split y, double* room) const {
    chirp_re_.empty() ? run_passes(x, y, room) : run_convolution(x, y, room);
  }

 private:
  Index n_;
  std::vector<pass> passes_;
  // Bluestein's algorithm, where these are not empty: exp(-pi i k^2 / n), and the transform of the filter that it makes.
  std::vector<double> chirp_re_, chirp_im_, filter_re_, filter_im_;
  std::unique_ptr<plan> around_;

  void prepare_convolution();
  void run_passes(constant_split x, split y, double* room) const;
  void run_convolution(constant_split x, split y, double* room) const;
};

/// Larger prime factors are transformed by Bluestein's algorithm.
inline constexpr Index largest_radix = 31;

/// Returns n without its factors 2, 3 and 5.
inline Index without_small_factors(Index n) {
  for (const Index f : {2, 3, 5})
    while (n % f == 0) n /= f;
  return n;
}

AGRAD_INLINE plan::plan(Index n) : n_(n) {
  std::vector<Index> factors;
  Index rest = n;
  const auto take = [&](Index f) {
    factors.push_back(f);
    rest /= f;
  };
  while (rest % 4 == 0) take(4);
  for (const Index f : {5, 3, 2})
    while (rest % f == 0) take(f);
  for (Index f = 7; f <= largest_radix && rest > 1; f += 2)
    while (rest % f == 0) take(f);
  if (rest > 1) {
    prepare_convolution();
    return;
  }
  Index left = n, side_by_side = 1;
  for (const Index f : factors) {
    left /= f;
    passes_.push_back(make_pass(f, left, side_by_side, f > 5));
    side_by_side *= f;
  }
}

/// Bluestein (1970): with 2 f j = f^2 + j^2 - (f - j)^2 a transform is a convolution with exp(pi i k^2 / n), which transforms
/// of a convenient length compute.
AGRAD_INLINE void plan::prepare_convolution() {
  Index length = 2 * n_ - 1;
  while (without_small_factors(length) != 1) ++length;
  around_ = std::make_unique<plan>(length);
  const auto n = static_cast<std::size_t>(n_), padded = static_cast<std::size_t>(length);
  chirp_re_.resize(n);
  chirp_im_.resize(n);
  std::vector<double> re(padded), im(padded), room(static_cast<std::size_t>(around_->room()));
  filter_re_.resize(padded);
  filter_im_.resize(padded);
  Index square = 0;  // k^2 modulo 2 n
  for (std::size_t k = 0; k < n; ++k) {
    const number w = root(square, 2 * n_);
    square = (square + 2 * static_cast<Index>(k) + 1) % (2 * n_);
    chirp_re_[k] = w.re;
    chirp_im_[k] = w.im;
    const std::size_t mirrored = k == 0 ? 0 : padded - k;
    re[k] = re[mirrored] = w.re / static_cast<double>(length);
    im[k] = im[mirrored] = -w.im / static_cast<double>(length);
  }
  around_->run({re.data(), im.data()}, {filter_re_.data(), filter_im_.data()}, room.data());
}

AGRAD_INLINE void plan::run_convolution(constant_split x, split y, double* room) const {
  const Index length = around_->size();
  const split a = take_split(room, length), b = take_split(room, length);
  const constant_split chirp{chirp_re_.data(), chirp_im_.data()}, filter{filter_re_.data(), filter_im_.data()};
  for (Index k = 0; k < n_; ++k) a.set(k, chirp[k] * x[k]);
  std::fill(a.re + n_, a.re + length, 0.0);
  std::fill(a.im + n_, a.im + length, 0.0);
  around_->run({a.re, a.im}, b, room);
  for (Index k = 0; k < length; ++k) a.set(k, b[k] * filter[k]);
  around_->run({a.im, a.re}, {b.im, b.re}, room);
  for (Index k = 0; k < n_; ++k) y.set(k, chirp[k] * b[k]);
}

AGRAD_INLINE void plan::run_passes(constant_split x, split y, double* room) const {
  if (passes_.empty()) {
    std::copy_n(x.re, n_, y.re);
    std::copy_n(x.im, n_, y.im);
    return;
  }
  const split other = take_split(room, n_);
  std::size_t left = passes_.size();
  for (const pass& p : passes_) {
    const split to = --left % 2 == 0 ? y : other;
    switch (p.radix) {
      case 2:
        run_pass<2>(p, x, to);
        break;
      case 3:
        run_pass<3>(p, x, to);
        break;
      case 4:
        run_pass<4>(p, x, to);
        break;
      case 5:
        run_pass<5>(p, x, to);
        break;
      default:
        run_any_pass(p, x, to);
    }
    x = {to.re, to.im};
  }
}

/// The roots of 1 that join two transforms of length n / 2.
class half_circle {
 public:
  explicit half_circle(Index n) : n_(n) {
    for (Index f = 0; f <= n / 4; ++f) {
      const number w = root(f, n);
      re_.push_back(w.re);
      im_.push_back(w.im);
    }
  }
  Index size() const { return n_; }
  number operator[](Index f) const { return {re_[static_cast<std::size_t>(f)], im_[static_cast<std::size_t>(f)]}; }

 private:
  Index n_;
  std::vector<double> re_, im_;
};

/// Returns the tables of a length, which live until the next call for the same kind of tables in this thread.
template <class Table>
const Table& kept(Index n) {
  constexpr std::size_t most = 8;
  thread_local std::vector<std::unique_ptr<Table>> tables;  // the last used first
  auto found = std::find_if(tables.begin(), tables.end(), [n](const auto& p) { return p->size() == n; });
  if (found == tables.end()) {
    auto made = std::make_unique<Table>(n);
    if (tables.size() == most) tables.pop_back();
    tables.push_back(std::move(made));
    found = tables.end() - 1;
  }
  std::rotate(tables.begin(), found, found + 1);
  return *tables.front();
}

/// Returns memory of this thread, until the next call.
inline double* memory(Index size) {
  thread_local std::vector<double> room;
  if (const auto needed = static_cast<std::size_t>(size); room.size() < needed || room.size() > 4 * needed + 65536)
    room = std::vector<double>(needed);
  return room.data();
}

AGRAD_INLINE void transform(Index n, const double* re, const double* im, double* y_re, double* y_im) {
  if (n == 0) return;
  const plan& p = kept<plan>(n);
  p.run({re, im}, {y_re, y_im}, memory(p.room()));
}

/// Even entries as real parts, odd ones as imaginary parts: the transform of half the length has the sum of both transforms,
/// which the conjugated entries n / 2 - f tell apart (Cooley, Lewis and Welch 1970, Journal of Sound and Vibration 12:315).
AGRAD_INLINE void real_transform(Index n, const double* x, double* y_re, double* y_im) {
  const bool is_even = n % 2 == 0;
  const Index m = is_even ? n / 2 : n;
  if (n == 0) return;
  const plan& p = kept<plan>(m);
  double* room = memory(2 * split_size(m) + p.room());
  const split a = take_split(room, m), b = take_split(room, m);
  for (Index j = 0; j < m; ++j) a.set(j, is_even ? number{x[2 * j], x[2 * j + 1]} : number{x[j], 0});
  p.run({a.re, a.im}, b, room);
  const split y{y_re, y_im};
  if (!is_even) {
    std::copy_n(b.re, n / 2 + 1, y_re);
    std::copy_n(b.im, n / 2 + 1, y_im);
    return;
  }
  const half_circle& w = kept<half_circle>(n);
  for (Index f = 0; f <= m / 2; ++f) {
    const number one = b[f], other = conjugate(b[f == 0 ? 0 : m - f]);
    const number even = 0.5 * (one + other), odd = w[f] * turned(0.5 * (one - other));
    y.set(f, even + odd);
    y.set(m - f, conjugate(even - odd));
  }
}

AGRAD_INLINE void transposed_real_transform(Index n, const double* y_re, const double* y_im, double* x) {
  const bool is_even = n % 2 == 0;
  const Index m = is_even ? n / 2 : n;
  if (n == 0) return;
  const plan& p = kept<plan>(m);
  double* room = memory(2 * split_size(m) + p.room());
  const split a = take_split(room, m), b = take_split(room, m);
  const constant_split y{y_re, y_im};
  if (!is_even) {
    for (Index f = 0; f < n; ++f) a.set(f, f <= n / 2 ? y[f] : number{0, 0});
    p.run({a.im, a.re}, {b.im, b.re}, room);
    std::copy_n(b.re, n, x);
    return;
  }
  const half_circle& w = kept<half_circle>(n);
  const auto hermitian = [&](Index f) { return f == 0 || f == m ? number{y_re[f], 0} : 0.5 * y[f]; };
  for (Index f = 0; f <= m / 2; ++f) {
    const number one = hermitian(f), other = conjugate(hermitian(m - f));
    const number even = one + other, odd = conjugate(turned(w[f] * conjugate(one - other)));  // i conj(w) (one - other)
    a.set(f, even + odd);
    if (f != 0) a.set(m - f, conjugate(even - odd));
  }
  p.run({a.im, a.re}, {b.im, b.re}, room);
  for (Index j = 0; j < m; ++j) {
    x[2 * j] = b.re[j];
    x[2 * j + 1] = b.im[j];
  }
}

}  // namespace agrad::fourier
