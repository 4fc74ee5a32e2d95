// Definitions of program/kernels/log_sum_exp.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/extremum.ipp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/recording/tracing.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad::kernels {

/// Records the sum with weights b; without weights, the recorded reverse pass has its own formula.
inline std::vector<slot> recorded_log_sum_exp(recorder& in, const operation& op, const std::uint32_t* integers,
                                              const span* operands) {
  const lines over{integers[0], integers[1], op.count};
  const std::uint32_t n = operands[0].count;
  if (op.arity == 1 || n == 0) return {};
  std::vector<double> largest(op.count, -infinity), shifts(n);
  const auto each = [&](const auto& use) {
    for (std::uint32_t i = 0; i < over.count; ++i)
      for (std::uint32_t j = 0; j < over.length; ++j) use(i, over.begin(i) + std::size_t{j} * over.inner);
  };
  each([&](std::uint32_t i, std::size_t at) {
    if (in.value(operands[1].first + static_cast<slot>(at)) != 0)
      largest[i] = std::max(largest[i], in.value(operands[0].first + static_cast<slot>(at)));
  });
  for (double& top : largest) top = std::isfinite(top) ? top : 0.0;
  each([&](std::uint32_t i, std::size_t at) { shifts[at] = largest[i]; });
  const auto constant = [&](const std::vector<double>& x) {
    return agrad::detail::number_of(in, in.consecutive(in.constant(x.data(), x.size()), x.size()));
  };
  const traced powers = exp(agrad::detail::number_of(in, operands[0]) - constant(shifts));
  span terms = agrad::detail::times(powers, agrad::detail::number_of(in, operands[1])).slots_in(in);
  terms.stride = 1;
  const slot sums = in.apply(sum_along, op.count, &terms, 1, {over.length, over.inner});
  const span y = (log(agrad::detail::number_of(in, in.consecutive(sums, op.count))) + constant(largest)).slots_in(in);
  std::vector<slot> result(op.count);
  for (std::uint32_t i = 0; i < op.count; ++i) result[i] = agrad::detail::slot_at(y, i);
  return result;
}

