// Definitions of program/kernels/shares.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/log_sum_exp.ipp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/kernels/shares.hpp>
#include <agrad/program/recording/tracing.hpp>

namespace agrad {

namespace kernels {

/// integers = {length, inner}
template <class S, bool EndsInfinite>
struct line_shares_loops {
  static bool fits(const operation_view& v) { return lines::fit_whole(v); }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::whole(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i)
      line(values + op.operands[0].first + over.begin(i), values + op.result + over.begin(i), over);
  }
  static void line(const S* x, S* y, const lines& over) {
    double top = detail::primal(x[0]);
    for (std::uint32_t j = 1; j < over.length; ++j) {
      const double each = detail::primal(x[j * over.inner]);
      if (each > top || std::isnan(each)) top = each;
    }
    if (EndsInfinite && std::isinf(top)) {
      std::uint32_t count = 0;
      for (std::uint32_t j = 0; j < over.length; ++j) count += detail::primal(x[j * over.inner]) == infinity ? 1 : 0;
      for (std::uint32_t j = 0; j < over.length; ++j)
        y[j * over.inner] = S(detail::primal(x[j * over.inner]) == infinity ? 1.0 / count : 0.0);
      return;
    }
    S total(0);
    for (std::uint32_t j = 0; j < over.length; ++j) total += y[j * over.inner] = exp(x[j * over.inner] - top);
    for (std::uint32_t j = 0; j < over.length; ++j) y[j * over.inner] = y[j * over.inner] / total;
  }

  /// Propagates adjoints: with a the adjoint of s, the adjoint of x_j is s_j (a_j - sum_i s_i a_i).
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    if (!op.operands[0].active) return;
    const lines over = lines::whole(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const S *s = values + op.result + over.begin(i), *a = adjoints + op.result + over.begin(i);
      S* x = adjoints + op.operands[0].first + over.begin(i);
      S mean(0);
      for (std::uint32_t j = 0; j < over.length; ++j)
        if (!is_constant_zero(a[j * over.inner])) mean += s[j * over.inner] * a[j * over.inner];
      for (std::uint32_t j = 0; j < over.length; ++j) {
        const S centered = a[j * over.inner] - mean;
        if (!is_constant_zero(centered)) x[j * over.inner] += s[j * over.inner] * centered;
      }
    }
  }
};
template <class S>
using softmax_loops = line_shares_loops<S, false>;
template <class S>
using shares_loops = line_shares_loops<S, true>;

AGRAD_INLINE constexpr kernel softmax_along = make<softmax_loops>("softmax", {dependence::across_lines});
AGRAD_INLINE constexpr kernel shares_along = make<shares_loops>("shares", {dependence::across_lines});

}  // namespace kernels

}  // namespace agrad
