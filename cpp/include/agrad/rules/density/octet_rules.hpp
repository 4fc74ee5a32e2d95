// Octet rules: rules applied to octets, eight numbers at once.
//
// The exponential and logarithms have formulas of their own; other rules with `values` compute packets, where they are as
// accurate as the rule's `value`; the absolute value is a comparison; all others compute lane after lane. So every rule is a
// function of octets, too.
// Read next: rules/density/loop.hpp.
#pragma once

#include <Eigen/Core>

#include <agrad/rules/density/octet_functions.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/piecewise.hpp>
#include <agrad/rules/values.hpp>

namespace agrad {

namespace detail {

/// A rule of octets: by packets if they are there, else lane after lane.
template <class Rule>
struct octet_form {
  using array = Eigen::Array<double, octet::size, 1>;

  template <class... X>
  AGRAD_ALWAYS_INLINE static octet of(const X&... x) {
    if constexpr (has_interval_of_packets<Rule>)
      return by_packets(x...);
    else if constexpr (has_values<Rule> && !has_region_of_packets<Rule>)
      return Rule::values(x...);
    else
      return by_lanes(x...);
  }

 private:
  AGRAD_ALWAYS_INLINE static octet by_packets(const octet& x) {
    if (AGRAD_UNLIKELY(!all_hold(x > Rule::packets.lower && x < Rule::packets.upper))) return by_lanes(x);
    if constexpr (std::is_same_v<Rule, exp_rule>)
      return exp_inside(x);
    else if constexpr (std::is_same_v<Rule, log_rule>)
      return log_inside(x);
    else if constexpr (std::is_same_v<Rule, log1p_rule>)
      return log1p_inside(x);
    else
      return by_array(x);
  }
  AGRAD_ALWAYS_INLINE static octet by_array(const octet& x) {
    array from;
    x.store(from.data());
    const array to = Rule::values(from);
    return octet::load(to.data());
  }
  template <class... X>
  static octet by_lanes(const X&... x) {
    double from[sizeof...(X)][octet::size];
    double to[octet::size];
    std::size_t k = 0;
    (x.store(from[k++]), ...);
    each_lane(to, from, std::index_sequence_for<X...>{});
    return octet::load(to);
  }
  template <class From, std::size_t... K>
  AGRAD_ALWAYS_INLINE static void each_lane(double* to, const From& from, std::index_sequence<K...>) {
    for (std::size_t i = 0; i < octet::size; ++i) to[i] = Rule::value(from[K][i]...);
  }
};

template <>
struct octet_form<abs_rule> {
  AGRAD_ALWAYS_INLINE static octet of(const octet& x) { return chosen(x > 0.0, x, 0.0 - x); }
};

template <class Rule, class... X>
AGRAD_ALWAYS_INLINE octet octet_engine::apply(const X&... x) {
  return octet_form<Rule>::of(octet(x)...);
}

}  // namespace detail
}  // namespace agrad
