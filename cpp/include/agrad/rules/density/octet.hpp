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
#include <cstring>

#include <agrad/base/error.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad::detail {

struct octet {
  static constexpr std::size_t size = 8;
  using array = Eigen::Array<double, size, 1>;
#if defined(__GNUC__) || defined(__clang__)
  // Vectors of the compiler, which uses several registers on machines with shorter vectors; arrays would not stay in registers.
  typedef double lanes_type __attribute__((vector_size(size * sizeof(double))));
#else
  using lanes_type = array;
#endif
  lanes_type lanes;

  octet() = default;
  AGRAD_ALWAYS_INLINE octet(double x)
      : octet(load(array(array::Constant(x)).data())) {}  // NOLINT: a number is the same in all lanes
  AGRAD_ALWAYS_INLINE explicit octet(const lanes_type& x) : lanes(x) {}
  AGRAD_ALWAYS_INLINE static octet load(const double* from) {
    octet x;
    std::memcpy(&x.lanes, from, sizeof x.lanes);
    return x;
  }
  AGRAD_ALWAYS_INLINE void store(double* to) const { std::memcpy(to, &lanes, sizeof lanes); }

  AGRAD_ALWAYS_INLINE friend octet operator+(const octet& x, const octet& y) { return octet(x.lanes + y.lanes); }
  AGRAD_ALWAYS_INLINE friend octet operator-(const octet& x, const octet& y) { return octet(x.lanes - y.lanes); }
  AGRAD_ALWAYS_INLINE friend octet operator*(const octet& x, const octet& y) { return octet(x.lanes * y.lanes); }
  AGRAD_ALWAYS_INLINE friend octet operator/(const octet& x, const octet& y) { return octet(x.lanes / y.lanes); }
  AGRAD_ALWAYS_INLINE friend octet operator-(const octet& x) { return octet(-x.lanes); }
  AGRAD_ALWAYS_INLINE octet& operator+=(const octet& y) { return *this = *this + y; }
  AGRAD_ALWAYS_INLINE octet& operator-=(const octet& y) { return *this = *this - y; }

  AGRAD_ALWAYS_INLINE friend bool operator>(const octet& x, double y) {
    double of[size];
    x.store(of);
    bool all = true;
    for (const double lane : of) all &= lane > y;
    return all;
  }
  AGRAD_ALWAYS_INLINE friend bool operator<(const octet& x, double y) { return -x > -y; }

  AGRAD_ALWAYS_INLINE friend octet log(const octet& x) { return by_rule<log_rule>(x); }

  /// The sum of the lanes: halves are added to halves.
  AGRAD_ALWAYS_INLINE double sum() const {
    double of[size];
    store(of);
    return ((of[0] + of[4]) + (of[2] + of[6])) + ((of[1] + of[5]) + (of[3] + of[7]));
  }

 private:
  /// Applies a rule with `values`, and the rule's `value` where packets are not accurate.
  template <class Rule>
  AGRAD_ALWAYS_INLINE static octet by_rule(const octet& x) {
    array from;
    x.store(from.data());
    array to = Rule::values(from);
    if (AGRAD_UNLIKELY(!(x > Rule::packets.lower && x < Rule::packets.upper)))
      for (Eigen::Index i = 0; i < to.size(); ++i) to[i] = Rule::value(from[i]);
    return load(to.data());
  }
};

}  // namespace agrad::detail