/// integers = {length, inner}; operands: x, and b if there are two.
template <class S>
struct log_sum_exp_loops {
  static constexpr recorded_formulas formulas{recorded_log_sum_exp};
  static bool fits(const operation_view& v) { return lines::fit_reduced(v, v.op.arity == 2 ? 2 : 1); }
  struct line {
    const S *x, *b;  // b is null without weights
    std::size_t inner;
    std::uint32_t length;
    const S& exponent(std::uint32_t j) const { return x[j * inner]; }
    bool counts(std::uint32_t j) const { return b == nullptr || detail::primal(b[j * inner]) != 0; }
    S term(std::uint32_t j, const S& shift) const {
      if (!counts(j) && is_constant_zero(b[j * inner])) return S(0);  // also where x_j is not finite
      const S power = exp(exponent(j) - shift);
      return b == nullptr ? power : b[j * inner] * power;
    }
  };
  static line line_of(const operation& op, const S* values, const lines& over, std::uint32_t i) {
    const std::size_t begin = over.begin(i);
    return {values + op.operands[0].first + begin, op.arity == 2 ? values + op.operands[1].first + begin : nullptr, over.inner,
            over.length};
  }
  static std::uint32_t largest(const line& l) {
    std::uint32_t best = 0;
    for (std::uint32_t j = 0; j < l.length; ++j) {
      if (!l.counts(j)) continue;
      if (std::isnan(detail::primal(l.exponent(j)))) return j;
      if (!l.counts(best) || detail::primal(l.exponent(j)) > detail::primal(l.exponent(best))) best = j;
    }
    return best;
  }
  static S value(const line& l) {
    if (l.length == 0) return S(-infinity);
    const std::uint32_t top = largest(l);
    const double m = detail::primal(l.exponent(top));
    if (!std::isfinite(m)) return shared(l, m);
    S total(0);
    for (std::uint32_t j = 0; j < l.length; ++j)
      if (j != top || l.b != nullptr) total += l.term(j, S(m));
    return l.b != nullptr ? S(m) + log(total) : S(m) + log1p(total + expm1(l.exponent(top) - m));
  }
  // Returns the value where the largest exponent is infinite or nan, which is nan beside a weight of nan. For several +inf the
  // tangent is the mean of their tangents.
  static S shared(const line& l, double m) {
    for (std::uint32_t j = 0; j < l.length && l.b != nullptr; ++j)
      if (std::isnan(detail::primal(l.b[j * l.inner]))) return S(quiet_nan);
    S y(m);
    if constexpr (!std::is_same_v<S, double>) {
      const std::uint32_t count = infinite(l, m);
      for (std::uint32_t j = 0; j < l.length && m > 0; ++j)
        if (detail::primal(l.exponent(j)) == m)
          for (std::size_t k = 0; k < y.tangent.size(); ++k) y.tangent[k] += l.exponent(j).tangent[k] / count;
    }
    return y;
  }
  static std::uint32_t infinite(const line& l, double m) {
    std::uint32_t count = 0;
    for (std::uint32_t j = 0; j < l.length; ++j) count += detail::primal(l.exponent(j)) == m ? 1U : 0U;
    return count;
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::reduced(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i) values[op.result + i] = value(line_of(op, values, over, i));
  }
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    const lines over = lines::reduced(op, context);
    std::vector<S> powers(over.length);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const S &seed = adjoints[op.result + i], &y = values[op.result + i];
      const double top = detail::primal(y);
      if (is_constant_zero(seed)) continue;
      const line l = line_of(op, values, over, i);
      const std::size_t begin = over.begin(i);
      S* x_adjoint = op.operands[0].active ? adjoints + op.operands[0].first + begin : nullptr;
      S* b_adjoint = op.arity == 2 && op.operands[1].active ? adjoints + op.operands[1].first + begin : nullptr;
      if (top == -infinity) {
        if (b_adjoint != nullptr) open(l, seed, b_adjoint);
        continue;
      }
      if (top == infinity) {
        if (x_adjoint != nullptr) share(l, seed, x_adjoint);
        continue;
      }
      spread(l, y, seed, powers.data(), x_adjoint, b_adjoint);
    }
  }
  // All weights are zero: the slope of a weight is infinite, unless its term is zero whatever the weight.
  static void open(const line& l, const S& seed, S* b_adjoint) {
    S total(0);
    for (std::uint32_t j = 0; j < l.length; ++j) total += l.b[j * l.inner];
    for (std::uint32_t j = 0; j < l.length; ++j)
      if (detail::primal(l.exponent(j)) > -infinity) b_adjoint[j * l.inner] += seed / total;
  }
  static void share(const line& l, const S& seed, S* x_adjoint) {
    const std::uint32_t count = infinite(l, infinity);
    for (std::uint32_t j = 0; j < l.length; ++j)
      if (detail::primal(l.exponent(j)) == infinity) x_adjoint[j * l.inner] += seed / static_cast<double>(count);
  }
  // The shares exp(x_j - y) lose the digits that y has before the decimal point; division by their sum restores these digits.
  static void spread(const line& l, const S& y, const S& seed, S* powers, S* x_adjoint, S* b_adjoint) {
    S total(0);
    for (std::uint32_t j = 0; j < l.length; ++j) {
      const bool nothing = !l.counts(j) && detail::primal(l.exponent(j)) == infinity;
      powers[j] = nothing ? S(0) : S(exp(l.exponent(j) - y));
      total += l.b == nullptr ? powers[j] : S(l.b[j * l.inner] * powers[j]);
    }
    const S unit = seed / total;
    for (std::uint32_t j = 0; j < l.length; ++j) {
      const S part = powers[j] * unit;
      if (x_adjoint != nullptr) x_adjoint[j * l.inner] += l.b == nullptr ? part : S(l.b[j * l.inner] * part);
      if (b_adjoint != nullptr) b_adjoint[j * l.inner] += part;
    }
  }
};

AGRAD_INLINE constexpr kernel log_sum_exp_along =
    make<log_sum_exp_loops>("logsumexp", {dependence::along_lines, false, false, {}, 0, true});

}  // namespace agrad::kernels
