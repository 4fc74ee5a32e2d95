// A right-hand side for scalars of any type, recorded or not, that several tests share.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include <agrad/rules/promote.hpp>
#include <agrad/tape/eigen.hpp>

namespace systems {

/// Reaction and diffusion on a line, with a speed of growth for each state: a band of three. Forced: by something in time.
template <bool Forced = true>
struct reaction {
  template <class T, class Y, class P>
  auto operator()(const T& t, const Y& y, const P& speeds) const {
    using std::exp;
    using std::sin;
    const Eigen::Index n = y.size();
    agrad::vector_of<agrad::promoted_t<T, Y, P>> f(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      f[i] = speeds[i] * y[i] * (1.0 - y[i]) + 0.3 * exp(-y[i]);
      if constexpr (Forced) f[i] += 0.2 * sin(t);
      if (i > 0) f[i] += 2.0 * (y[i - 1] - y[i]);
      if (i + 1 < n) f[i] += 2.0 * (y[i + 1] - y[i]);
    }
    return f;
  }
};

}  // namespace systems
