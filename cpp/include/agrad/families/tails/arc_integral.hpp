// Integrals of doubles over arcs of a circle, for the von Mises distribution: of exp(-kappa v), where v = 1 - cos(u - mu), over
// u from -pi to y.
//
// Gauss and Legendre's rule sums positive numbers, eight at once, from the closest point of the arc to the mode outwards, in
// panels as long as the integrand's decay; so nothing cancels or underflows, however short, far out or concentrated the arc is.
// The rules are in families/tails/arcs.hpp.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include <agrad/families/tails/sine_octet.hpp>
#include <agrad/rules/density/first_lane.hpp>
#include <agrad/rules/density/octet_rules.hpp>
#include <agrad/rules/gauss_legendre.hpp>

namespace agrad::detail {

/// Returns the rise of 1 - cos u from u to u + by, of numbers or octets.
template <class U, class By>
AGRAD_ALWAYS_INLINE By arc_rise(const U& u, const By& by) {
  const By half = 0.5 * by;
  return 2.0 * sine(u + half) * sine(half);
}

/// The arc, as angles from mu on, |mu| <= pi.
struct arc {
  double begin, end, length, kappa, peak;

  arc(double y, double mu, double concentration)
      : begin(-pi - mu), end(y - mu), length(y + pi), kappa(concentration), peak(begin) {
    const double turn = 2 * pi * std::ceil(begin / (2 * pi));
    if (turn <= end)
      peak = turn;
    else if (arc_rise(begin, length) < 0)
      peak = end;
  }

  /// Returns the integrals of exp(-kappa (v - v at the peak)) times each weight(u, u - begin, u - end), a function of octets.
  template <class... Weight>
  std::array<double, sizeof...(Weight)> integrals(const Weight&... weight) const {
    if (!(begin < end))  // the length is below the angles' rounding
      return {length * first_lane(weight(octet(end), octet(0.5 * length), octet(-0.5 * length)))...};
    std::array<double, sizeof...(Weight)> sums{};
    double from = begin;
    for (double half_turns = std::floor(begin / pi) + 1; from < end; ++half_turns) {  // v is monotone in between
      const double to = std::fmin(half_turns * pi, end);
      if (to > from) add_piece(sums, from, to, weight...), from = to;
    }
    return sums;
  }
  double integral() const { return integrals(one)[0]; }
  /// Returns the integral, and the mean of a weight.
  template <class Weight>
  double mean(const Weight& weight, double& integral) const {
    const std::array<double, 2> both = integrals(one, weight);
    integral = both[0];
    return both[1] / both[0];
  }
  template <class Weight>
  double mean(const Weight& weight) const {
    double integral;
    return mean(weight, integral);
  }
  /// Returns v less v at the peak; a weight.
  octet above_peak(const octet& u, const octet& from_begin, const octet& from_end) const {
    return peak == begin ? arc_rise(begin, from_begin) : peak == end ? arc_rise(end, from_end) : arc_rise(0.0, u);
  }
  /// Returns the logarithm of an integral that `integrals` returns.
  double log_of(double integral) const { return std::log(integral) - kappa * arc_rise(0.0, peak); }
  /// Returns exp(-kappa v) at u as a share of the integral.
  double share_at(double u, double integral) const { return below_peak(u) / integral; }

 private:
  static octet one(const octet&, const octet&, const octet&) { return 1.0; }

  /// Returns exp(-kappa (v - v at the peak)); where kappa is beyond 1e25 the peak's own rounding counts.
  double below_peak(double u) const { return std::exp(-std::fmax(kappa * arc_rise(peak, u - peak), 0)); }
  /// Returns u - begin, from u = begin + (end - begin) all digits of the length.
  double from_begin(double u) const { return u == end ? length : u - begin; }
  double from_end(double u) const { return u == begin ? -length : u - end; }

  /// Adds the parts between two points, between which v is monotone.
  template <class... Weight>
  void add_piece(std::array<double, sizeof...(Weight)>& sums, double from, double to, const Weight&... weight) const {
    constexpr std::size_t count = sizeof...(Weight);
    const bool falls = arc_rise(from, to - from) < 0;
    const double start = falls ? to : from, sign = falls ? -1 : 1, size = from == begin ? from_begin(to) : to - from;
    const double to_begin = from_begin(start), to_end = from_end(start), scale = below_peak(start);
    std::array<double, count> piece{};
    double panel = 6 / (kappa * std::abs(std::sin(start)) + std::sqrt(kappa));
    for (double first = 0; first < size; first += panel, panel *= 2) {
      panel = std::fmin(panel, size - first);
      std::array<octet, count> parts;
      for (int i = 0; i < 32; i += 8) {  // the nodes of the first half of the panel, and of the second half
        const double side = i < 16 ? -0.5 : 0.5;
        const octet node = octet::load(gauss_nodes + i % 16), by = sign * (first + panel * (0.5 + side * node));
        const octet density = octet::load(gauss_weights + i % 16) * exp(-kappa * arc_rise(start, by));
        std::size_t k = 0;
        ((parts[k++] += density * weight(start + by, to_begin + by, to_end + by)), ...);
      }
      bool is_done = true;
      for (std::size_t k = 0; k < count; ++k) {
        const double part = panel * parts[k].sum();
        piece[k] += 0.5 * part;
        is_done = is_done && std::abs(part) < 1e-18 * std::abs(piece[k]);
      }
      if (is_done) break;
    }
    for (std::size_t k = 0; k < count; ++k) sums[k] += piece[k] * scale;
  }
};

inline bool is_arc(double y, double kappa) { return y >= -pi && y <= pi && kappa >= 0 && kappa < infinity; }

template <class S>
S integer_power(const S& x, int n) {
  S power = 1.0;
  for (; n > 0; --n) power = power * x;
  return power;
}

}  // namespace agrad::detail
