// Definitions of program/kernels/lookup.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/extremum.ipp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

/// np.interp(x, xp, fp): operands x, xp, fp; xp increases. At a point of xp the derivative with respect to x is the slope of
/// the piece to the right; left and right of the table the derivative is zero.
template <class S>
struct interpolation_loops {
  static bool fits(const operation_view& v) {
    const std::uint32_t points = v.op.operands[1].count;
    return v.has(3, 0) && points > 0 && v.is_dense(0, v.op.count) && v.is_dense(1, points) && v.is_dense(2, points);
  }
  /// Returns j of the piece [xp[j], xp[j + 1]) that contains x: -1 before the first point, m - 1 from the last point on.
  static std::ptrdiff_t piece(const S* xp, std::uint32_t m, double x) {
    const auto less = [](double a, const S& b) { return a < detail::primal(b); };
    return std::upper_bound(xp, xp + m, x, less) - xp - 1;
  }
  static S value(const S& x, const S* xp, const S* fp, std::uint32_t m) {
    const double at = detail::primal(x);
    if (std::isnan(at)) return x;
    const std::ptrdiff_t j = piece(xp, m, at);
    if (j < 0) return fp[0];
    if (j == m - 1) return fp[m - 1];
    if (std::is_same_v<S, double> && at == detail::primal(xp[j])) return fp[j];  // also beside an infinite neighbour
    return fp[j] + (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]) * (x - xp[j]);
  }
  static void forward(const operation& op, const run_context&, S* values) {
    const S *x = values + op.operands[0].first, *xp = values + op.operands[1].first, *fp = values + op.operands[2].first;
    for (std::uint32_t i = 0; i < op.count; ++i) values[op.result + i] = value(x[i], xp, fp, op.operands[1].count);
  }
  static void reverse(const operation& op, const run_context&, const S* values, S* adjoints) {
    const S *x = values + op.operands[0].first, *xp = values + op.operands[1].first, *fp = values + op.operands[2].first;
    S *xp_adjoint = adjoints + op.operands[1].first, *fp_adjoint = adjoints + op.operands[2].first;
    const std::uint32_t m = op.operands[1].count;
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const S& seed = adjoints[op.result + i];
      const double at = detail::primal(x[i]);
      if (is_constant_zero(seed) || std::isnan(at)) continue;
      const std::ptrdiff_t j = piece(xp, m, at);
      if (j < 0 || j == m - 1) {
        if (op.operands[2].active) fp_adjoint[std::max<std::ptrdiff_t>(j, 0)] += seed;
        continue;
      }
      const S slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]), t = (x[i] - xp[j]) / (xp[j + 1] - xp[j]);
      if (op.operands[0].active) adjoints[op.operands[0].first + i] += slope * seed;
      if (op.operands[1].active) {
        xp_adjoint[j] -= slope * (1.0 - t) * seed;
        xp_adjoint[j + 1] -= slope * t * seed;
      }
      if (op.operands[2].active) {
        fp_adjoint[j] += (1.0 - t) * seed;
        fp_adjoint[j + 1] += t * seed;
      }
    }
  }
};

/// Adds entries of v to x at places, which may repeat: operands x, v and the places, constants.
template <class S>
struct scatter_add_loops {
  /// Returns whether the places are constants within the result.
  static bool fits(const operation_view& v) {
    const span& places = v.op.operands[2];
    if (!v.has(3, 0) || !v.is_dense(0, v.op.count) || !v.is_dense(1, places.count) || !v.is_dense(2, places.count))
      return false;
    for (std::uint32_t i = 0; i < places.count; ++i) {
      if (!v.is_constant(places.first + i)) return false;
      const double at = v.fixed[places.first + i];
      if (!(at >= 0 && at < v.op.count)) return false;
    }
    return true;
  }
  static std::size_t place(const operation& op, const S* values, std::uint32_t i) {
    return static_cast<std::size_t>(detail::primal(values[op.operands[2].first + i]));
  }
  static void forward(const operation& op, const run_context&, S* values) {
    const S *x = values + op.operands[0].first, *v = values + op.operands[1].first;
    S* y = values + op.result;
    std::copy(x, x + op.count, y);
    for (std::uint32_t i = 0; i < op.operands[1].count; ++i) y[place(op, values, i)] += v[i];
  }
  static void reverse(const operation& op, const run_context&, const S* values, S* adjoints) {
    const S* y = adjoints + op.result;
    S *x = adjoints + op.operands[0].first, *v = adjoints + op.operands[1].first;
    if (op.operands[0].active)
      for (std::uint32_t i = 0; i < op.count; ++i) x[i] += y[i];
    if (op.operands[1].active)
      for (std::uint32_t i = 0; i < op.operands[1].count; ++i) v[i] += y[place(op, values, i)];
  }
};

AGRAD_INLINE constexpr kernel interpolation = make<interpolation_loops>("interp", {dependence::looked_up});
AGRAD_INLINE constexpr kernel scatter_add = make<scatter_add_loops>("scatter_add", {dependence::scattered, true});

}  // namespace agrad::kernels
