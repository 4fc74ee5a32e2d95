// Lanes: N doubles side by side, in one register of the machine if they fit, else in two halves.
//
// A vector that is wider than the machine's registers passes through memory with GCC 12, which takes up to eight times as long
// as halves that stay in registers. So every function is written for halves, too, and GCC sees whole registers only: never an
// array, and never a copy of several registers at once. clang divides wide vectors itself, and better.
// Read next: rules/density/octet.hpp, eight lanes with the functions that rules need.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <agrad/base/error.hpp>

namespace agrad::detail {

/// Returns the most doubles in a vector of the compiler: those of a register, as Eigen knows them, two where it uses no
/// registers.
#if defined(__clang__)
inline constexpr std::size_t widest_vector = 8;
#else
inline constexpr std::size_t widest_vector =
    Eigen::internal::packet_traits<double>::size > 2 ? Eigen::internal::packet_traits<double>::size : 2;
#endif

/// Comparisons of N lanes, in two halves.
template <std::size_t N, bool is_vector = N <= widest_vector>
struct comparisons {
  comparisons<N / 2> low, high;

  AGRAD_ALWAYS_INLINE friend comparisons operator&(const comparisons& x, const comparisons& y) {
    return {x.low & y.low, x.high & y.high};
  }
  AGRAD_ALWAYS_INLINE bool all_hold() const { return (low & high).all_hold(); }
};

/// Comparisons of N lanes in one vector: integers whose bits are all 1 where the comparison holds, else all 0.
template <std::size_t N>
struct comparisons<N, true> {
#if defined(__GNUC__)
  typedef std::int64_t vector __attribute__((vector_size(N * sizeof(std::int64_t))));
#else
  using vector = Eigen::Array<bool, N, 1>;
#endif
  vector all;

  AGRAD_ALWAYS_INLINE friend comparisons operator&(const comparisons& x, const comparisons& y) { return {x.all & y.all}; }
#if defined(__GNUC__)
  AGRAD_ALWAYS_INLINE bool all_hold() const {
#if defined(__AVX512DQ__)
    if constexpr (N == 8) return _mm512_movepi64_mask(reinterpret_cast<__m512i>(all)) == 0xff;
#endif
#if defined(__AVX__)
    if constexpr (N == 4) return _mm256_movemask_pd(reinterpret_cast<__m256d>(all)) == 0xf;
#endif
#if defined(__SSE2__)
    if constexpr (N == 2) return _mm_movemask_pd(reinterpret_cast<__m128d>(all)) == 0x3;
#endif
    std::int64_t of[N];
    std::memcpy(of, &all, sizeof all);
    for (std::size_t half = N / 2; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) of[i] &= of[i + half];
    return of[0] != 0;
  }
#else
  AGRAD_ALWAYS_INLINE bool all_hold() const { return all.all(); }
#endif
};

/// N lanes in two halves.
template <std::size_t N, bool is_vector = N <= widest_vector>
struct lanes {
  using half = lanes<N / 2>;
  half low, high;

  AGRAD_ALWAYS_INLINE static lanes same(double x) { return {half::same(x), half::same(x)}; }
  AGRAD_ALWAYS_INLINE static lanes load(const double* from) { return {half::load(from), half::load(from + N / 2)}; }
  AGRAD_ALWAYS_INLINE void store(double* to) const {
    low.store(to);
    high.store(to + N / 2);
  }
  AGRAD_ALWAYS_INLINE friend lanes operator+(const lanes& x, const lanes& y) { return {x.low + y.low, x.high + y.high}; }
  AGRAD_ALWAYS_INLINE friend lanes operator-(const lanes& x, const lanes& y) { return {x.low - y.low, x.high - y.high}; }
  AGRAD_ALWAYS_INLINE friend lanes operator*(const lanes& x, const lanes& y) { return {x.low * y.low, x.high * y.high}; }
  AGRAD_ALWAYS_INLINE friend lanes operator/(const lanes& x, const lanes& y) { return {x.low / y.low, x.high / y.high}; }
  AGRAD_ALWAYS_INLINE friend lanes operator-(const lanes& x) { return {-x.low, -x.high}; }
  AGRAD_ALWAYS_INLINE friend comparisons<N, false> operator>(const lanes& x, const lanes& y) {
    return {x.low > y.low, x.high > y.high};
  }
  AGRAD_ALWAYS_INLINE friend comparisons<N, false> operator>=(const lanes& x, const lanes& y) {
    return {x.low >= y.low, x.high >= y.high};
  }
  AGRAD_ALWAYS_INLINE friend comparisons<N, false> operator==(const lanes& x, const lanes& y) {
    return {x.low == y.low, x.high == y.high};
  }
  /// Returns each lane of x where the comparison holds, else of y.
  AGRAD_ALWAYS_INLINE static lanes chosen(const comparisons<N, false>& is_first, const lanes& x, const lanes& y) {
    return {half::chosen(is_first.low, x.low, y.low), half::chosen(is_first.high, x.high, y.high)};
  }
  /// Returns the sum of the lanes: halves are added to halves.
  AGRAD_ALWAYS_INLINE double sum() const { return (low + high).sum(); }
};

/// N lanes in one vector of the compiler.
template <std::size_t N>
struct lanes<N, true> {
#if defined(__GNUC__)
  typedef double vector __attribute__((vector_size(N * sizeof(double))));
#else
  using vector = Eigen::Array<double, N, 1>;
#endif
  vector all;

