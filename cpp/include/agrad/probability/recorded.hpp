// Recorded probability: a probability rule as operations of a recording.
//
// The rule's term is written once more for whole arrays (`traced`), so that a recording has the elementwise operations that the
// term consists of, and then one operation that checks the arguments, which may change from run to run, and sums the terms.
// Single numbers among the arguments remain single: what depends on them alone is computed once. `record_terms` and
// `record_quantile` leave the entries as they are. Only the files that build the table of rules include this header.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include <agrad/probability/apply.hpp>
#include <agrad/probability/recorded_octets.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/recording/tracing.hpp>
#include <agrad/rules/density/density.hpp>

namespace agrad {

namespace detail {

/// Sums terms, which are operand 0: n numbers, or one number for all. The other operands are the rule's arguments, which are
/// only checked. integers: those of integers_of_terms.
struct sum_of_terms {
  static void forward(const operation& op, const run_context& context, double* values) { sum<1>(op, context, values); }
  static void reverse(const operation& op, const run_context& context, const double*, double* adjoints) {
    spread<1>(op, context, adjoints);
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double*, double* tangents) {
    sum<Width>(op, context, tangents);
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    spread<1>(op, context, w.adjoints);
    spread<Width>(op, context, w.adjoint_tangents);
  }

 private:
  static double copies(const operation& op, const run_context& context) {
    return integers_of_terms::at(context.integers + op.data).copies;
  }
  template <std::size_t Width>
  static void sum(const operation& op, const run_context& context, double* space) {
    const span& terms = op.operands[0];
    const std::size_t n = context.integers[op.data];
    const double* x = space + terms.first * Width;
    double* y = space + op.result * Width;
    if (terms.stride != 0) return sum_loops::sum_of<Width>(x, n, y);
    for (std::size_t k = 0; k < Width; ++k) y[k] = copies(op, context) * x[k];
  }
  template <std::size_t Width>
  static void spread(const operation& op, const run_context& context, double* space) {
    const span& terms = op.operands[0];
    const std::size_t n = context.integers[op.data], length = terms.stride == 0 ? 1 : n;
    const double factor = terms.stride == 0 ? copies(op, context) : 1.0;
    double* x = space + terms.first * Width;
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t k = 0; k < Width; ++k) x[i * Width + k] += factor * space[op.result * Width + k];
  }
};

/// Sums the terms of a rule after a check of the rule's arguments.
template <class Rule>
struct checked_sum : sum_of_terms {
  static constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);

  static bool fits(const operation_view& v) {
    bool each = v.has(static_cast<std::uint32_t>(arity + 1), 3) && v.op.count == 1;
    for (std::size_t k = 0; k <= arity; ++k) each = each && v.is_entrywise(k, v.integers[0]);
    return each && v.is_count(v.integers[0]);
  }
  static void forward(const operation& op, const run_context& context, double* values) {
    density_check<Rule>(context.integers[op.data], recorded_terms<Rule>::inputs(op, values));
    sum_of_terms::forward(op, context, values);
  }
};

template <class Rule, std::size_t... K>
traced probability_term(const typename Rule::parts& included, const std::array<traced, sizeof...(K)>& x,
                        std::index_sequence<K...>) {
  const traced term(Rule::term(included, Rule::prepare(included, x[K]...), x[K]...));
  const auto inside = Rule::in_support(x[K]...);
  if constexpr (std::is_same_v<std::decay_t<decltype(inside)>, std::true_type>)
    return term;
  else
    return either(inside, term, traced(Rule::outside));
}

/// Returns data without their derivative. What is computed from data that are inputs still changes from run to run.
inline span without_derivative(recorder& in, const span& x) {
  if (!x.active) return x;
  span y = x;
  y.first = in.apply(kernels::stop_gradient, x.count, &x, 1);
  return y;
}

/// Returns the product of n numbers, or of one number that stands for all.
inline span product_of_terms(recorder& in, const span& terms, std::size_t n) {
  const std::vector<slot> copies(terms.stride == 0 ? n : 0, terms.first);
  const span factors = copies.empty() ? terms : in.dense(copies.data(), n);
  const slot product = in.apply(kernels::product_along, 1, &factors, 1, {static_cast<std::uint32_t>(n), 1U});
  return {product, 1, 0, in.is_active(product)};
}

}  // namespace detail

/// The operation that ends a recorded probability rule.
template <class Rule>
inline constexpr kernel probability_kernel = kernels::make_of<detail::checked_sum<Rule>>(Rule::name, {dependence::terms, true})
                                                 .with_terms(detail::functions_of_terms<Rule>());

namespace detail {

template <class Rule>
span record_terms(recorder& in, const span* x, const typename Rule::parts& included) {
  constexpr std::size_t arity = std::size_t{Rule::arity};
  const composed_scope scope;
  std::array<traced, arity> arguments;
  for (std::size_t k = 0; k < arity; ++k) arguments[k] = number_of(in, is_data<Rule>(k) ? without_derivative(in, x[k]) : x[k]);
  return probability_term<Rule>(included, arguments, std::make_index_sequence<arity>{}).slots_in(in);
}

template <class Quantile, std::size_t... K>
span record_quantile(recorder& in, const span* x, bool is_upper, std::index_sequence<K...>) {
  const composed_scope scope;
  return traced(Quantile::term(is_upper, number_of(in, x[K])...)).slots_in(in);
}

}  // namespace detail

/// Records the terms of a rule on arguments that each are n > 0 numbers, or one number for all; the arguments are not checked.
/// Returns n slots, or one slot for all.
template <class Rule>
span record_terms(recorder& in, const span* x) {
  return detail::record_terms<Rule>(in, x, detail::recorded_parts<Rule>(false));
}

/// Records a quantile in the same way.
template <class Quantile>
span record_quantile(recorder& in, const span* x, bool is_upper) {
  return detail::record_quantile<Quantile>(in, x, is_upper,
                                           std::make_index_sequence<static_cast<std::size_t>(Quantile::arity)>{});
}

/// Records a rule on its arguments, each of n numbers or of one number (stride 0). Returns the slot of the sum or product.
template <class Rule>
slot record_probability(recorder& in, const span* x, std::size_t n, bool propto) {
  const composed_scope scope;
  constexpr std::size_t arity = std::size_t{Rule::arity};
  std::array<span, arity + 1> operands;
  std::uint32_t bits = propto ? 1 : 0;
  for (std::size_t k = 0; k < arity; ++k) {
    bits |= x[k].active ? 2U << k : 0U;
    operands[k + 1] = x[k];
    operands[k + 1].active = false;
  }
  const auto count = static_cast<std::uint32_t>(n);
  if (n == 0) {
    operands[0] = {in.constant(Rule::is_product ? 1.0 : 0.0), 1, 0, false};
    return in.apply(probability_kernel<Rule>, 1, operands.data(), arity + 1, {count, 1U, bits});
  }
  operands[0] = detail::record_terms<Rule>(in, x, detail::recorded_parts<Rule>(propto));
  if (Rule::is_product) operands[0] = detail::product_of_terms(in, operands[0], n);
  return in.apply(probability_kernel<Rule>, 1, operands.data(), arity + 1, {count, Rule::is_product ? 1U : count, bits});
}

}  // namespace agrad
