// Absolute value, sign, rounding, extremes and remainders: functions with kinks and jumps.
//
// A derivative is that of the piece. At a kink the derivative is the mean of both sides (0 for abs at 0, a half for each of two
// equal arguments of an extreme); at a jump, and where a function is constant, the derivative is 0.
#pragma once

#include <cmath>

#include <agrad/rules/comparison.hpp>

namespace agrad {

namespace detail {
template <class T>
auto sign_of(const T& x) {
  return either(x > 0, 1.0, either(x < 0, -1.0, 0.0));
}

/// Base of rules that select one of two arguments.
struct extreme_rule : rule<2> {
  static constexpr bool is_quick = true;
  template <class T>
  static auto derivative(wrt<0>, const T& x, const T& y, const T& value) {
    return either(x == y, 0.5, either(value == x, 1.0, 0.0));
  }
  template <class T>
  static auto derivative(wrt<1>, const T& x, const T& y, const T& value) {
    return either(x == y, 0.5, either(value == y, 1.0, 0.0));
  }
};
}  // namespace detail

// ---- absolute value and sign -------------------------------------------------------------------------------------------

struct abs_rule : rule<1>, in_cmath {
  static constexpr std::string_view name = "abs", text = "Absolute value; its derivative at 0 is taken to be 0.",
                                    reference = "fabs(x)", ufunc = "absolute";
  static constexpr bool is_quick = true;
  static double value(double x) { return std::abs(x); }
  template <class T>
  static auto derivative(wrt<0>, const T& x, const T&) {
    return detail::sign_of(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<abs_rule, X> abs(const X& x) {
  return apply<abs_rule>(x);
}

struct fabs_rule : abs_rule {
  static constexpr std::string_view name = "fabs", ufunc = {};
};
template <class X>
AGRAD_ALWAYS_INLINE applied<fabs_rule, X> fabs(const X& x) {
  return apply<fabs_rule>(x);
}

struct sign_rule : piecewise_constant_rule<1> {
  static constexpr std::string_view name = "sign", text = "-1, 0 or 1, as x is negative, zero or positive.";
  static double value(double x) { return std::isnan(x) ? x : detail::sign_of(x); }
};
// The empty pack makes a template sign(const T&) of another library, such as Boost's, the better overload where both are
// visible.
template <class X, class... None, class = std::enable_if_t<sizeof...(None) == 0>>
AGRAD_ALWAYS_INLINE applied<sign_rule, X> sign(const X& x, const None&...) {
  return apply<sign_rule>(x);
}

struct copysign_rule : rule<2>, in_cmath {
  static constexpr std::string_view name = "copysign",
                                    text = "Magnitude of x with the sign of y; its derivative at x = 0 is 0.",
                                    reference = "fabs(x) if y >= 0 else -fabs(x)";
  static double value(double x, double y) { return std::copysign(x, y); }
  template <class T>
  static auto derivative(wrt<0>, const T& x, const T&, const T& value) {
    return detail::sign_of(x) * detail::sign_of(value);
  }
  template <class T>
  static double derivative(wrt<1>, const T&, const T&, const T&) {
    return 0.0;
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<copysign_rule, X, Y> copysign(const X& x, const Y& y) {
  return apply<copysign_rule>(x, y);
}

// ---- rounding ----------------------------------------------------------------------------------------------------------

struct floor_rule : piecewise_constant_rule<1>, in_cmath {
  static constexpr std::string_view name = "floor", text = "Largest whole number that is not above x.";
  static double value(double x) { return std::floor(x); }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<floor_rule, X> floor(const X& x) {
  return apply<floor_rule>(x);
}

struct ceil_rule : piecewise_constant_rule<1>, in_cmath {
  static constexpr std::string_view name = "ceil", text = "Smallest whole number that is not below x.";
  static double value(double x) { return std::ceil(x); }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<ceil_rule, X> ceil(const X& x) {
  return apply<ceil_rule>(x);
}

struct trunc_rule : piecewise_constant_rule<1>, in_cmath {
  static constexpr std::string_view name = "trunc", text = "x without its fraction.", reference = "sign(x) * floor(fabs(x))";
  static double value(double x) { return std::trunc(x); }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<trunc_rule, X> trunc(const X& x) {
  return apply<trunc_rule>(x);
}

struct round_rule : piecewise_constant_rule<1>, in_cmath {
  static constexpr std::string_view name = "round", text = "Nearest whole number, halves away from zero.",
                                    reference = "sign(x) * floor(fabs(x) + 0.5)", ufunc = no_ufunc;
  static double value(double x) { return std::round(x); }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<round_rule, X> round(const X& x) {
  return apply<round_rule>(x);
}

struct rint_rule : piecewise_constant_rule<1>, in_cmath {
  static constexpr std::string_view name = "rint", text = "Nearest whole number, halves to the even one.",
                                    reference = "nint(x)";
  static double value(double x) { return std::rint(x); }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<rint_rule, X> rint(const X& x) {
  return apply<rint_rule>(x);
}
/// Does the same as `rint`. In C the two differ in a flag that is raised if the value changes.
template <class X>
AGRAD_ALWAYS_INLINE applied<rint_rule, X> nearbyint(const X& x) {
  return apply<rint_rule>(x);
}

// ---- extremes ----------------------------------------------------------------------------------------------------------

struct fmax_rule : detail::extreme_rule, in_cmath {
  static constexpr std::string_view name = "fmax", text = "The larger argument, and the other one of nan.",
                                    reference = "max(x, y)";
  static double value(double x, double y) { return x >= y || std::isnan(y) ? x : y; }  // std::fmax is a call for each entry
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<fmax_rule, X, Y> fmax(const X& x, const Y& y) {
  return apply<fmax_rule>(x, y);
}

struct fmin_rule : detail::extreme_rule, in_cmath {
  static constexpr std::string_view name = "fmin", text = "The smaller argument, and the other one of nan.",
                                    reference = "min(x, y)";
  static double value(double x, double y) { return x <= y || std::isnan(y) ? x : y; }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<fmin_rule, X, Y> fmin(const X& x, const Y& y) {
  return apply<fmin_rule>(x, y);
}

struct maximum_rule : detail::extreme_rule {
  static constexpr std::string_view name = "maximum", text = "The larger argument; nan if either is.", reference = "max(x, y)";
  static double value(double x, double y) { return x >= y || std::isnan(x) ? x : y; }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<maximum_rule, X, Y> maximum(const X& x, const Y& y) {
  return apply<maximum_rule>(x, y);
}

struct minimum_rule : detail::extreme_rule {
  static constexpr std::string_view name = "minimum", text = "The smaller argument; nan if either is.", reference = "min(x, y)";
  static double value(double x, double y) { return x <= y || std::isnan(x) ? x : y; }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<minimum_rule, X, Y> minimum(const X& x, const Y& y) {
  return apply<minimum_rule>(x, y);
}

struct fdim_rule : rule<2>, in_cmath {
  static constexpr std::string_view name = "fdim", text = "x - y where that is positive, else 0.", reference = "max(x - y, 0)";
  static double value(double x, double y) { return std::fdim(x, y); }
  template <int I, class T>
  static auto derivative(wrt<I>, const T& x, const T& y, const T&) {
    return (I == 0 ? 1.0 : -1.0) * either(x > y, 1.0, either(x == y, 0.5, 0.0));
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<fdim_rule, X, Y> fdim(const X& x, const Y& y) {
  return apply<fdim_rule>(x, y);
}

// ---- remainders --------------------------------------------------------------------------------------------------------

namespace detail {
/// Base of the remainders x - n y, with different roundings of the quotient n, which is constant between jumps.
struct remainder_base : rule<2> {
  template <class T>
  static double derivative(wrt<0>, const T&, const T&, const T&) {
    return 1.0;
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& value) {
    return rint((value - x) / y);
  }
};
}  // namespace detail

struct fmod_rule : detail::remainder_base, in_cmath {
  static constexpr std::string_view name = "fmod", stan = "modulus",
                                    text = "Remainder x - n y with n = trunc(x / y); it has the sign of x.",
                                    reference = "x - y * sign(x / y) * floor(fabs(x / y))";
  static double value(double x, double y) { return std::fmod(x, y); }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<fmod_rule, X, Y> fmod(const X& x, const Y& y) {
  return apply<fmod_rule>(x, y);
}
/// Does the same as `fmod`, for whole numbers, too; this is Stan's name, where <cmath> has fmod.
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<fmod_rule, X, Y> modulus(const X& x, const Y& y) {
  return apply<fmod_rule>(x, y);
}
inline double modulus(int x, int y) { return fmod_rule::value(x, y); }

struct remainder_rule : detail::remainder_base, in_cmath {
  static constexpr std::string_view name = "remainder",
                                    text = "Remainder x - n y with n the whole number nearest to x / y (IEEE 754).",
                                    reference = "x - y * nint(x / y)", ufunc = no_ufunc;
  static double value(double x, double y) { return std::remainder(x, y); }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<remainder_rule, X, Y> remainder(const X& x, const Y& y) {
  return apply<remainder_rule>(x, y);
}

struct mod_rule : detail::remainder_base {
  static constexpr std::string_view name = "mod", text = "Remainder x - n y with n = floor(x / y); it has the sign of y.",
                                    reference = "x - y * floor(x / y)", ufunc = "remainder";
  static double value(double x, double y) {
    const double r = std::fmod(x, y);
    if (r == 0) return std::copysign(0.0, y);
    return (r < 0) == (y < 0) ? r : r + y;
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<mod_rule, X, Y> mod(const X& x, const Y& y) {
  return apply<mod_rule>(x, y);
}

struct floor_divide_rule : piecewise_constant_rule<2> {
  static constexpr std::string_view name = "floor_divide", text = "Largest whole number that is not above x / y.",
                                    reference = "floor(x / y)";
  static double value(double x, double y) {  // by the remainder, which is exact, while the quotient is rounded
    const double r = std::fmod(x, y);
    if (y == 0 || std::isnan(r)) return y == 0 ? x / y : r;
    const double n = std::rint((x - r) / y);
    return r != 0 && (r < 0) != (y < 0) ? n - 1 : n != 0 ? n : std::copysign(0.0, x / y);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<floor_divide_rule, X, Y> floor_divide(const X& x, const Y& y) {
  return apply<floor_divide_rule>(x, y);
}

namespace rules {
using piecewise =
    typelist<abs_rule, fabs_rule, sign_rule, copysign_rule, floor_rule, ceil_rule, trunc_rule, round_rule, rint_rule, fmax_rule,
             fmin_rule, maximum_rule, minimum_rule, fdim_rule, fmod_rule, remainder_rule, mod_rule, floor_divide_rule>;
}

}  // namespace agrad
