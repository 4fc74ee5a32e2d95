// Truncated Taylor series in four shapes of gamma functions, whose coefficients follow from each other without cancellation
// where the numbers that they multiply are positive.
//
// A derivative of one coefficient needs only the coefficients whose orders are not above its own, at most eight for the third
// derivatives. Read next: families/counts/beta_neg_binomial_tail.hpp, which adds such series.
#pragma once

#include <array>
#include <cstddef>

namespace agrad::detail {

/// The highest total order of derivatives.
inline constexpr int highest_tail_order = 3;

/// Bits of variables.
namespace shape_bits {
inline constexpr unsigned a = 1, b = 2, c = 4, d = 8;
}

/// The coefficients of a Taylor series in the shapes a, b, c and d, up to an order for each of them.
struct shape_orders {
  static constexpr int shapes = 4, most = 8;  // most coefficients where the orders have a sum of at most 3
  int size = 1, stride[shapes], of[most][shapes];
  bool divides[most][most];  // whether no order of the first coefficient is above that of the second

  explicit shape_orders(const std::array<int, shapes>& to) {
    for (std::size_t v = 0; v < shapes; ++v) stride[v] = size, size *= to[v] + 1;
    for (int i = 0; i < size; ++i)
      for (std::size_t v = 0; v < shapes; ++v) of[i][v] = i / stride[v] % (to[v] + 1);
    for (int j = 0; j < size; ++j)
      for (int i = 0; i < size; ++i) {
        divides[j][i] = true;
        for (int v = 0; v < shapes; ++v) divides[j][i] = divides[j][i] && of[j][v] <= of[i][v];
      }
  }
  /// Returns the factor that turns coefficient i into a derivative.
  double factorials(int i) const {
    double product = 1;
    for (const int order : of[i])
      for (int k = 2; k <= order; ++k) product *= k;
    return product;
  }
  /// Returns the order of coefficient i with respect to all shapes together.
  int total(int i) const { return of[i][0] + of[i][1] + of[i][2] + of[i][3]; }
  /// Returns the first shape with respect to which coefficient i > 0 has an order above 0.
  int first_of(int i) const {
    int v = 0;
    while (of[i][v] == 0) ++v;
    return v;
  }
};

/// Such a series.
struct shape_series {
  const shape_orders* orders;
  double at[shape_orders::most] = {};

  explicit shape_series(const shape_orders& to, double constant = 0) : orders(&to) { at[0] = constant; }
  int size() const { return orders->size; }
  double last() const { return at[size() - 1]; }

  /// Multiplies by x plus the variables whose bits are set.
  void times(double x, unsigned variables) {
    for (int i = size(); i-- > 0;) at[i] = x * at[i] + below(i, variables);
  }
  /// Divides by that.
  void over(double x, unsigned variables) {
    for (int i = 0; i < size(); ++i) at[i] = (at[i] - below(i, variables)) / x;
  }
  void add(const shape_series& other, double factor = 1) {
    for (int i = 0; i < size(); ++i) at[i] += factor * other.at[i];
  }
  /// Adds a product of others.
  void add_product(const shape_series& x, const shape_series& y, double factor) {
    for (int i = 0; i < size(); ++i)
      for (int j = 0; j <= i; ++j)
        if (orders->divides[j][i]) at[i] += factor * x.at[j] * y.at[i - j];
  }
  /// Returns the coefficients of the logarithm, all but the first.
  shape_series log_slopes() const {
    shape_series log(*orders);
    for (int i = 1; i < size(); ++i) {
      const int v = orders->first_of(i), n = orders->of[i][v];
      double sum = n * at[i];
      for (int j = 1; j < i; ++j)
        if (orders->divides[j][i]) sum -= orders->of[j][v] * log.at[j] * at[i - j];
      log.at[i] = sum / (n * at[0]);
    }
    return log;
  }
  /// Returns the coefficients of the exponential function, divided by the exponential of the first coefficient.
  shape_series exp_shares() const {
    shape_series share(*orders, 1);
    for (int i = 1; i < size(); ++i) {
      const int v = orders->first_of(i);
      double sum = 0;
      for (int j = 1; j <= i; ++j)
        if (orders->divides[j][i]) sum += orders->of[j][v] * at[j] * share.at[i - j];
      share.at[i] = sum / orders->of[i][v];
    }
    return share;
  }

 private:
  double below(int i, unsigned variables) const {
    double sum = 0;
    for (int v = 0; v < shape_orders::shapes; ++v)
      if ((variables >> v & 1U) != 0 && orders->of[i][v] > 0) sum += at[i - orders->stride[v]];
    return sum;
  }
};

}  // namespace agrad::detail
