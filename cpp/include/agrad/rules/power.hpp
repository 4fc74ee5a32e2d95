// Powers, roots and reciprocals.
//
// Derivatives neither overflow nor cancel where the function itself does not.
#pragma once

#include <agrad/base/square_roots.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/piecewise.hpp>

namespace agrad {

namespace detail {
inline constexpr double sqrt_half = 0.707106781186547524400844362104849039;
}

struct pow_rule : rule<2>, in_cmath {
  static constexpr std::string_view name = "pow", text = "x raised to the power y; for negative x only whole y.",
                                    reference = "x ** y", ufunc = "power";
  static double value(double x, double y) { return std::pow(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    const auto beside = [&] {
      const T power = apply<pow_rule>(x, y - 1.0);
      return either<T>(
          power == 0 && abs(y) == infinity, [&] { return T(0.0); },       // the limit for large y
          x == infinity && y > 0 && y < 1, [&] { return T(quiet_nan); },  // as for roots (rules/passing.hpp)
          [&] { return T(y * power); });
    };
    return either<T>(  // x ** 0 is 1 also at x = 0
        x == 0 && y == 0, [&] { return T(0.0); }, beside);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T&, const T& value) {
    return either<T>(  // 0 ** y is 0 for all y > 0
        value == 0, [&] { return T(0.0); }, [&] { return T(value * log(x)); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<pow_rule, X, Y> pow(const X& x, const Y& y) {
  return apply<pow_rule>(x, y);
}

struct square_rule : rule<1> {
  static constexpr std::string_view name = "square", text = "x squared.", reference = "x ** 2";
  static constexpr bool is_regular = true, is_quick = true;
  static double value(double x) { return x * x; }
  template <class A>
  static auto values(const A& x) {
    return x * x;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 2.0 * x;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<square_rule, X> square(const X& x) {
  return apply<square_rule>(x);
}

struct sqrt_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "sqrt", text = "Square root.";
  static constexpr interval domain[] = {{0, infinity}};
  static constexpr bool is_quick = true;
  static double value(double x) { return std::sqrt(x); }
  static constexpr interval packets{-infinity, infinity};
  template <class A>
  static auto values(const A& x) {
    return detail::square_roots(x);
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& value) {
    return detail::slope_below_infinity(  // -0 + 0 is +0, so that the derivative at -0 is +inf, too
        value, [&] { return T(0.5 / (value + 0.0)); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<sqrt_rule, X> sqrt(const X& x) {
  return apply<sqrt_rule>(x);
}

struct cbrt_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "cbrt", text = "Cube root, also of negative numbers.",
                                    reference = "sign(x) * cbrt(fabs(x))";
  static double value(double x) { return std::cbrt(x); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& value) {
    return detail::slope_below_infinity(T(abs(value)), [&] { return T(1.0 / (3.0 * value * value)); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<cbrt_rule, X> cbrt(const X& x) {
  return apply<cbrt_rule>(x);
}

struct hypot_rule : rule<2>, in_cmath {
  static constexpr std::string_view name = "hypot",
                                    text = "sqrt(x^2 + y^2) without overflow; its derivative at (0, 0) is taken to be 0.";
  static double value(double x, double y) { return std::hypot(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return share(x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return share(y, x);
  }

 private:
  // x / hypot(x, y), computed from the ratio of the smaller to the larger argument. This is right for infinite arguments, and
  // second derivatives remain accurate, while x / value would cancel.
  template <class T>
  static T share(const T& x, const T& y) {
    const auto wide = [&] {
      const T t = y / x;
      return T(either(x < 0, -1.0, 1.0) / sqrt(1.0 + t * t));
    };
    const auto narrow = [&] {
      const T t = x / y;
      return T(either(y < 0, -1.0, 1.0) * t / sqrt(1.0 + t * t));
    };
    const auto diagonal = [&] { return T(detail::sign_of(x) * detail::sqrt_half); };
    return either<T>(
        x == 0 && y == 0, [&] { return T(0.0); }, abs(x) == infinity && abs(y) == infinity, diagonal, abs(x) >= abs(y), wide,
        narrow);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<hypot_rule, X, Y> hypot(const X& x, const Y& y) {
  return apply<hypot_rule>(x, y);
}

struct inv_rule : rule<1> {
  static constexpr std::string_view name = "inv", text = "Reciprocal 1 / x.", reference = "1 / x", ufunc = "reciprocal";
  static constexpr bool is_quick = true;
  static double value(double x) { return 1 / x; }
  template <class A>
  static auto values(const A& x) {
    return 1.0 / x;
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& value) {
    return -value * value;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<inv_rule, X> inv(const X& x) {
  return apply<inv_rule>(x);
}

struct inv_sqrt_rule : rule<1> {
  static constexpr std::string_view name = "inv_sqrt", text = "Reciprocal square root.", reference = "1 / sqrt(x)";
  static constexpr interval domain[] = {{0, infinity}};
  static double value(double x) { return 1 / std::sqrt(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return -0.5 * value / x;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<inv_sqrt_rule, X> inv_sqrt(const X& x) {
  return apply<inv_sqrt_rule>(x);
}

struct inv_square_rule : rule<1> {
  static constexpr std::string_view name = "inv_square", text = "Reciprocal square 1 / x^2.", reference = "x ** -2";
  static double value(double x) { return 1 / (x * x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return -2.0 * value / x;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<inv_square_rule, X> inv_square(const X& x) {
  return apply<inv_square_rule>(x);
}

struct fma_rule : rule<3>, in_cmath {
  static constexpr std::string_view name = "fma", text = "x y + z, rounded once.", reference = "x * y + z";
  static constexpr bool is_regular = true, is_quick = true;
  static double value(double x, double y, double z) { return std::fma(x, y, z); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& y, const T&, const T&) {
    return y;
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T&, const T&, const T&) {
    return x;
  }
  template <class T>
  static double derivative(wrt<2>, const T&, const T&, const T&, const T&) {
    return 1.0;
  }
};
template <class X, class Y, class Z>
AGRAD_ALWAYS_INLINE applied<fma_rule, X, Y, Z> fma(const X& x, const Y& y, const Z& z) {
  return apply<fma_rule>(x, y, z);
}

struct ldexp_rule : rule<2>, in_cmath, data_arguments<1> {
  static constexpr std::string_view name = "ldexp", text = "x times 2 raised to the whole number y, rounded once.",
                                    reference = "ldexp(x, int(y))";
  static constexpr interval domain[] = {{}, {-infinity, infinity, true}};
  static double value(double x, double y) {
    if (y != std::floor(y)) return quiet_nan;
    constexpr double beyond = 5000;  // more than from the smallest number to the largest
    return std::ldexp(x, static_cast<int>(y < -beyond ? -beyond : y > beyond ? beyond : y));
  }
  template <class T>
  static auto derivative(wrt<0>, const T&, const T& y, const T&) {
    return apply<ldexp_rule>(1.0, without_derivative(y));
  }
  using data_arguments::derivative;
};
/// The exponent is a whole number: an int, not a variable.
template <class X>
AGRAD_ALWAYS_INLINE applied<ldexp_rule, X, double> ldexp(const X& x, int exponent) {
  return apply<ldexp_rule>(x, static_cast<double>(exponent));
}

namespace rules {
using power = typelist<pow_rule, square_rule, sqrt_rule, cbrt_rule, hypot_rule, inv_rule, inv_sqrt_rule, inv_square_rule,
                       fma_rule, ldexp_rule>;
}

}  // namespace agrad
