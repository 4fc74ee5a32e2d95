// Octet: eight doubles computed side by side, the scalar for which the loops of densities compute a rule's term.
//
// An octet has eight doubles whatever the width of the machine's vectors, and the lanes are added in one fixed order: a sum is
// the same with every instruction set (up to fused multiply-adds, if the compiler is allowed to contract). A comparison of
// octets is true if it is true in all lanes. Single lanes are read from copies only: an octet that the compiler sees only as
// whole packets stays in a register.
// Read next: rules/density/loop.hpp, which uses octets.
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include <agrad/base/error.hpp>
#include <agrad/rules/density/lanes.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad::detail {

struct octet {
  static constexpr std::size_t size = 8;
  using array = Eigen::Array<double, size, 1>;
  lanes<size> all;

  octet() = default;
  AGRAD_ALWAYS_INLINE octet(double x) : all(lanes<size>::same(x)) {}  // NOLINT: a number is the same in all lanes
  AGRAD_ALWAYS_INLINE explicit octet(const lanes<size>& x) : all(x) {}
  AGRAD_ALWAYS_INLINE static octet load(const double* from) { return octet(lanes<size>::load(from)); }
  AGRAD_ALWAYS_INLINE void store(double* to) const { all.store(to); }

  AGRAD_ALWAYS_INLINE friend octet operator+(const octet& x, const octet& y) { return octet(x.all + y.all); }
  AGRAD_ALWAYS_INLINE friend octet operator-(const octet& x, const octet& y) { return octet(x.all - y.all); }
  AGRAD_ALWAYS_INLINE friend octet operator*(const octet& x, const octet& y) { return octet(x.all * y.all); }
  AGRAD_ALWAYS_INLINE friend octet operator/(const octet& x, const octet& y) { return octet(x.all / y.all); }
  AGRAD_ALWAYS_INLINE friend octet operator-(const octet& x) { return octet(-x.all); }
  AGRAD_ALWAYS_INLINE octet& operator+=(const octet& y) { return *this = *this + y; }
  AGRAD_ALWAYS_INLINE octet& operator-=(const octet& y) { return *this = *this - y; }

  AGRAD_ALWAYS_INLINE friend bool operator>(const octet& x, double y) { return (x.all > lanes<size>::same(y)).all_hold(); }
  AGRAD_ALWAYS_INLINE friend bool operator<(const octet& x, double y) { return (lanes<size>::same(y) > x.all).all_hold(); }

  AGRAD_ALWAYS_INLINE friend octet log(const octet& x) { return by_rule<log_rule>(x); }

  AGRAD_ALWAYS_INLINE double sum() const { return all.sum(); }

 private:
  /// Applies a rule with `values`, and the rule's `value` where packets are not accurate.
  template <class Rule>
  AGRAD_ALWAYS_INLINE static octet by_rule(const octet& x) {
    array from;
    x.store(from.data());
    array to = Rule::values(from);
    const auto lower = lanes<size>::same(Rule::packets.lower), upper = lanes<size>::same(Rule::packets.upper);
    if (AGRAD_UNLIKELY(!((x.all > lower) & (upper > x.all)).all_hold()))
      for (Eigen::Index i = 0; i < to.size(); ++i) to[i] = Rule::value(from[i]);
    return load(to.data());
  }
};

}  // namespace agrad::detail
