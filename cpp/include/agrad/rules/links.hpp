// Links between the real line and probabilities, and sums on the logarithmic scale.
//
// Neither values nor derivatives lose digits where a probability is close to 0 or to 1.
#pragma once

#include <agrad/rules/exponential.hpp>
#include <agrad/rules/piecewise.hpp>

namespace agrad {

struct inv_logit_rule : rule<1> {
  static constexpr std::string_view name = "inv_logit", text = "Logistic function 1 / (1 + exp(-x)).",
                                    reference = "1 / (1 + exp(-x))", ufunc = "expit";
  static constexpr bool is_regular = true;
  static double value(double x) {
    const double e = std::exp(-std::abs(x));
    return (x < 0 ? e : 1) / (1 + e);
  }
  static constexpr interval packets{-708, 708};
  template <class A>
  static auto values(const A& x) {
    return (1.0 + (-x).exp()).inverse();
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return value * apply<inv_logit_rule>(-x);  // 1 - value would cancel for large x
  }
  template <class A, class V>
  static auto derivatives(wrt<0>, const A& x, const V& value) {
    return value * (1.0 + x.exp()).inverse();
  }
  template <class A, class V>
  static auto second_derivatives(wrt<0>, wrt<0>, const A& x, const V& value) {
    const typename V::PlainObject rest = (1.0 + x.exp()).inverse();
    return typename V::PlainObject(value * rest * (rest - value));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<inv_logit_rule, X> inv_logit(const X& x) {
  return apply<inv_logit_rule>(x);
}

struct logit_rule : rule<1> {
  static constexpr std::string_view name = "logit", text = "Log odds log(x / (1 - x)).", reference = "log(x / (1 - x))";
  static constexpr interval domain[] = {{0, 1}};
  static double value(double x) {
    if (std::abs(x - 0.5) < 0.25) return std::log1p((2 * x - 1) / (1 - x));  // 2 x - 1 is exact near the zero at 1/2
    return std::log(x / (1 - x));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return 1.0 / (x * (1.0 - x));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<logit_rule, X> logit(const X& x) {
  return apply<logit_rule>(x);
}

struct log1m_rule : rule<1> {
  static constexpr std::string_view name = "log1m", text = "log(1 - x), accurate for small x.", reference = "log1p(-x)";
  static constexpr interval domain[] = {{-infinity, 1}};
  static double value(double x) { return std::log1p(-x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -1.0 / (1.0 - x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log1m_rule, X> log1m(const X& x) {
  return apply<log1m_rule>(x);
}

struct log1p_exp_rule : rule<1> {
  static constexpr std::string_view name = "log1p_exp", text = "log(1 + exp(x)), also called softplus.",
                                    reference = "log1p(exp(x))";
  static constexpr bool is_regular = true;
  static double value(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x))); }
  static constexpr interval packets{-708, 708};
  template <class A>
  static auto values(const A& x) {
    const typename A::PlainObject e = (-x.abs()).exp();
    return typename A::PlainObject(x.max(0.0) + log1p_rule::values(e));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return inv_logit(x);
  }
  template <class A, class V>
  static auto derivatives(wrt<0>, const A& x, const V&) {
    return inv_logit_rule::values(x);
  }
  template <class A, class V>
  static auto second_derivatives(wrt<0>, wrt<0>, const A& x, const V&) {
    return inv_logit_rule::values(x) * inv_logit_rule::values(-x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log1p_exp_rule, X> log1p_exp(const X& x) {
  return apply<log1p_exp_rule>(x);
}

struct log1m_exp_rule : rule<1> {
  static constexpr std::string_view name = "log1m_exp", text = "log(1 - exp(x)) for x <= 0.", reference = "log1p(-exp(x))",
                                    source = "Maechler (2012), Accurately computing log(1 - exp(-|a|)), equation 7";
  static constexpr interval domain[] = {{-infinity, 0}};
  static double value(double x) { return x > -detail::log_2 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x)); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -exp(x) / (0.0 - expm1(x));  // 0 - 0 is +0, so that the derivative at 0 is -inf
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log1m_exp_rule, X> log1m_exp(const X& x) {
  return apply<log1m_exp_rule>(x);
}

struct log_inv_logit_rule : rule<1> {
  static constexpr std::string_view name = "log_inv_logit", text = "Logarithm of the logistic function, -log(1 + exp(-x)).",
                                    reference = "-log1p(exp(-x))", ufunc = "log_expit";
  static constexpr bool is_regular = true;
  static double value(double x) { return -log1p_exp_rule::value(-x); }
  static constexpr interval packets{-708, 708};
  template <class A>
  static auto values(const A& x) {
    const typename A::PlainObject e = (-x.abs()).exp();
    return typename A::PlainObject(x.min(0.0) - log1p_rule::values(e));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return inv_logit(-x);
  }
  template <class A, class V>
  static auto derivatives(wrt<0>, const A& x, const V&) {
    return inv_logit_rule::values(-x);
  }
  template <class A, class V>
  static auto second_derivatives(wrt<0>, wrt<0>, const A& x, const V&) {
    return -(inv_logit_rule::values(x) * inv_logit_rule::values(-x));
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log_inv_logit_rule, X> log_inv_logit(const X& x) {
  return apply<log_inv_logit_rule>(x);
}

struct log_sum_exp_rule : rule<2> {
  static constexpr std::string_view name = "log_sum_exp", text = "log(exp(x) + exp(y)).",
                                    reference = "max(x, y) + log1p(exp(-fabs(x - y)))", ufunc = "logaddexp";
  static constexpr bool is_regular = true;
  static double value(double x, double y) {
    if (x == y) return x + detail::log_2;  // the difference of two equal infinities is nan
    const double distance = std::abs(x - y);
    return (x > y ? x : y) + std::log1p(std::exp(-distance));
  }
  static int suits_packets(double x, double y) { return static_cast<int>(x - y < 708) & static_cast<int>(y - x < 708); }
  template <class A, class B>
  static auto values(const A& x, const B& y) {
    using array = typename std::conditional_t<std::is_arithmetic_v<A>, B, A>::PlainObject;
    const array e = (-(x - y).abs()).exp();
    return array(larger(x, y) + log1p_rule::values(e));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return weight(x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return weight(y, x);
  }
  template <int I, class A, class V>
  static auto derivatives(wrt<I>, const A& x, const A& y, const V&) {
    return inv_logit_rule::values(I == 0 ? x - y : y - x);
  }
  template <int I, int L, class A, class V>
  static auto second_derivatives(wrt<I>, wrt<L>, const A& x, const A& y, const V&) {
    return (I == L ? 1.0 : -1.0) * (inv_logit_rule::values(x - y) * inv_logit_rule::values(y - x));
  }

 private:
  template <class T>
  static T weight(const T& x, const T& y) {
    return either<T>(
        x == y && !(abs(x) < infinity), [&] { return T(0.5); }, [&] { return T(inv_logit(x - y)); });
  }
  template <class A, class B>
  static auto larger(const A& x, const B& y) {
    if constexpr (std::is_arithmetic_v<A>)
      return y.max(x);
    else
      return x.max(y);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<log_sum_exp_rule, X, Y> log_sum_exp(const X& x, const Y& y) {
  return apply<log_sum_exp_rule>(x, y);
}

struct logaddexp2_rule : rule<2> {
  static constexpr std::string_view name = "logaddexp2", text = "log2(2^x + 2^y).",
                                    reference = "max(x, y) + log1p(2 ** -fabs(x - y)) / log(2)";
  static constexpr bool is_regular = true;
  static double value(double x, double y) {
    if (x == y) return x + 1;  // the difference of two equal infinities is nan
    const double distance = std::abs(x - y);
    return (x > y ? x : y) + std::log1p(std::exp2(-distance)) / detail::log_2;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return weight(x, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return weight(y, x);
  }

 private:
  template <class T>
  static T weight(const T& x, const T& y) {
    const auto small = [&] {
      const T ratio = exp2(x - y);
      return T(ratio / (1.0 + ratio));
    };
    const auto large = [&] { return T(1.0 / (1.0 + exp2(y - x))); };
    return either<T>(
        x == y && !(abs(x) < infinity), [&] { return T(0.5); }, x > y, large, small);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<logaddexp2_rule, X, Y> logaddexp2(const X& x, const Y& y) {
  return apply<logaddexp2_rule>(x, y);
}

namespace rules {
using links = typelist<inv_logit_rule, logit_rule, log1m_rule, log1p_exp_rule, log1m_exp_rule, log_inv_logit_rule,
                       log_sum_exp_rule, logaddexp2_rule>;
}

}  // namespace agrad
