// Definitions of solve/system/jumps/data_features.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/jumps/data_features.hpp>

namespace agrad {

namespace detail {

class feature_search {
 public:
  feature_search(const std::vector<double>& x, const std::vector<double>& y, double tolerance)
      : x_(x), y_(y), integral_(x.size(), 0.0), tolerance_(std::clamp(tolerance, 1e-10, 1e-3)) {
    const double length = x.back() - x[0];
    double largest = 0, area = 0;
    for (std::size_t j = 0; j + 1 < x.size(); ++j) area += (x[j + 1] - x[j]) * (y[j] + y[j + 1]) / 2;
    mean_ = length > 0 ? area / length : 0;
    area = 0;
    for (std::size_t j = 0; j + 1 < x.size(); ++j) {
      integral_[j + 1] = integral_[j] + (x[j + 1] - x[j]) * ((y[j] - mean_) + (y[j + 1] - mean_)) / 2;
      area += (x[j + 1] - x[j]) * (std::abs(y[j] - mean_) + std::abs(y[j + 1] - mean_)) / 2;
      largest = std::max(largest, std::abs(y[j]));
    }
    least_ = 1e-3 * tolerance_ * area + 1e-15 * largest * length;
  }

  std::vector<double> features() const {
    std::vector<std::size_t> ends{0};
    while (ends.back() + 1 < x_.size()) ends.push_back(end_of_stretch(ends.back()));
    std::vector<double> found;
    for (std::size_t k = 0; k < ends.size(); ++k)
      if (k == 0 || k + 1 == ends.size() || !is_between_similar(ends, k) || is_sharp(ends[k])) found.push_back(x_[ends[k]]);
    return found;
  }

 private:
  static constexpr std::size_t nodes = 7;          // of the polynomials
  static constexpr std::size_t always_tried = 64;  // points of a stretch, though shorter ones are none
  static constexpr std::size_t near = 3, around = 8;

  /// Returns the end of the longest stretch from a point, by lengths that double, and then by bisection. A few points of a
  /// dense polygon may be rougher, for their size, than many.
  std::size_t end_of_stretch(std::size_t begin) const {
    const std::size_t last = x_.size() - 1;
    std::size_t good = begin + 1, bad = last + 1;
    for (std::size_t length = 2; good < last; length *= 2) {
      const std::size_t end = std::min(last, begin + length);
      if (is_stretch(begin, end))
        good = end, bad = last + 1;
      else
        bad = std::min(bad, end);
      if (end == last || (bad <= last && length >= always_tried)) break;
    }
    while (bad - good > 1) {
      const std::size_t half = good + (bad - good) / 2;
      (is_stretch(begin, half) ? good : bad) = half;
    }
    return good == last ? last : sharpest(begin + 1, good);
  }

  /// Returns the point of the largest kink among the last three: within the tolerance, a stretch may end just behind a kink.
  std::size_t sharpest(std::size_t first, std::size_t end) const {
    std::size_t found = end;
    for (std::size_t j = std::max(first, end < 2 ? 0 : end - 2); j < end; ++j)
      if (kink(j) > 4 * kink(found)) found = j;
    return found;
  }

