// Shares of lines, s_j = exp(x_j) / sum_i exp(x_i), as an operation, and the recording of derivatives with shares.
//
// The derivative of a log-sum-exp is a share. The formula exp(x_j - y) with the value y would lose the digits that y has before
// the decimal point, so shares are an operation of x, from which the largest entry is subtracted. There are two kernels:
// softmax is nan in lines whose largest entry is infinite, as in SciPy; shares are the derivatives of log-sum-exp in such
// lines: equal shares for several +inf, zeros for a line of -inf.
// Read first: program/kernels/log_sum_exp.hpp; program/derive/adjoints.hpp and program/derive/tangents.hpp use this file.
#pragma once

#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/recording/tracing.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

namespace agrad::kernels {

extern const kernel softmax_along;
extern const kernel shares_along;

}  // namespace agrad::kernels

namespace agrad {

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
  /// Returns the derivatives of the sum of counts times the logarithms of the shares: counts - total * shares. Where all counts
  /// are those of one entry, its derivative is the total times the shares of the others.
  traced slopes_of_log_shares(const span& x, const span& counts) const {
    const traced s = shares(x), c = number_of(in_, dense(counts)), total = spread(sum(c).slots_in(in_));
    const traced others = sum(either(traced(c == 0.0), s, traced(0.0)));
    return either(traced(c == total), times(total, spread(others.slots_in(in_))), c - times(total, s));
  }
  /// Returns the product of the shares' Jacobian, which is symmetric, with v.
  traced propagate_shares(const traced& shares, const traced& v) const {
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

#ifndef AGRAD_COMPILED
#include <agrad/program/kernels/shares.ipp>
#endif
