// Bounds: transforms of each number alone: lower and upper bounds, both, and offset with multiplier.
//
// y is a number or an array, and bounds are numbers or arrays of the same shape. An infinite bound is no constraint, so all
// bounds are cases of one transform. Values between two bounds are computed from the nearer end, where digits count.
#pragma once

#include <agrad/constraints/entries.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {

/// Which of two bounds are finite. Throws DomainError unless the lower one is less than the upper one.
struct bound_pair {
  double low, high;
  template <class L, class U>
  bound_pair(std::string_view function, const entry_place& place, const L& lb, const U& ub)
      : low(primal_value(lb)), high(primal_value(ub)) {
    if (AGRAD_UNLIKELY(!(low < high))) fail_entry(function, "lb", place, low, "less than ub =", high);
  }
  bool has_low() const { return low > -infinity; }
  bool has_high() const { return high < infinity; }
  bool has_both() const { return has_low() && has_high(); }
  /// Whether the distance of two finite bounds overflows; that of the halved bounds does not.
  bool is_wide() const { return !std::isfinite(high - low); }
};

/// Return the value, its log slope and its inverse for one number between two finite bounds.
template <class T, class L, class U>
T inside(const T& y, const L& lb, const U& ub) {
  return primal_value(y) < 0 ? T(lb + (ub - lb) * inv_logit(y)) : T(ub - (ub - lb) * inv_logit(-y));
}
template <class T, class L, class U>
T log_slope_inside(const T& y, const L& lb, const U& ub) {
  return log(ub - lb) + log_inv_logit(y) + log_inv_logit(-y);
}
template <class T, class L, class U>
T free_inside(const T& x, const L& lb, const U& ub) {
  return log(x - lb) - log(ub - x);
}

template <class X>
AGRAD_COLD promoted_t<X> half_of(const X& x) {
  return x / 2.0;
}

/// Return the value of each transform of bounds, its log slope, and its inverse, for one number each.
template <class T, class L, class U>
T between(const bound_pair& bounds, const T& y, const L& lb, const U& ub) {
  if (bounds.has_both()) {
    if (AGRAD_UNLIKELY(bounds.is_wide())) return 2.0 * inside(y, half_of(lb), half_of(ub));
    return inside(y, lb, ub);
  }
  return bounds.has_low() ? T(lb + exp(y)) : bounds.has_high() ? T(ub - exp(y)) : y;
}
template <class T, class L, class U>
T log_slope_between(const bound_pair& bounds, const T& y, const L& lb, const U& ub) {
  if (bounds.has_both()) {
    if (AGRAD_UNLIKELY(bounds.is_wide())) return std::log(2.0) + log_slope_inside(y, half_of(lb), half_of(ub));
    return log_slope_inside(y, lb, ub);
  }
  return bounds.has_low() || bounds.has_high() ? y : T(0.0);
}
template <class T, class L, class U>
T free_between(const bound_pair& bounds, const T& x, const L& lb, const U& ub) {
  if (bounds.has_both()) {
    if (AGRAD_UNLIKELY(bounds.is_wide())) return free_inside(half_of(x), half_of(lb), half_of(ub));
    return free_inside(x, lb, ub);
  }
  return bounds.has_low() ? T(log(x - lb)) : bounds.has_high() ? T(log(ub - x)) : x;
}

template <class Y, class L, class U>
auto constrain_between(std::string_view function, const Y& y, const L& lb, const U& ub) {
  const auto f = [&](const entry_place& place, const auto& at, const auto& low, const auto& high) {
    return between(bound_pair(function, place, low, high), at, low, high);
  };
  return map_entries(function, f, evaluated_entries(y), evaluated_entries(lb), evaluated_entries(ub));
}
template <class Y, class L, class U, class LP>
auto jacobian_between(std::string_view function, const Y& y, const L& lb, const U& ub, LP& lp) {
  const auto f = [&](const entry_place& place, const auto& at, const auto& low, const auto& high) {
    const bound_pair bounds(function, place, low, high);
    lp += log_slope_between(bounds, at, low, high);
    return between(bounds, at, low, high);
  };
  return map_entries(function, f, evaluated_entries(y), evaluated_entries(lb), evaluated_entries(ub));
}
template <class X, class L, class U>
auto unconstrain_between(std::string_view function, const X& x, const L& lb, const U& ub) {
  const auto f = [&](const entry_place& place, const auto& at, const auto& low, const auto& high) {
    const bound_pair bounds(function, place, low, high);
    const double value = primal_value(at);
    require(value > bounds.low || (!bounds.has_low() && !std::isnan(value)), function, place, value, "above", bounds.low);
    require(value < bounds.high || !bounds.has_high(), function, place, value, "below", bounds.high);
    return free_between(bounds, at, low, high);
  };
  return map_entries(function, f, evaluated_entries(x), evaluated_entries(lb), evaluated_entries(ub));
}

