// Octet: eight doubles computed side by side, the scalar for which the loops of densities compute a rule's term.
//
// An octet has eight doubles whatever the width of the machine's vectors, and the lanes are added in one fixed order: a sum is
// the same with every instruction set (up to fused multiply-adds, if the compiler is allowed to contract). Comparisons are made
// lane by lane. Single lanes are read from copies only: an octet that the compiler sees only as whole packets stays in a
// register.
// Read next: rules/density/octet_rules.hpp, the functions of octets; rules/density/loop.hpp, which uses octets.
#pragma once

#include <cstddef>

#include <agrad/base/lanes.hpp>
#include <agrad/rules/apply.hpp>

namespace agrad {

namespace detail {
struct octet;

/// The engine of octets; rules/density/octet_rules.hpp defines `apply`. Duals are above it, numbers below, as for variables.
struct octet_engine {
  static constexpr int rank = 1;
  using scalar = octet;
  template <class Rule, class... X>
  static octet apply(const X&... x);
};
}  // namespace detail

template <>
struct engine_of<detail::octet> {
  using type = detail::octet_engine;
};

namespace detail {

/// The outcome of a comparison of octets, for each lane.
struct octet_condition {
  comparisons<8> all;

  AGRAD_ALWAYS_INLINE friend octet_condition operator&&(const octet_condition& x, const octet_condition& y) {
    return {x.all & y.all};
  }
};
/// Whether a condition holds in all lanes; for one number, whether it holds.
AGRAD_ALWAYS_INLINE bool all_hold(const octet_condition& x) { return x.all.all_hold(); }
AGRAD_ALWAYS_INLINE bool all_hold(bool x) { return x; }
AGRAD_ALWAYS_INLINE double chosen(bool is_first, double x, double y) { return is_first ? x : y; }

struct octet {
  static constexpr std::size_t size = 8;
  lanes<size> all;

  AGRAD_ALWAYS_INLINE octet() : all(lanes<size>::same(0)) {}
  // Copies that are not trivial are copies of vectors, where GCC would call memmove for an array of octets.
  AGRAD_ALWAYS_INLINE octet(const octet& x) : all(x.all) {}
  AGRAD_ALWAYS_INLINE octet& operator=(const octet& x) {
    all = x.all;
    return *this;
  }
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

  AGRAD_ALWAYS_INLINE friend octet_condition operator>(const octet& x, const octet& y) { return {x.all > y.all}; }
  AGRAD_ALWAYS_INLINE friend octet_condition operator<(const octet& x, const octet& y) { return {y.all > x.all}; }
  AGRAD_ALWAYS_INLINE friend octet_condition operator>=(const octet& x, const octet& y) { return {x.all >= y.all}; }
  AGRAD_ALWAYS_INLINE friend octet_condition operator<=(const octet& x, const octet& y) { return {y.all >= x.all}; }
  AGRAD_ALWAYS_INLINE friend octet_condition operator==(const octet& x, const octet& y) { return {x.all == y.all}; }

  /// Returns each lane of x where the condition holds, else of y.
  AGRAD_ALWAYS_INLINE friend octet chosen(const octet_condition& is_first, const octet& x, const octet& y) {
    return octet(lanes<size>::chosen(is_first.all, x.all, y.all));
  }

  AGRAD_ALWAYS_INLINE double sum() const { return all.sum(); }
};

}  // namespace detail
}  // namespace agrad
