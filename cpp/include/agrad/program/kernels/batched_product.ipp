// Definitions of program/kernels/batched_product.hpp.
#pragma once

#include <numeric>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/batched_product.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/product_loops.hpp>
#include <agrad/program/machine/record.hpp>

namespace agrad {

namespace detail {

struct batched_product_loops {
  static bool fits(const operation_view& v) {
    if (!v.has(2, 6)) return false;
    const std::uint32_t *n = v.integers, left = v.op.operands[0].count, right = v.op.operands[1].count;
    return v.is_product(v.op.count, n[3], n[0], n[2]) && v.is_product(left, n[4] != 0 ? n[3] : 1, n[0], n[1]) &&
           v.is_product(right, n[5] != 0 ? n[3] : 1, n[1], n[2]) && v.is_dense(0, left) && v.is_dense(1, right);
  }

  /// Records each product by itself.
  static std::vector<slot> record(recorder& in, const operation& op, const std::uint32_t* n, const span* x) {
    std::vector<slot> result(op.count);
    for (std::uint32_t i = 0; i < n[3]; ++i) {
      const span factors[] = {in.consecutive(x[0].first + (n[4] != 0 ? i * n[0] * n[1] : 0), std::size_t{n[0]} * n[1]),
                              in.consecutive(x[1].first + (n[5] != 0 ? i * n[1] * n[2] : 0), std::size_t{n[1]} * n[2])};
      const std::size_t size = std::size_t{n[0]} * n[2];
      std::iota(result.data() + i * size, result.data() + (i + 1) * size,
                in.apply(kernels::product, size, factors, 2, {n[0], n[1], n[2]}));
    }
    return result;
  }
  static constexpr recorded_formulas formulas{record};

  template <class Multiply>
  static void each(const operation& op, const run_context& context, const Multiply& multiply) {
    const std::uint32_t* n = context.integers + op.data;
    operation one = op;
    for (std::uint32_t i = 0; i < n[3]; ++i) {
      multiply(one);
      one.result += n[0] * n[2];
      one.operands[0].first += n[4] != 0 ? n[0] * n[1] : 0;
      one.operands[1].first += n[5] != 0 ? n[1] * n[2] : 0;
    }
  }
  static void forward(const operation& op, const run_context& context, double* values) {
    each(op, context, [&](const operation& one) { product_loops::forward(one, context, values); });
  }
  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    each(op, context, [&](const operation& one) { product_loops::reverse(one, context, values, adjoints); });
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double* values, double* tangents) {
    each(op, context, [&](const operation& one) { product_loops::tangent<Width>(one, context, values, tangents); });
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    each(op, context, [&](const operation& one) { product_loops::second<Width>(one, context, w); });
  }
};

}  // namespace detail

namespace kernels {
AGRAD_INLINE constexpr kernel batched_product =
    make_of<agrad::detail::batched_product_loops>("batched_product", {dependence::products});
}

}  // namespace agrad
