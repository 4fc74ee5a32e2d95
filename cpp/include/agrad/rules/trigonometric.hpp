// Circular functions and their inverses.
#pragma once

#include <agrad/rules/power.hpp>

namespace agrad {

struct cos_rule;
template <class X>
AGRAD_ALWAYS_INLINE applied<cos_rule, X> cos(const X& x);

struct sin_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "sin", text = "Sine; x in radians.";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::sin(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return cos(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<sin_rule, X> sin(const X& x) {
  return apply<sin_rule>(x);
}

struct cos_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "cos", text = "Cosine; x in radians.";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::cos(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -sin(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<cos_rule, X> cos(const X& x) {
  return apply<cos_rule>(x);
}

struct tan_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "tan", text = "Tangent; x in radians.";
  static double value(double x) { return std::tan(x); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& value) {
    return 1.0 + value * value;
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<tan_rule, X> tan(const X& x) {
  return apply<tan_rule>(x);
}

struct asin_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "asin", text = "Inverse sine, in radians.", ufunc = "arcsin";
  static constexpr interval domain[] = {{-1, 1}};
  static double value(double x) { return std::asin(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 1.0 / sqrt((1.0 - x) * (1.0 + x));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<asin_rule, X> asin(const X& x) {
  return apply<asin_rule>(x);
}

struct acos_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "acos", text = "Inverse cosine, in radians.", ufunc = "arccos";
  static constexpr interval domain[] = {{-1, 1}};
  static double value(double x) { return std::acos(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -1.0 / sqrt((1.0 - x) * (1.0 + x));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<acos_rule, X> acos(const X& x) {
  return apply<acos_rule>(x);
}

struct atan_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "atan", text = "Inverse tangent, in radians.", ufunc = "arctan";
  static constexpr bool is_regular = true;
  static double value(double x) { return std::atan(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 1.0 / (1.0 + x * x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<atan_rule, X> atan(const X& x) {
  return apply<atan_rule>(x);
}

struct atan2_rule : rule<2>, in_cmath {
  static constexpr std::string_view name = "atan2", text = "Angle of the point with ordinate x and abscissa y, in (-pi, pi].",
                                    ufunc = "arctan2";
  static double value(double x, double y) { return std::atan2(x, y); }
  // y / (x^2 + y^2) and -x / (x^2 + y^2) by the ratio of the smaller to the larger argument, so that no square overflows.
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    const auto flat = [&] {
      const T t = x / y;
      return T(1.0 / (y + x * t));
    };
    const auto steep = [&] {
      const T t = y / x;
      return T(t / (x + y * t));
    };
    return either<T>(
        abs(x) == infinity && abs(y) == infinity, [&] { return T(0.0); }, abs(y) > abs(x), flat, steep);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return -derivative(wrt<0>{}, y, x, y);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<atan2_rule, X, Y> atan2(const X& x, const Y& y) {
  return apply<atan2_rule>(x, y);
}

namespace detail {
inline constexpr double degree = 0.0174532925199432957692369076848861271, radian = 57.2957795130823208767981548141051703;

/// Base of rules that change the unit of x.
struct degrees_to_radians : rule<1> {
  static constexpr bool is_linear = true;
  static double value(double x) { return x * degree; }
  template <class A>
  static auto values(const A& x) {
    return x * degree;
  }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&) {
    return degree;
  }
};
struct radians_to_degrees : rule<1> {
  static constexpr bool is_linear = true;
  static double value(double x) { return x * radian; }
  template <class A>
  static auto values(const A& x) {
    return x * radian;
  }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&) {
    return radian;
  }
};
}  // namespace detail

struct deg2rad_rule : detail::degrees_to_radians {
  static constexpr std::string_view name = "deg2rad", text = "Degrees in radians.", reference = "x * pi / 180";
};
template <class X>
AGRAD_ALWAYS_INLINE applied<deg2rad_rule, X> deg2rad(const X& x) {
  return apply<deg2rad_rule>(x);
}
struct radians_rule : detail::degrees_to_radians {
  static constexpr std::string_view name = "radians", text = "Degrees in radians.", reference = "x * pi / 180";
};
template <class X>
AGRAD_ALWAYS_INLINE applied<radians_rule, X> radians(const X& x) {
  return apply<radians_rule>(x);
}
struct rad2deg_rule : detail::radians_to_degrees {
  static constexpr std::string_view name = "rad2deg", text = "Radians in degrees.", reference = "x * 180 / pi";
};
template <class X>
AGRAD_ALWAYS_INLINE applied<rad2deg_rule, X> rad2deg(const X& x) {
  return apply<rad2deg_rule>(x);
}
struct degrees_rule : detail::radians_to_degrees {
  static constexpr std::string_view name = "degrees", text = "Radians in degrees.", reference = "x * 180 / pi";
};
template <class X>
AGRAD_ALWAYS_INLINE applied<degrees_rule, X> degrees(const X& x) {
  return apply<degrees_rule>(x);
}

namespace rules {
using trigonometric = typelist<sin_rule, cos_rule, tan_rule, asin_rule, acos_rule, atan_rule, atan2_rule, deg2rad_rule,
                               radians_rule, rad2deg_rule, degrees_rule>;
}

}  // namespace agrad
