// Sine and cosine of half the difference of two angles, with the digits that the rounded difference has lost.
//
// The difference of angles that are large, or of different size, is rounded by up to half a unit of its last digit: of angles
// around 1e6 by 1e-10, which is then the error of its sine. The rounding error is known exactly (Knuth 1969, The Art of
// Computer Programming 2, section 4.2.2) and turns the sine and the cosine back.
#pragma once

#include <cmath>

#include <agrad/rules/apply.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad::detail {

/// Half the difference of two angles, and half of what its rounding has lost, where that counts.
struct half_angle {
  double half, lost = 0;

  half_angle(double x, double y) : half(0.5 * (x - y)) {
    if (!(std::abs(half) > 4)) return;  // then the rounding error is below 1e-15
    const double difference = x - y, y_back = x - difference, x_back = difference + y_back;
    const double rest = (x - x_back) - (y - y_back);
    if (std::isfinite(rest)) lost = 0.5 * rest;
  }
  double sine() const {
    if (lost == 0) return std::sin(half);
    return std::sin(half) * std::cos(lost) + std::cos(half) * std::sin(lost);
  }
  double cosine() const {
    if (lost == 0) return std::cos(half);
    return std::cos(half) * std::cos(lost) - std::sin(half) * std::sin(lost);
  }
};

struct half_angle_cosine_rule;

/// sin((x - y) / 2).
struct half_angle_sine_rule : rule<2> {
  static constexpr std::string_view name = "half_angle_sine";
  static double value(double x, double y) { return half_angle(x, y).sine(); }
  template <int I, class T>
  static T derivative(wrt<I>, const T& x, const T& y, const T&) {
    return (I == 0 ? 0.5 : -0.5) * apply<half_angle_cosine_rule>(x, y);
  }
};

/// cos((x - y) / 2).
struct half_angle_cosine_rule : rule<2> {
  static constexpr std::string_view name = "half_angle_cosine";
  static double value(double x, double y) { return half_angle(x, y).cosine(); }
  template <int I, class T>
  static T derivative(wrt<I>, const T& x, const T& y, const T&) {
    return (I == 0 ? -0.5 : 0.5) * apply<half_angle_sine_rule>(x, y);
  }
};

}  // namespace agrad::detail
