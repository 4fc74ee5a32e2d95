// The normal distribution and the error functions around it: erfcx, the inverses, ndtr, log_ndtr, ndtri.
//
// Derivatives in tails use erfcx, whose derivatives are iterated integrals of erfc: positive numbers, so that nothing cancels
// at any order. The functions of doubles are in rules/error/scaled_error.hpp.
#pragma once

#include <agrad/rules/error/error.hpp>
#include <agrad/rules/error/scaled_error.hpp>
#include <agrad/rules/passing.hpp>
#include <agrad/rules/piecewise.hpp>

namespace agrad {

namespace detail {

/// exp(x^2) times the n-fold integral of erfc; the derivative is -2 (n + 1) times the function of order n + 1.
struct scaled_ierfc_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "scaled_ierfc";
  static double value(double order, double x) { return scaled_ierfc(order, x); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& x, const T&) {
    return -2.0 * (order + 1.0) * apply<scaled_ierfc_rule>(order + 1.0, x);
  }
};

/// exp(-x^2 / 2), accurate also in the tails. Its derivative is 0 where the square overflows.
struct bell_rule : rule<1> {
  static constexpr std::string_view name = "bell";
  static double value(double x) { return exp_of_square(x, -0.5); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return -apply<passed_rule>(x, value);
  }
};

inline constexpr double sqrt_half_pi = 1.25331413731550025120788264240552263;

}  // namespace detail

