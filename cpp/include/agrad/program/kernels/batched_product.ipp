// Definitions of program/kernels/batched_product.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/batched_product.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/product_loops.hpp>
#include <agrad/program/kernels/small_products.hpp>
#include <agrad/program/recording/record.hpp>

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
  static small_product shape_of(const operation& op, const run_context& context) {
    const std::uint32_t* n = context.integers + op.data;
    return {n[0], n[1], n[2]};
  }

  /// Where all left factors have one right factor, they are the rows of one matrix.
  static bool is_one_product(const std::uint32_t* n) { return n[4] != 0 && n[5] == 0; }
  static std::array<std::uint32_t, 3> shape_of_all(const std::uint32_t* n) { return {n[0] * n[3], n[1], n[2]}; }
  /// Runs the loops of one product of all rows.
  template <class Run>
  static void as_one(const operation& op, const run_context& context, const Run& run) {
    const std::array<std::uint32_t, 3> shape = shape_of_all(context.integers + op.data);
    operation one = op;
    one.data = 0;
    run_context own = context;
    own.integers = shape.data();
    run(one, own);
  }

  static void forward(const operation& op, const run_context& context, double* values) {
    const small_product shape = shape_of(op, context);
    if (is_one_product(context.integers + op.data))
      as_one(op, context, [&](const operation& one, const run_context& own) { product_loops::forward(one, own, values); });
    else if (shape.is_small() && shape.k > 0)
      each(op, context, [&](const operation& one) {
        shape.multiply(values + one.operands[0].first, values + one.operands[1].first, values + one.result);
      });
    else
      each(op, context, [&](const operation& one) { product_loops::forward(one, context, values); });
  }

  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    const small_product shape = shape_of(op, context);
    if (is_one_product(context.integers + op.data) && are_factors_finite(op, values, adjoints))
      as_one(op, context,
             [&](const operation& one, const run_context& own) { product_loops::reverse(one, own, values, adjoints); });
    else if (shape.is_small() && shape.m > 0)
      each(op, context, [&](const operation& one) { reverse_small(one, shape, context, values, adjoints); });
    else
      each(op, context, [&](const operation& one) { product_loops::reverse(one, context, values, adjoints); });
  }

  /// Returns whether no factor is infinite or nan, so that rows without adjoints add zeros.
  static bool are_factors_finite(const operation& op, const double* values, const double* adjoints) {
    const auto finite = [&](const span& x) { return are_finite(values + x.first, x.count); };
    return finite(op.operands[0]) && finite(op.operands[1]) && are_finite(adjoints + op.result, op.count);
  }

  static void reverse_small(const operation& one, const small_product& shape, const run_context& context, const double* values,
                            double* adjoints) {
    const double* y = adjoints + one.result;
    const std::size_t size = shape.n * shape.m;
    if (!are_finite(y, size)) return product_loops::reverse(one, context, values, adjoints);
    if (std::all_of(y, y + size, [](double each) { return each == 0; })) return;  // as in product_loops
    const span &a = one.operands[0], &b = one.operands[1];
    if (a.active) shape.add_to_left(y, values + b.first, adjoints + a.first);
    if (b.active) shape.add_to_right(y, values + a.first, adjoints + b.first);
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
