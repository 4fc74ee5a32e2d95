// Rules of known compositions: functions such as sqrt(x)^2, whose derivative is finite where an inner slope is infinite.
//
// The value is that of the composition as it was written. The derivative is that of the whole function, where the chain rule
// would multiply a computed zero by infinity. Users do not call these rules: program/compose/recognise.hpp records them.
#pragma once

#include <agrad/rules/exponential.hpp>
#include <agrad/rules/power.hpp>

namespace agrad::detail {

/// Returns a slope where x is in the domain of the roots and logarithms of real numbers, and nan below.
template <class T, class Slope>
T slope_from_zero(const T& x, const Slope& slope) {
  return either<T>(x >= 0, slope, [] { return T(quiet_nan); });
}

struct square_of_root_rule : rule<1> {
  static constexpr std::string_view name = "square_of_root", text = "sqrt(x)^2.", reference = "sqrt(x) ** 2";
  static double value(double x) {
    const double root = sqrt(x);
    return root * root;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return slope_from_zero(x, [] { return T(1.0); });
  }
};

struct square_of_root_times_rule : rule<2> {
  static constexpr std::string_view name = "square_of_root_times", text = "(sqrt(x) y)^2.", reference = "(sqrt(x) * y) ** 2";
  static double value(double x, double y) {
    const double product = sqrt(x) * y;
    return product * product;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return slope_from_zero(x, [&] { return T(y * y); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return slope_from_zero(x, [&] { return T(2.0 * x * y); });
  }
};

struct square_of_root_over_rule : rule<2> {
  static constexpr std::string_view name = "square_of_root_over", text = "(sqrt(x) / y)^2.", reference = "(sqrt(x) / y) ** 2";
  static double value(double x, double y) {
    const double quotient = sqrt(x) / y;
    return quotient * quotient;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return slope_from_zero(x, [&] { return T(1.0 / (y * y)); });
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& y, const T& value) {
    return -2.0 * value / y;
  }
};

struct square_of_hypot_rule : rule<2> {
  static constexpr std::string_view name = "square_of_hypot", text = "hypot(x, y)^2.", reference = "hypot(x, y) ** 2";
  static double value(double x, double y) {
    const double root = hypot(x, y);
    return root * root;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&, const T&) {
    return 2.0 * x;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& y, const T&) {
    return 2.0 * y;
  }
};

struct square_of_power_rule : rule<2> {
  static constexpr std::string_view name = "square_of_power", text = "(x^y)^2.", reference = "(x ** y) ** 2";
  static double value(double x, double y) {
    const double power = pow(x, y);
    return power * power;
  }
  template <class T>
  static T derivative(wrt<0> at, const T& x, const T& y, const T& value) {
    return either<T>(  // nan for negative x unless y is whole
        value == value, [&] { return T(pow_rule::derivative(at, x, T(2.0 * y), value)); }, [] { return T(quiet_nan); });
  }
  template <class T>
  static T derivative(wrt<1> at, const T& x, const T& y, const T& value) {
    return 2.0 * pow_rule::derivative(at, x, T(2.0 * y), value);
  }
};

struct power_of_root_rule : rule<2> {
  static constexpr std::string_view name = "power_of_root", text = "sqrt(x)^y.", reference = "sqrt(x) ** y";
  static double value(double x, double y) { return pow(sqrt(x), y); }
  template <class T>
  static T derivative(wrt<0> at, const T& x, const T& y, const T& value) {
    return slope_from_zero(x, [&] { return T(pow_rule::derivative(at, x, T(0.5 * y), value)); });
  }
  template <class T>
  static T derivative(wrt<1> at, const T& x, const T& y, const T& value) {
    return 0.5 * pow_rule::derivative(at, x, T(0.5 * y), value);
  }
};

struct cube_of_cbrt_rule : rule<1> {
  static constexpr std::string_view name = "cube_of_cbrt", text = "cbrt(x)^3.", reference = "x";
  static double value(double x) { return pow(cbrt(x), 3.0); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T&) {
    return T(1.0);
  }
};

/// Returns whether a value is far from overflow and underflow, so that the value of a product still tells its factors.
template <class T>
auto is_ordinary(const T& value) {
  return value > 1e-290 && value < 1e290;
}

struct exp_of_log_rule : rule<1> {
  static constexpr std::string_view name = "exp_of_log", text = "exp(log(x)).", reference = "exp(log(x))";
  static double value(double x) { return exp(log(x)); }
  static constexpr interval packets{1e-300, 1e300};
  template <class A>
  static auto values(const A& x) {
    return x.log().exp();
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return slope_from_zero(x, [] { return T(1.0); });
  }
};

struct weight_beside_rule : rule<2> {
  static constexpr std::string_view name = "weight_beside", text = "x where log(x) + y is a number or -inf, and nan elsewhere.",
                                    reference = "x";
  static double value(double x, double y) { return x > 0 || (x == 0 && y < infinity) ? x : quiet_nan; }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&, const T&) {
    return slope_from_zero(x, [] { return T(1.0); });
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T&, const T&) {
    return T(0.0);
  }
};

/// Near -1, where log1p grows without bound and 1 + x is exact, log1p(x) is the logarithm of a weight; elsewhere it is a term,
/// as accurate as it was written.
template <class T>
auto is_weight_in_log1p(const T& x) {
  return x < -0.5;
}

struct weight_in_log1p_rule : rule<1> {
  static constexpr std::string_view name = "weight_in_log1p", text = "1 + x below -1/2, and 1 elsewhere.",
                                    reference = "1 + x if x < -0.5 else 1";
  static constexpr bool is_regular = true;
  static double value(double x) { return is_weight_in_log1p(x) ? 1 + x : 1; }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return either<T>(
        is_weight_in_log1p(x), [] { return T(1.0); }, [] { return T(0.0); });
  }
};

struct term_in_log1p_rule : rule<1> {
  static constexpr std::string_view name = "term_in_log1p", text = "0 below -1/2, and log1p(x) elsewhere.",
                                    reference = "0 if x < -0.5 else log1p(x)";
  static constexpr bool is_regular = true;
  static double value(double x) { return is_weight_in_log1p(x) ? 0 : std::log1p(x); }
  template <class T>
  static T derivative(wrt<0> at, const T& x, const T& value) {
    return either<T>(
        is_weight_in_log1p(x), [] { return T(0.0); }, [&] { return T(log1p_rule::derivative(at, x, value)); });
  }
};

struct exp_of_log_plus_rule : rule<2> {
  static constexpr std::string_view name = "exp_of_log_plus", text = "exp(log(x) + y).", reference = "exp(log(x) + y)";
  static double value(double x, double y) { return exp(log(x) + y); }
  static bool suits_packets(double x, double y) { return (x > 1e-150) & (x < 1e150) & (y > -350) & (y < 350); }
  template <class A>
  static auto values(const A& x, const A& y) {
    return (x.log() + y).exp();
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& value) {
    return either<T>(
        x > 0 && is_ordinary(value), [&] { return T(value / x); },
        [&] { return slope_from_zero(x, [&] { return T(exp(y)); }); });
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T&, const T& value) {
    return value;
  }
};

struct exp_of_log_minus_rule : rule<2> {
  static constexpr std::string_view name = "exp_of_log_minus", text = "exp(log(x) - y).", reference = "exp(log(x) - y)";
  static double value(double x, double y) { return exp_of_log_plus_rule::value(x, -y); }
  static bool suits_packets(double x, double y) { return exp_of_log_plus_rule::suits_packets(x, -y); }
  template <class A>
  static auto values(const A& x, const A& y) {
    return (x.log() - y).exp();
  }
  template <class T>
  static T derivative(wrt<0> at, const T& x, const T& y, const T& value) {
    return exp_of_log_plus_rule::derivative(at, x, T(-y), value);
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T&, const T& value) {
    return -value;
  }
};

struct exp_of_log_times_rule : rule<2> {
  static constexpr std::string_view name = "exp_of_log_times", text = "exp(log(x) y).", reference = "exp(log(x) * y)";
  static double value(double x, double y) { return exp(log(x) * y); }
  static bool suits_packets(double x, double y) { return (x > 1e-30) & (x < 1e30) & (y > -10) & (y < 10); }
  template <class A>
  static auto values(const A& x, const A& y) {
    return (x.log() * y).exp();
  }
  template <class T>
  static T derivative(wrt<0> at, const T& x, const T& y, const T& value) {
    return either<T>(
        x > 0 && is_ordinary(value), [&] { return T(value * y / x); },
        [&] { return slope_from_zero(x, [&] { return T(pow_rule::derivative(at, x, y, value)); }); });
  }
  template <class T>
  static T derivative(wrt<1> at, const T& x, const T& y, const T& value) {
    return pow_rule::derivative(at, x, y, value);
  }
};

}  // namespace agrad::detail
