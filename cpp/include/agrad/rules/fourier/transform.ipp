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

/// The tables of a length, and the algorithm of its transforms.
class plan {
 public:
  explicit plan(Index n);
  Index size() const { return n_; }
  /// The number of doubles that `run` needs.
  Index room() const { return chirp_re_.empty() ? 2 * n_ : 4 * around_->size() + around_->room(); }
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
  while (rest % 8 == 0 && rest != 16) take(8);  // 16 is 4 x 4
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
    passes_.push_back(make_pass(f, left, side_by_side, f > 5 && f != 8));
    side_by_side *= f;
  }
}

/// Bluestein (1970): with 2 f j = f^2 + j^2 - (f - j)^2 a transform is a convolution with exp(pi i k^2 / n), which transforms of
/// a convenient length compute.
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
  const split a{room, room + length}, b{room + 2 * length, room + 3 * length};
  double* rest = room + 4 * length;
  const constant_split chirp{chirp_re_.data(), chirp_im_.data()}, filter{filter_re_.data(), filter_im_.data()};
  for (Index k = 0; k < n_; ++k) a.set(k, chirp[k] * x[k]);
  std::fill(a.re + n_, a.re + length, 0.0);
  std::fill(a.im + n_, a.im + length, 0.0);
  around_->run({a.re, a.im}, b, rest);
  for (Index k = 0; k < length; ++k) a.set(k, b[k] * filter[k]);
  around_->run({a.im, a.re}, {b.im, b.re}, rest);
  for (Index k = 0; k < n_; ++k) y.set(k, chirp[k] * b[k]);
}

AGRAD_INLINE void plan::run_passes(constant_split x, split y, double* room) const {
  if (passes_.empty()) {
    std::copy_n(x.re, n_, y.re);
    std::copy_n(x.im, n_, y.im);
    return;
  }
  const split other{room, room + n_};
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
      case 8:
        run_pass<8>(p, x, to);
        break;
      default:
        run_any_pass(p, x, to);
    }
    x = {to.re, to.im};
  }
}

/// Returns the plan of a length, which lives until the next call in this thread.
inline const plan& plan_of(Index n) {
  constexpr std::size_t most = 8;
  thread_local std::vector<std::unique_ptr<plan>> kept;  // the last used first
  auto found = std::find_if(kept.begin(), kept.end(), [n](const auto& p) { return p->size() == n; });
  if (found == kept.end()) {
    auto made = std::make_unique<plan>(n);
    if (kept.size() == most) kept.pop_back();
    kept.push_back(std::move(made));
    found = kept.end() - 1;
  }
  std::rotate(kept.begin(), found, found + 1);
  return *kept.front();
}

AGRAD_INLINE void transform(Index n, const double* re, const double* im, double* y_re, double* y_im) {
  if (n == 0) return;
  thread_local std::vector<double> room;
  const plan& p = plan_of(n);
  if (const auto needed = static_cast<std::size_t>(p.room()); room.size() < needed || room.size() > 4 * needed + 65536)
    room = std::vector<double>(needed);
  p.run({re, im}, {y_re, y_im}, room.data());
}

}  // namespace agrad::fourier
