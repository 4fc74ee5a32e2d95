// Terms of entropies: x log y with its limits at 0, and the divergences composed of such terms.
//
// At the ends of their domains the functions have their limits, and outside of their domains they are infinite, as usual in
// convex analysis. Logarithms of ratios are computed from differences, so that nothing cancels at x = y.
#pragma once

#include <agrad/rules/exponential.hpp>
#include <agrad/rules/gamma/stirling.hpp>

namespace agrad {

namespace detail {

/// log(x / y).
struct log_ratio_rule : rule<2> {
  static constexpr std::string_view name = "log_ratio";
  static double value(double x, double y) { return log_ratio(x, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&, const T&) {
    return 1.0 / x;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& y, const T&) {
    return -1.0 / y;
  }
};

}  // namespace detail

struct xlogy_rule : rule<2> {
  static constexpr std::string_view name = "xlogy", stan = "lmultiply", text = "x log(y), and 0 where x is 0.",
                                    reference = "x * log(y) if x != 0 else 0";
  static constexpr std::uint8_t proportional_to = 0b01;
  static constexpr interval domain[] = {{}, {0, infinity}};
  static double value(double x, double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& y, const T&) {
    return log(y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return either<T>(
        x == 0 && y == 0, [&] { return T(0.0); }, [&] { return T(x / (y + 0.0)); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<xlogy_rule, X, Y> xlogy(const X& x, const Y& y) {
  return apply<xlogy_rule>(x, y);
}
/// Does the same as `xlogy`; this is Stan's name.
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<xlogy_rule, X, Y> lmultiply(const X& x, const Y& y) {
  return apply<xlogy_rule>(x, y);
}

struct xlog1py_rule : rule<2> {
  static constexpr std::string_view name = "xlog1py", text = "x log(1 + y), and 0 where x is 0.",
                                    reference = "x * log1p(y) if x != 0 else 0";
  static constexpr std::uint8_t proportional_to = 0b01;
  static constexpr interval domain[] = {{}, {-1, infinity}};
  static double value(double x, double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log1p(y); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& y, const T&) {
    return log1p(y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return either<T>(
        x == 0 && y == -1, [&] { return T(0.0); }, [&] { return T(x / (1.0 + y)); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<xlog1py_rule, X, Y> xlog1py(const X& x, const Y& y) {
  return apply<xlog1py_rule>(x, y);
}

struct entr_rule : rule<1> {
  static constexpr std::string_view name = "entr", text = "Term of the entropy, -x log(x); 0 at 0.",
                                    reference = "-x * log(x) if x != 0 else 0";
  static constexpr interval domain[] = {{0, infinity}};
  static constexpr double outside = -infinity;
  static double value(double x) { return x > 0 ? -x * std::log(x) : x < 0 ? outside : x == 0 ? 0 : x; }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -1.0 - log(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<entr_rule, X> entr(const X& x) {
  return apply<entr_rule>(x);
}

struct rel_entr_rule : rule<2> {
  static constexpr std::string_view name = "rel_entr", text = "Term of the relative entropy, x log(x / y); 0 where x is 0.",
                                    reference = "x * log(x / y) if x != 0 else 0";
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}};
  static constexpr double outside = infinity;
  static double value(double x, double y) {
    if (std::isnan(x) || std::isnan(y)) return quiet_nan;
    if (x > 0 && y > 0) return x * detail::log_ratio(x, y);
    return x == 0 && y >= 0 ? 0 : outside;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return 1.0 + apply<detail::log_ratio_rule>(x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return either<T>(
        x == 0 && y == 0, [&] { return T(0.0); }, [&] { return T(-x / y); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<rel_entr_rule, X, Y> rel_entr(const X& x, const Y& y) {
  return apply<rel_entr_rule>(x, y);
}

struct kl_div_rule : rule<2> {
  static constexpr std::string_view name = "kl_div",
                                    text = "Term of the Kullback-Leibler divergence, x log(x / y) - x + y; y where x is 0.",
                                    reference = "x * log(x / y) - x + y if x != 0 else y";
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}};
  static constexpr double outside = infinity;
  static double value(double x, double y) {
    if (std::isnan(x) || std::isnan(y)) return quiet_nan;
    if (!(x > 0 && y > 0)) return x == 0 && y >= 0 ? y : outside;
    const double distance = (y - x) / x;
    if (distance > -0.6 && distance < 1.5) return x * detail::log1p_rest(distance);
    return x * detail::log_ratio(x, y) - x + y;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return apply<detail::log_ratio_rule>(x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return either<T>(
        x == 0 && y == 0, [&] { return T(1.0); }, y > 2 * x, [&] { return T(1.0 - x / y); }, [&] { return T((y - x) / y); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<kl_div_rule, X, Y> kl_div(const X& x, const Y& y) {
  return apply<kl_div_rule>(x, y);
}

namespace rules {
using entropy = typelist<xlogy_rule, xlog1py_rule, entr_rule, rel_entr_rule, kl_div_rule>;
}

}  // namespace agrad