  /// Returns whether one polynomial describes the integral at all points between two others and in the middles between these.
  bool is_stretch(std::size_t begin, std::size_t end) const {
    if (end - begin == 1) return true;
    double area = 0;
    for (std::size_t j = begin; j < end; ++j)
      area += (x_[j + 1] - x_[j]) * (std::abs(y_[j] - y_[begin]) + std::abs(y_[j + 1] - y_[begin])) / 2;
    const double allowed = tolerance_ * area + least_, middle = (x_[begin] + x_[end]) / 2, half = (x_[end] - x_[begin]) / 2;
    std::array<double, nodes> at{}, factors{};
    for (std::size_t k = 0; k < nodes; ++k) {
      at[k] = -std::cos(3.141592653589793 * static_cast<double>(k) / (nodes - 1));
      const double x = std::clamp(middle + half * at[k], x_[begin], x_[end]);
      const auto first = x_.begin() + static_cast<std::ptrdiff_t>(begin), last = x_.begin() + static_cast<std::ptrdiff_t>(end);
      factors[k] = integral(static_cast<std::size_t>(std::upper_bound(first + 1, last, x) - x_.begin()) - 1, x, begin);
    }
    for (std::size_t k = 1; k < nodes; ++k)
      for (std::size_t j = nodes - 1; j >= k; --j) factors[j] = (factors[j] - factors[j - 1]) / (at[j] - at[j - k]);
    const auto is_far = [&](std::size_t j, double x) {
      const double place = (x - middle) / half;
      double sum = factors[nodes - 1];
      for (std::size_t k = nodes - 1; k-- > 0;) sum = sum * (place - at[k]) + factors[k];
      return !(std::abs(sum - integral(j, x, begin)) <= allowed);
    };
    for (std::size_t j = begin; j < end; ++j)
      if (is_far(j, x_[j]) || is_far(j, (x_[j] + x_[j + 1]) / 2)) return false;
    return true;
  }

  /// Returns the integral from a point to x in piece j, of the distance from the mean.
  double integral(std::size_t j, double x, std::size_t begin) const {
    const double away = x - x_[j];
    return (integral_[j] - integral_[begin]) + away * ((y_[j] - mean_) + slope(j) * away / 2);
  }
  double slope(std::size_t j) const { return (y_[j + 1] - y_[j]) / (x_[j + 1] - x_[j]); }
  /// Returns the size of the kink at an inner point.
  double kink(std::size_t j) const { return std::abs(slope(j) - slope(j - 1)); }

  /// Returns whether stretches of similar length are around an end: two of many points, or several on each side.
  bool is_between_similar(const std::vector<std::size_t>& ends, std::size_t k) const {
    const bool are_long = ends[k] - ends[k - 1] >= around && ends[k + 1] - ends[k] >= around;
    const std::size_t sides = are_long ? 1 : 4;
    if (k < std::min<std::size_t>(sides, 2) || k + std::min<std::size_t>(sides, 2) >= ends.size()) return false;
    const std::size_t first = k < sides ? 0 : k - sides, last = std::min(ends.size() - 1, k + sides);
    double least = x_.back() - x_[0], largest = 0;
    for (std::size_t i = first; i < last; ++i) {
      least = std::min(least, x_[ends[i + 1]] - x_[ends[i]]);
      largest = std::max(largest, x_[ends[i + 1]] - x_[ends[i]]);
    }
    return largest <= 4 * least;
  }

  /// Returns whether a kink is far larger than others nearby.
  bool is_sharp(std::size_t at) const {
    double here = 0, others = 0;
    for (std::size_t j = std::max<std::size_t>(1, at < around ? 0 : at - around); j < std::min(x_.size() - 1, at + around);
         ++j) {
      double& largest = j + near >= at && j <= at + near ? here : others;
      largest = std::max(largest, kink(j));
    }
    return here > 4 * others;
  }

  const std::vector<double>&x_, &y_;
  std::vector<double> integral_;  // from the first point, of the distance from the mean
  double tolerance_, mean_ = 0, least_ = 0;
};

}  // namespace detail

AGRAD_INLINE std::vector<double> data_features(const std::vector<double>& x, const std::vector<double>& y, double tolerance) {
  const auto is_finite = [](double each) { return std::isfinite(each); };
  const bool increases = std::adjacent_find(x.begin(), x.end(), [](double a, double b) { return !(a < b); }) == x.end();
  if (!increases || !std::all_of(x.begin(), x.end(), is_finite) || !std::all_of(y.begin(), y.end(), is_finite)) return x;
  return detail::feature_search(x, y, tolerance).features();
}

}  // namespace agrad