template <class O, class M>
void require_positive_multiplier(std::string_view function, const entry_place& place, const O& offset, const M& mult) {
  const double m = primal_value(mult), o = primal_value(offset);
  if (AGRAD_UNLIKELY(!(m > 0 && std::isfinite(m)))) fail_entry(function, "mult", place, m, "positive and finite", quiet_nan);
  if (AGRAD_UNLIKELY(!std::isfinite(o))) fail_entry(function, "offset", place, o, "finite", quiet_nan);
}

}  // namespace detail

/// Returns numbers above lb: lb + exp(y).
template <class Y, class L>
auto lower_bound_constrain(const Y& y, const L& lb) {
  return detail::constrain_between("lower_bound_constrain", y, lb, infinity);
}
/// Does the same as `lower_bound_constrain`, and adds the log Jacobian to lp.
template <class Y, class L, class LP>
auto lower_bound_jacobian(const Y& y, const L& lb, LP& lp) {
  return detail::jacobian_between("lower_bound_jacobian", y, lb, infinity, lp);
}
/// Returns the free numbers of values. Throws DomainError unless all are above lb.
template <class X, class L>
auto lower_bound_unconstrain(const X& x, const L& lb) {
  return detail::unconstrain_between("lower_bound_unconstrain", x, lb, infinity);
}

/// Returns numbers below ub: ub - exp(y).
template <class Y, class U>
auto upper_bound_constrain(const Y& y, const U& ub) {
  return detail::constrain_between("upper_bound_constrain", y, -infinity, ub);
}
/// Does the same as `upper_bound_constrain`, and adds the log Jacobian to lp.
template <class Y, class U, class LP>
auto upper_bound_jacobian(const Y& y, const U& ub, LP& lp) {
  return detail::jacobian_between("upper_bound_jacobian", y, -infinity, ub, lp);
}
/// Returns the free numbers of values. Throws DomainError unless all are below ub.
template <class X, class U>
auto upper_bound_unconstrain(const X& x, const U& ub) {
  return detail::unconstrain_between("upper_bound_unconstrain", x, -infinity, ub);
}

/// Returns numbers between two bounds: lb + (ub - lb) inv_logit(y). Throws DomainError unless lb < ub.
template <class Y, class L, class U>
auto lower_upper_bound_constrain(const Y& y, const L& lb, const U& ub) {
  return detail::constrain_between("lower_upper_bound_constrain", y, lb, ub);
}
/// Does the same as `lower_upper_bound_constrain`, and adds the log Jacobian to lp.
template <class Y, class L, class U, class LP>
auto lower_upper_bound_jacobian(const Y& y, const L& lb, const U& ub, LP& lp) {
  return detail::jacobian_between("lower_upper_bound_jacobian", y, lb, ub, lp);
}
/// Returns the free numbers of values. Throws DomainError unless all are between the bounds.
template <class X, class L, class U>
auto lower_upper_bound_unconstrain(const X& x, const L& lb, const U& ub) {
  return detail::unconstrain_between("lower_upper_bound_unconstrain", x, lb, ub);
}

/// Returns numbers without a constraint, shifted and scaled: offset + mult y. Throws DomainError unless mult is positive.
template <class Y, class O, class M>
auto offset_multiplier_constrain(const Y& y, const O& offset, const M& mult) {
  const auto f = [](const detail::entry_place& place, const auto& at, const auto& o, const auto& m) {
    detail::require_positive_multiplier("offset_multiplier_constrain", place, o, m);
    return std::decay_t<decltype(at)>(o + m * at);
  };
  return detail::map_entries("offset_multiplier_constrain", f, detail::evaluated_entries(y), detail::evaluated_entries(offset),
                             detail::evaluated_entries(mult));
}
/// Does the same as `offset_multiplier_constrain`, and adds the log Jacobian to lp.
template <class Y, class O, class M, class LP>
auto offset_multiplier_jacobian(const Y& y, const O& offset, const M& mult, LP& lp) {
  const auto f = [&](const detail::entry_place& place, const auto& at, const auto& o, const auto& m) {
    detail::require_positive_multiplier("offset_multiplier_jacobian", place, o, m);
    lp += log(m);
    return std::decay_t<decltype(at)>(o + m * at);
  };
  return detail::map_entries("offset_multiplier_jacobian", f, detail::evaluated_entries(y), detail::evaluated_entries(offset),
                             detail::evaluated_entries(mult));
}
/// Returns the free numbers of shifted and scaled values.
template <class X, class O, class M>
auto offset_multiplier_unconstrain(const X& x, const O& offset, const M& mult) {
  const auto f = [](const detail::entry_place& place, const auto& at, const auto& o, const auto& m) {
    constexpr std::string_view name = "offset_multiplier_unconstrain";
    detail::require(!std::isnan(detail::primal_value(at)), name, place, detail::primal_value(at), "a number, not nan");
    detail::require_positive_multiplier(name, place, o, m);
    return std::decay_t<decltype(at)>((at - o) / m);
  };
  return detail::map_entries("offset_multiplier_unconstrain", f, detail::evaluated_entries(x),
                             detail::evaluated_entries(offset), detail::evaluated_entries(mult));
}

}  // namespace agrad
