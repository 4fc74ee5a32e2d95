// Integrals of doubles over arcs of a circle, for the von Mises distribution: of exp(-kappa v), where v = 1 - cos(u - mu), over
// u from -pi to y.
//
// Gauss and Legendre's rule sums positive numbers, from the closest point of the arc to the mode outwards, in panels as long as
// the integrand's decay; so nothing cancels or underflows, however short, far out or concentrated the arc is. The rules are
// in rules/arcs.hpp.
#pragma once

#include <cmath>

#include <agrad/rules/gauss_legendre.hpp>
#include <agrad/rules/polygamma.hpp>

namespace agrad::detail {

/// Returns the rise of 1 - cos u from u to u + by.
inline double arc_rise(double u, double by) { return 2 * std::sin(u + 0.5 * by) * std::sin(0.5 * by); }

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

  /// Returns the integral of exp(-kappa (v - v at the peak)) times weight(u, u - begin, u - end).
  template <class Weight>
  double integral(const Weight& weight) const {
    if (!(begin < end)) return length * weight(end, 0.5 * length, -0.5 * length);  // the length is below the angles' rounding
    double sum = 0, from = begin;
    for (double half_turns = std::floor(begin / pi) + 1; from < end; ++half_turns) {  // v is monotone in between
      const double to = std::fmin(half_turns * pi, end);
      if (to > from) sum += piece(from, to, weight), from = to;
    }
    return sum;
  }
  template <class Weight>
  double mean(const Weight& weight) const {
    return integral(weight) / integral(one);
  }
  double log_integral() const { return std::log(integral(one)) - kappa * arc_rise(0, peak); }
  /// Returns exp(-kappa v) at u as a share of the integral.
  double share_at(double u) const { return below_peak(u) / integral(one); }

 private:
  static double one(double, double, double) { return 1; }

  /// Returns exp(-kappa (v - v at the peak)); where kappa is beyond 1e25 the peak's own rounding counts.
  double below_peak(double u) const { return std::exp(-std::fmax(kappa * arc_rise(peak, u - peak), 0)); }
  /// Returns u - begin, from u = begin + (end - begin) all digits of the length.
  double from_begin(double u) const { return u == end ? length : u - begin; }
  double from_end(double u) const { return u == begin ? -length : u - end; }

  /// Returns the part between two points, between which v is monotone.
  template <class Weight>
  double piece(double from, double to, const Weight& weight) const {
    const bool falls = arc_rise(from, to - from) < 0;
    const double start = falls ? to : from, sign = falls ? -1 : 1, size = from == begin ? from_begin(to) : to - from;
    const double to_begin = from_begin(start), to_end = from_end(start);
    double sum = 0, panel = 6 / (kappa * std::abs(std::sin(start)) + std::sqrt(kappa));
    for (double first = 0; first < size; first += panel, panel *= 2) {
      panel = std::fmin(panel, size - first);
      double part = 0;
      for (int i = 0; i < 32; ++i) {
        const double node = i < 16 ? -gauss_nodes[i] : gauss_nodes[31 - i], by = sign * (first + panel * (0.5 + 0.5 * node));
        const double density = std::exp(-kappa * arc_rise(start, by));
        part += gauss_weights[i < 16 ? i : 31 - i] * density * weight(start + by, to_begin + by, to_end + by);
      }
      sum += 0.5 * panel * part;
      if (std::abs(panel * part) < 1e-18 * std::abs(sum)) break;
    }
    return sum * below_peak(start);
  }
};

inline bool is_arc(double y, double kappa) { return y >= -pi && y <= pi && kappa >= 0 && kappa < infinity; }

inline double integer_power(double x, int n) {
  double power = 1;
  for (; n > 0; --n) power *= x;
  return power;
}

}  // namespace agrad::detail
