// Definitions of program/kernels/reduction.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/lines.hpp>
#include <agrad/program/kernels/recorded_products.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

/// Sums along an axis that is not the last: integers = {length, inner}. Eight neighbouring lines, a cache line of the operand,
/// are summed at a time, and halves are added, as in `sum_loops`. The order of the additions depends on the length alone.
template <class S>
struct sum_along_loops {
  static bool fits(const operation_view& v) { return lines::fit_reduced(v, 1); }
  static constexpr std::uint32_t tile = 8, short_length = 64;

  // sums[k] = the sum of x[j * inner + k] over j < length, for k < width <= tile
  static void sum_tile(const S* x, std::size_t length, std::size_t inner, std::uint32_t width, S* sums) {
    if (length > short_length) {
      S rest[tile];
      sum_tile(x, length / 2, inner, width, sums);
      sum_tile(x + length / 2 * inner, length - length / 2, inner, width, rest);
      for (std::uint32_t k = 0; k < width; ++k) sums[k] += rest[k];
      return;
    }
    std::fill(sums, sums + width, S(0));
    for (std::size_t j = 0; j < length; ++j, x += inner)
      for (std::uint32_t k = 0; k < width; ++k) sums[k] += x[k];
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::reduced(op, context);
    const S* x = values + op.operands[0].first;
    S* y = values + op.result;
    for (std::uint32_t i = 0; i < over.count; i += over.inner, x += std::size_t{over.length} * over.inner)
      for (std::uint32_t k = 0; k < over.inner; k += tile)
        sum_tile(x + k, over.length, over.inner, std::min(tile, over.inner - k), y + i + k);
  }
  static void reverse(const operation& op, const run_context& context, const S*, S* adjoints) {
    const lines over = lines::reduced(op, context);
    const S* y = adjoints + op.result;
    S* x = adjoints + op.operands[0].first;
    for (std::uint32_t i = 0; i < over.count; i += over.inner)
      for (std::uint32_t j = 0; j < over.length; ++j, x += over.inner)
        for (std::uint32_t k = 0; k < over.inner; ++k) x[k] += y[i + k];
  }
};

/// Products along an axis: integers = {length, inner}. The derivative is the product of the other entries, not a quotient.
template <class S>
struct product_along_loops {
  static constexpr recorded_formulas formulas{recorded_product};
  static bool fits(const operation_view& v) { return lines::fit_reduced(v, 1); }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::reduced(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const S* x = values + op.operands[0].first + over.begin(i);
      S y(1);
      for (std::uint32_t j = 0; j < over.length; ++j) y *= x[std::size_t{j} * over.inner];
      values[op.result + i] = y;
    }
  }
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    const lines over = lines::reduced(op, context);
    std::vector<S> before(over.length);  // before[j] = the product of the entries before j
    for (std::uint32_t i = 0; i < over.count; ++i) {
      S after = adjoints[op.result + i];
      if (is_constant_zero(after)) continue;
      const S* x = values + op.operands[0].first + over.begin(i);
      S* x_adjoint = adjoints + op.operands[0].first + over.begin(i);
      S so_far(1);
      for (std::uint32_t j = 0; j < over.length; ++j) {
        before[j] = so_far;
        so_far *= x[std::size_t{j} * over.inner];
      }
      for (std::uint32_t j = over.length; j-- > 0;) {
        x_adjoint[std::size_t{j} * over.inner] += before[j] * after;
        after *= x[std::size_t{j} * over.inner];
      }
    }
  }
};

AGRAD_INLINE constexpr kernel sum_along = make<sum_along_loops>("sum_along", {dependence::along_lines, true});
AGRAD_INLINE constexpr kernel product_along = make<product_along_loops>("product_along", {dependence::along_lines});

}  // namespace agrad::kernels
