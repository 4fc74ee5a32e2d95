// Definitions of program/kernels/cumulative.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/lines.hpp>
#include <agrad/program/kernels/recorded_products.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

/// integers = {length, inner}
template <class S>
struct cumulative_sum_loops {
  static bool fits(const operation_view& v) { return lines::fit_whole(v); }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::whole(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const std::size_t begin = over.begin(i);
      const S* x = values + op.operands[0].first + begin;
      S* y = values + op.result + begin;
      S total(0);
      for (std::uint32_t j = 0; j < over.length; ++j) {
        total += x[std::size_t{j} * over.inner];
        y[std::size_t{j} * over.inner] = total;
      }
    }
  }
  static void reverse(const operation& op, const run_context& context, const S*, S* adjoints) {
    const lines over = lines::whole(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const std::size_t begin = over.begin(i);
      S* x = adjoints + op.operands[0].first + begin;
      const S* y = adjoints + op.result + begin;
      S total(0);
      for (std::uint32_t j = over.length; j-- > 0;) {
        total += y[std::size_t{j} * over.inner];
        x[std::size_t{j} * over.inner] += total;
      }
    }
  }
};

/// integers = {length, inner}
template <class S>
struct cumulative_product_loops {
  static constexpr recorded_formulas formulas{recorded_cumulative_product};
  static bool fits(const operation_view& v) { return lines::fit_whole(v); }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::whole(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const std::size_t begin = over.begin(i);
      const S* x = values + op.operands[0].first + begin;
      S* y = values + op.result + begin;
      S total(1);
      for (std::uint32_t j = 0; j < over.length; ++j) {
        total *= x[std::size_t{j} * over.inner];
        y[std::size_t{j} * over.inner] = total;
      }
    }
  }
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    const lines over = lines::whole(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const std::size_t begin = over.begin(i);
      const S *x = values + op.operands[0].first + begin, *y = values + op.result + begin;
      const S* y_adjoint = adjoints + op.result + begin;
      S* x_adjoint = adjoints + op.operands[0].first + begin;
      S total(0);
      for (std::uint32_t j = over.length; j-- > 0;) {
        const std::size_t here = std::size_t{j} * over.inner;
        total += y_adjoint[here];
        if (is_constant_zero(total)) continue;  // an infinite factor of an unused product must not become nan
        x_adjoint[here] += j > 0 ? y[here - over.inner] * total : total;
        total *= x[here];
      }
    }
  }
};

AGRAD_INLINE constexpr kernel cumulative_sum = make<cumulative_sum_loops>("cumulative_sum", {dependence::before_in_line, true});
AGRAD_INLINE constexpr kernel cumulative_product =
    make<cumulative_product_loops>("cumulative_product", {dependence::before_in_line});

}  // namespace agrad::kernels