struct erfcx_rule : rule<1> {
  static constexpr std::string_view name = "erfcx", text = "Scaled complementary error function exp(x^2) erfc(x).",
                                    reference = "exp(x ** 2) * erfc(x)",
                                    source = "substitution of Shepherd & Laframboise (1981), Mathematics of Computation 36:249";
  static double value(double x) { return detail::erfcx(x); }
  static constexpr bool needs_wide_packets = true;
  static constexpr interval packets{0, 1e9};
  template <class A>
  static auto values(const A& x) {
    return detail::erfcx_of(x);
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -2.0 * apply<detail::scaled_ierfc_rule>(1.0, x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<erfcx_rule, X> erfcx(const X& x) {
  return apply<erfcx_rule>(x);
}

struct erfinv_rule : rule<1> {
  static constexpr std::string_view name = "erfinv", text = "Inverse of erf.";
  static constexpr interval domain[] = {{-1, 1}};
  static double value(double x) { return detail::erfinv(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    const auto central = [&] { return T(detail::half_sqrt_pi / apply<detail::gaussian_rule>(value)); };
    const auto in_tails = [&] { return T(detail::half_sqrt_pi * erfcx(abs(value)) / (1.0 - abs(x))); };
    return either<T>(
        abs(x) < 0.5, central, abs(x) == 1, [&] { return T(infinity); }, in_tails);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<erfinv_rule, X> erfinv(const X& x) {
  return apply<erfinv_rule>(x);
}

struct erfcinv_rule : rule<1> {
  static constexpr std::string_view name = "erfcinv", stan = "inv_erfc", text = "Inverse of erfc, accurate for small x.",
                                    reference =  // mpmath has only erfinv
                                    "erfinv(1 - x) if x > 0.01 else"
                                    " findroot(lambda y: log(erfc(y)) - log(x), sqrt(-log(x)))";
  static constexpr interval domain[] = {{0, 2}};
  static double value(double x) { return detail::erfcinv(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    const auto central = [&] { return T(-detail::half_sqrt_pi / apply<detail::gaussian_rule>(value)); };
    const auto in_tails = [&] {
      const T tail = either<T>(
          x < 1, [&] { return x; }, [&] { return T(2.0 - x); });
      return T(-detail::half_sqrt_pi * erfcx(abs(value)) / tail);
    };
    return either<T>(
        x > 0.5 && x < 1.5, central, x == 0 || x == 2, [&] { return T(-infinity); }, in_tails);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<erfcinv_rule, X> erfcinv(const X& x) {
  return apply<erfcinv_rule>(x);
}
/// Does the same as `erfcinv`; this is Stan's name.
template <class X>
AGRAD_ALWAYS_INLINE applied<erfcinv_rule, X> inv_erfc(const X& x) {
  return apply<erfcinv_rule>(x);
}

struct ndtr_rule : rule<1> {
  static constexpr std::string_view name = "ndtr", stan = "Phi",
                                    text = "Distribution function of the standard normal distribution.", reference = "ncdf(x)";
  static constexpr bool is_regular = true;
  static double value(double x) { return detail::ndtr(x); }
  static constexpr bool needs_wide_packets = true;
  static constexpr interval packets{-37, 37};
  template <class A>
  static auto values(const A& x) {
    return detail::ndtr_of(x);
  }
  template <class A, class V>
  static auto derivatives(wrt<0>, const A& x, const V&) {
    return typename A::PlainObject(detail::inv_sqrt_two_pi * detail::exp_of_squares(x, -0.5));
  }
  template <class A, class V>
  static auto second_derivatives(wrt<0> first, wrt<0>, const A& x, const V& value) {
    return typename A::PlainObject(-x * derivatives(first, x, value));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return detail::inv_sqrt_two_pi * apply<detail::bell_rule>(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<ndtr_rule, X> ndtr(const X& x) {
  return apply<ndtr_rule>(x);
}
/// Does the same as `ndtr`; this is Stan's name.
template <class X>
AGRAD_ALWAYS_INLINE applied<ndtr_rule, X> Phi(const X& x) {
  return apply<ndtr_rule>(x);
}

struct log_ndtr_rule : rule<1> {
  static constexpr std::string_view name = "log_ndtr", text = "Logarithm of ndtr, accurate in both tails.",
                                    reference = "log(ncdf(x)) if x < 0 else log1p(-ncdf(-x))";
  static double value(double x) { return detail::log_ndtr(x); }
  static double value_and_slopes(std::array<double, 1>& slopes, const std::array<bool, 1>&, double x) {
    return detail::log_ndtr(x, slopes[0]);
  }
  static constexpr bool needs_wide_packets = true;
  static constexpr interval packets{-5, 37};  // below, second derivatives would cancel
  template <class A>
  static auto values(const A& x) {
    typename A::PlainObject slope;
    return detail::log_ndtr_of(x, slope);
  }
  template <class A, class V>
  static auto derivatives(wrt<0>, const A& x, const V&) {
    typename A::PlainObject slope;
    detail::log_ndtr_of(x, slope);
    return slope;
  }
  template <class A, class V>
  static auto second_derivatives(wrt<0> first, wrt<0>, const A& x, const V& value) {
    const typename A::PlainObject slope = derivatives(first, x, value);
    return typename A::PlainObject(-slope * (x + slope));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return either<T>(
        x < 0, [&] { return T(detail::sqrt_two_over_pi / erfcx(-detail::inv_sqrt_2 * x)); },
        [&] { return T(detail::inv_sqrt_two_pi * apply<detail::bell_rule>(x) / ndtr(x)); });
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log_ndtr_rule, X> log_ndtr(const X& x) {
  return apply<log_ndtr_rule>(x);
}

struct ndtri_rule : rule<1> {
  static constexpr std::string_view name = "ndtri", stan = "inv_Phi",
                                    text = "Inverse of ndtr: the quantiles of the standard normal distribution.",
                                    reference =
                                        "sqrt(2) * erfinv(2 * x - 1) if x > 0.01 else"
                                        " findroot(lambda y: log(ncdf(y)) - log(x), -sqrt(-2 * log(x)))";
  static constexpr interval domain[] = {{0, 1}};
  static double value(double x) { return detail::ndtri(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    const auto central = [&] { return T(2.0 * detail::sqrt_half_pi / apply<detail::bell_rule>(value)); };
    const auto in_tails = [&] {
      const T tail = either<T>(
          x < 0.5, [&] { return x; }, [&] { return T(1.0 - x); });
      return T(detail::sqrt_half_pi * erfcx(detail::inv_sqrt_2 * abs(value)) / tail);
    };
    return either<T>(
        x > 0.25 && x < 0.75, central, x == 0 || x == 1, [&] { return T(infinity); }, in_tails);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<ndtri_rule, X> ndtri(const X& x) {
  return apply<ndtri_rule>(x);
}
/// Does the same as `ndtri`; this is Stan's name.
template <class X>
AGRAD_ALWAYS_INLINE applied<ndtri_rule, X> inv_Phi(const X& x) {
  return apply<ndtri_rule>(x);
}

namespace rules {
using probit = typelist<erfcx_rule, erfinv_rule, erfcinv_rule, ndtr_rule, log_ndtr_rule, ndtri_rule>;
}

}  // namespace agrad
