// The modified Bessel function of the first kind of real orders, and its logarithm, with derivatives with respect to the order
// and the argument.
//
// The functions of doubles are in rules/bessel/log_bessel_i.hpp. Derivatives of the function with respect to the order are
// those of its logarithm times its value; those with respect to the argument are means of the neighbouring orders.
#pragma once

#include <agrad/rules/bessel/log_bessel_i.hpp>
#include <agrad/rules/gamma/quotients.hpp>

namespace agrad {

namespace detail {

/// Derivative (m, n) of log I_v(z) with respect to v and z.
template <int m, int n>
struct log_bessel_derivative_rule : rule<2> {
  static constexpr auto letters = with_digits<m, n>("log_bessel_derivative");
  static constexpr std::string_view name = letters.data();
  static double value(double v, double z) { return log_bessel_derivative(m, n, v, z); }
  template <int I, class T>
  static T derivative(wrt<I>, const T& v, const T& z, const T&) {
    if constexpr (m + n == highest_log_bessel_derivative)
      return T(quiet_nan);
    else
      return apply<log_bessel_derivative_rule<m + (I == 0), n + (I == 1)>>(v, z);
  }
};

/// Returns the derivative of I_v(z) of this order with respect to v, for v >= 0 and 0 < z < infinity.
inline double bessel_i_by_order(int order, double v, double z) {
  const double value = bessel_i(v, z);
  if (order == 0 || value == 0) return value;
  const bessel_table log = log_bessel_table(v, z);
  const double first = log.at[1][0], second = log.at[2][0];
  if (order == 1) return value * first;
  if (order == 2) return value * (first * first + second);
  return value * (first * (first * first + 3 * second) + log.at[3][0]);
}

/// Returns the derivative of I_v(z) of this order with respect to v, for any v and z >= 0. Negative orders are those of the
/// second kind and of the first (DLMF 10.27.2).
inline double bessel_i_of_order(int order, double v, double z) {
  if (std::isinf(v) && order == 0 && z >= 0 && z < infinity) return 0;  // as a whole order
  if (!(z >= 0) || !std::isfinite(v) || order > highest_log_bessel_derivative) return quiet_nan;
  if (z == infinity) return order == 0 ? z : quiet_nan;
  if (z == 0) {
    if (v >= 0) return v > 0 ? 0 : order == 0 ? 1 : order % 2 == 0 ? infinity : -infinity;
    if (order > 0) return quiet_nan;
    return v == std::floor(v) ? 0 : std::fmod(std::floor(v), 2) == 0 ? -infinity : infinity;
  }
  if (v >= 0) return bessel_i_by_order(order, v, z);
  double sum = bessel_i_by_order(order, -v, z);
  for (int k = 0; k <= order; ++k) {
    const double factor = binomial(order, k) * sin_pi_derivative(k, -v);
    if (factor != 0) sum += 2 / pi * factor * bessel_k(order - k, 0, -v, z);
  }
  return order % 2 == 0 ? sum : -sum;
}

/// The derivative of I_v(z) of `order` with respect to v.
struct bessel_i_of_order_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = "bessel_i_of_order";
  static double value(double order, double v, double z) { return bessel_i_of_order(static_cast<int>(order), v, z); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& v, const T& z, const T&) {
    return apply<bessel_i_of_order_rule>(order + 1.0, v, z);
  }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& v, const T& z, const T& value) {
    // The mean of the neighbours does not cancel, but v - 1 has not all digits of a small v.
    const auto close = [&] {
      const T rest = either<T>(
          order > 0.0, [&] { return T(order * apply<bessel_i_of_order_rule>(order - 1.0, v, z)); }, [] { return T(0.0); });
      return T((v * value + rest) / z + apply<bessel_i_of_order_rule>(order, v + 1.0, z));
    };
    // Of the first derivative by a small order, the two terms cancel; those of the logarithm do not.
    const auto by_logarithm = [&] {
      const T slopes = apply<log_bessel_derivative_rule<1, 0>>(v, z) * apply<log_bessel_derivative_rule<0, 1>>(v, z);
      return T(apply<bessel_i_of_order_rule>(0.0, v, z) * (slopes + apply<log_bessel_derivative_rule<1, 1>>(v, z)));
    };
    const auto otherwise = [&] {
      return T(0.5 * (apply<bessel_i_of_order_rule>(order, v - 1.0, z) + apply<bessel_i_of_order_rule>(order, v + 1.0, z)));
    };
    return either<T>(order == 1.0 && abs(v) < 0.25 && z > 1 && z < 300, by_logarithm, abs(v) < 0.5 && z > 0, close, otherwise);
  }
};

}  // namespace detail

struct log_modified_bessel_first_kind_rule : rule<2> {
  static constexpr std::string_view name = "log_modified_bessel_first_kind",
                                    text =
                                        "Logarithm of the modified Bessel function of the first kind, of a real order "
                                        "x >= -1, at y.",
                                    reference = "log_bessel_i(x, y)", source = "DLMF 10.25.2, 10.32.4 and 10.41.3";
  static constexpr interval domain[] = {{-1, infinity}, {0, infinity}};
  static double value(double v, double z) { return detail::log_bessel_derivative(0, 0, v, z); }
  template <int I, class T>
  static T derivative(wrt<I>, const T& v, const T& z, const T&) {
    return apply<detail::log_bessel_derivative_rule<I == 0, I == 1>>(v, z);
  }
};
/// The order may be a variable. The value is finite where the function itself overflows or underflows.
template <class V, class Z>
AGRAD_ALWAYS_INLINE applied<log_modified_bessel_first_kind_rule, V, Z> log_modified_bessel_first_kind(const V& v, const Z& z) {
  return apply<log_modified_bessel_first_kind_rule>(v, z);
}

struct iv_rule : rule<2> {
  static constexpr std::string_view name = "iv", text = "Modified Bessel function of the first kind, of a real order x, at y.",
                                    reference = "bessel_i_of_order(x, y)", source = "DLMF 10.25.2, 10.41.3 and 10.29.1";
  static constexpr interval domain[] = {{}, {0, infinity}};
  static double value(double v, double z) { return detail::bessel_i_of_order(0, v, z); }
  template <class T>
  static T derivative(wrt<0>, const T& v, const T& z, const T&) {
    return apply<detail::bessel_i_of_order_rule>(1.0, v, z);
  }
  template <class T>
  static T derivative(wrt<1>, const T& v, const T& z, const T& value) {
    return detail::bessel_i_of_order_rule::derivative(wrt<2>{}, T(0.0), v, z, value);
  }
};
/// The order may be a variable; see modified_bessel_first_kind for whole orders and any sign of the argument.
template <class V, class Z>
AGRAD_ALWAYS_INLINE applied<iv_rule, V, Z> iv(const V& v, const Z& z) {
  return apply<iv_rule>(v, z);
}

namespace rules {
using bessel_orders = typelist<log_modified_bessel_first_kind_rule, iv_rule>;
}

}  // namespace agrad