  lanes() = default;
  AGRAD_ALWAYS_INLINE lanes(const vector& of) : all(of) {}  // NOLINT: a vector is the same as its lanes
  AGRAD_ALWAYS_INLINE lanes(const lanes& x) : all(x.all) {}
  AGRAD_ALWAYS_INLINE lanes& operator=(const lanes& x) {
    all = x.all;
    return *this;
  }

  AGRAD_ALWAYS_INLINE static lanes same(double x) {
#if defined(__GNUC__)
    return {x - vector {}};  // one instruction; with AVX-512, GCC 12 writes a loop over the lanes to memory in halves
#else
    return {vector::Constant(x)};
#endif
  }
  AGRAD_ALWAYS_INLINE static lanes load(const double* from) {
    lanes x;
    std::memcpy(&x.all, from, sizeof x.all);
    return x;
  }
  AGRAD_ALWAYS_INLINE void store(double* to) const { std::memcpy(to, &all, sizeof all); }
  AGRAD_ALWAYS_INLINE friend lanes operator+(const lanes& x, const lanes& y) { return {x.all + y.all}; }
  AGRAD_ALWAYS_INLINE friend lanes operator-(const lanes& x, const lanes& y) { return {x.all - y.all}; }
  AGRAD_ALWAYS_INLINE friend lanes operator*(const lanes& x, const lanes& y) { return {x.all * y.all}; }
  AGRAD_ALWAYS_INLINE friend lanes operator/(const lanes& x, const lanes& y) { return {x.all / y.all}; }
  AGRAD_ALWAYS_INLINE friend lanes operator-(const lanes& x) { return {-x.all}; }
  AGRAD_ALWAYS_INLINE friend comparisons<N, true> operator>(const lanes& x, const lanes& y) { return {x.all > y.all}; }
  AGRAD_ALWAYS_INLINE friend comparisons<N, true> operator>=(const lanes& x, const lanes& y) { return {x.all >= y.all}; }
  AGRAD_ALWAYS_INLINE friend comparisons<N, true> operator==(const lanes& x, const lanes& y) { return {x.all == y.all}; }
  AGRAD_ALWAYS_INLINE static lanes chosen(const comparisons<N, true>& is_first, const lanes& x, const lanes& y) {
#if defined(__GNUC__)
    return {is_first.all ? x.all : y.all};
#else
    return {is_first.all.select(x.all, y.all)};
#endif
  }
  AGRAD_ALWAYS_INLINE double sum() const {
    double of[N];
    store(of);
    for (std::size_t half = N / 2; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) of[i] += of[i + half];
    return of[0];
  }
};

/// Returns the entries of `below` where x < limit, else those of `other`, for plain arrays of one shape. Eigen's `select` takes
/// one entry after the other.
template <class A>
A chosen_below(const A& x, double limit, const A& below, const A& other) {
  constexpr Eigen::Index size = 8;
  using octet = lanes<std::size_t{size}>;
  A chosen(x.rows(), x.cols());
  const Eigen::Index n = x.size(), end = n - n % size;
  for (Eigen::Index i = 0; i < end; i += size)
    octet::chosen(octet::same(limit) > octet::load(x.data() + i), octet::load(below.data() + i), octet::load(other.data() + i))
        .store(chosen.data() + i);
  for (Eigen::Index i = end; i < n; ++i) chosen.data()[i] = x.data()[i] < limit ? below.data()[i] : other.data()[i];
  return chosen;
}

}  // namespace agrad::detail
