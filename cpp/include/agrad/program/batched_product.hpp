// Products of many matrices at once, as np.matmul and np.einsum need them.
//
// integers = {rows of a, columns of a, columns of b, products, a's are different, b's are different}: of the operands either as
// many matrices follow each other as there are products, or one serves for all. Read first: product_loops in
// program/structure.hpp, which carries out each of them.
#pragma once

#include <agrad/program/structure.hpp>

namespace agrad::kernels {

template <class S>
struct batched_product_loops {
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
  static void forward(const operation& op, const run_context& context, S* values) {
    each(op, context, [&](const operation& one) { product_loops<S>::forward(one, context, values); });
  }
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    each(op, context, [&](const operation& one) { product_loops<S>::reverse(one, context, values, adjoints); });
  }
};

inline constexpr kernel batched_product = make<batched_product_loops>("batched_product", {dependence::products});

}  // namespace agrad::kernels
