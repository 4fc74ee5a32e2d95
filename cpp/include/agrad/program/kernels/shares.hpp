// Shares of lines, s_j = exp(x_j) / sum_i exp(x_i), as an operation, and the recording of derivatives with shares.
//
// The derivative of a log-sum-exp is a share. The formula exp(x_j - y) with the value y would lose the digits that y has before
// the decimal point, so shares are an operation of x, from which the largest entry is subtracted. There are two kernels:
// softmax is nan in lines whose largest entry is infinite, as in SciPy; shares are the derivatives of log-sum-exp in such
// lines: equal shares for several +inf, zeros for a line of -inf.
// Read first: program/kernels/log_sum_exp.hpp; program/derive/adjoints.hpp and program/derive/tangents.hpp use this file.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/machine/tracing.hpp>

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

  /// With a the adjoint of s, the adjoint of x_j is s_j (a_j - sum_i s_i a_i).
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

inline constexpr kernel softmax_along = make<softmax_loops>("softmax", {dependence::across_lines});
inline constexpr kernel shares_along = make<shares_loops>("shares", {dependence::across_lines});

}  // namespace kernels

namespace detail {

/// The lines of an operation, and formulas on these lines that are recorded.
class recorded_lines {
 public:
  using Index = std::uint32_t;

  /// n: the number of entries.
  recorded_lines(recorder& in, const operation& op, Index n)
      : in_(in), length_(in.code().integers[op.data]), inner_(in.code().integers[op.data + 1]), n_(n) {}

  /// Repeats the number of each line for all entries of the line.
  traced spread(const span& x) const {
    std::vector<slot> slots(n_);
    for (Index i = 0; i < n_; ++i) slots[i] = slot_at(x, i / (length_ * inner_) * inner_ + i % inner_);
    return number_of(in_, in_.consecutive(slots.data(), n_));
  }
  /// Returns the sums of lines.
  traced sum(const traced& x) const {
    const span all = dense(x.slots_in(in_));
    const std::size_t count = length_ == 0 ? 0 : n_ / length_;
    return number_of(in_, in_.consecutive(in_.apply(kernels::sum_along, count, &all, 1, {length_, inner_}), count));
  }
  /// Returns the shares of the entries of x, the derivatives of log-sum-exp.
  traced shares(const span& x) const {
    const span all = dense(x);
    return number_of(in_, in_.consecutive(in_.apply(kernels::shares_along, n_, &all, 1, {length_, inner_}), n_));
  }
  /// Returns the product of the shares' Jacobian, which is symmetric, with v.
  traced carry_shares(const traced& shares, const traced& v) const {
    return times(shares, v - spread(sum(times(shares, v)).slots_in(in_)));
  }

 private:
  span dense(const span& x) const {
    if (x.stride == 1 && x.count == n_) return x;
    const std::vector<slot> slots(n_, x.first);
    return in_.dense(slots.data(), n_);
  }

  recorder& in_;
  Index length_, inner_, n_;
};

}  // namespace detail

}  // namespace agrad
