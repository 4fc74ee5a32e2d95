// Kernels made from rules: the loops over spans that every elementwise rule gets, for doubles and for lanes.
//
// Only the file that builds the table of rows includes this header; everybody else sees `kernel` pointers.
#pragma once

#include <tuple>
#include <utility>

#include <agrad/program/operation.hpp>

namespace agrad {

namespace detail {

template <class Rule, class S>
struct elementwise {
  template <std::size_t... I>
  static void forward(const operation& op, S* values, std::index_sequence<I...>) {
    S* y = values + op.result;
    const S* x[] = {values + op.operands[I].first...};
    const std::size_t stride[] = {op.operands[I].stride...};
    for (std::size_t i = 0; i < op.count; ++i) y[i] = apply<Rule>(x[I][i * stride[I]]...);
  }

  template <std::size_t... I>
  static void reverse(const operation& op, const S* values, S* adjoints, std::index_sequence<I...> each) {
    (reverse_operand<static_cast<int>(I)>(op, values, adjoints, each), ...);
  }

  template <int J, std::size_t... I>
  static void reverse_operand(const operation& op, const S* values, S* adjoints, std::index_sequence<I...>) {
    if (!op.operands[J].active) return;
    const S* y = values + op.result;
    const S* y_adjoint = adjoints + op.result;
    const S* x[] = {values + op.operands[I].first...};
    const std::size_t stride[] = {op.operands[I].stride...};
    S* x_adjoint = adjoints + op.operands[J].first;
    for (std::size_t i = 0; i < op.count; ++i) {
      if (is_constant_zero(y_adjoint[i])) continue;  // an infinite derivative of an unused entry must not become nan
      x_adjoint[i * stride[J]] += Rule::derivative(wrt<J>{}, x[I][i * stride[I]]..., y[i]) * y_adjoint[i];
    }
  }

  using every = std::make_index_sequence<static_cast<std::size_t>(Rule::arity)>;
  static constexpr kernel_loops<S> loops{
      [](const operation& op, const run_context&, S* values) { forward(op, values, every{}); },
      [](const operation& op, const run_context&, const S* values, S* adjoints) { reverse(op, values, adjoints, every{}); }};
};

}  // namespace detail

template <class Rule>
inline constexpr kernel elementwise_kernel{Rule::name, detail::elementwise<Rule, double>::loops,
                                           detail::elementwise<Rule, lanes>::loops, dependence_of_rule<Rule, lanes>()};

}  // namespace agrad
