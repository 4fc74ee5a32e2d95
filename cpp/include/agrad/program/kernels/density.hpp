// Density kernels: the loops of rules/density/density.hpp as one operation of a program, for any number of terms.
//
// integers = {number of terms, 1 for propto}. Operands of stride 0 are scalars. propto drops constants
// (`recorded_parts`). Only the file that builds the table of rules includes this header.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include <agrad/program/machine/by_duals.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/recording/tracing.hpp>
#include <agrad/rules/density/density.hpp>

namespace agrad {

namespace detail {

/// Records the terms as operations on all of them, and their sum. integers as above.
template <class Rule>
std::vector<slot> recorded_density(recorder& in, const operation& op, const std::uint32_t* integers, const span* operands) {
  typename Rule::parts included;
  included.propto = integers[1] != 0;
  typename Rule::template each<traced> x, partial;
  for (std::size_t k = 0; k < x.size(); ++k) {
    included.active[k] = op.operands[k].active;
    x[k] = number_of(in, operands[k]);
  }
  if (is_nothing<Rule>(integers[0], included)) return {0};
  const typename Rule::template prepared<traced> prepared(x, included);
  traced terms = Rule::template term<false>(prepared, x, included, partial);
  const auto inside = Rule::in_support(x);
  if constexpr (!std::is_same_v<std::decay_t<decltype(inside)>, bool>) terms = either(inside, terms, traced(-infinity));
  const span each = terms.slots_in(in);
  if (each.stride == 0) return {(terms * static_cast<double>(integers[0])).slots_in(in).first};
  return {in.apply(kernels::sum, 1, &each, 1, {integers[0]})};
}

template <class Rule>
struct density_of {
  template <class S>
  struct loops {
    static constexpr recorded_formulas formulas{recorded_density<Rule>};
    static constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);

    static bool fits(const operation_view& v) {
      bool each = v.has(static_cast<std::uint32_t>(arity), 2) && v.op.count == 1;
      for (std::size_t k = 0; k < arity; ++k) each = each && v.is_entrywise(k, v.integers[0]);
      return each && v.is_count(v.integers[0]);
    }

    static density_inputs<Rule, S> inputs(const operation& op, const S* values) {
      density_inputs<Rule, S> in;
      for (std::size_t k = 0; k < arity; ++k)
        in[k] = {values + op.operands[k].first, op.operands[k].stride, op.operands[k].active};
      return in;
    }

    static void forward(const operation& op, const run_context& context, S* values) {
      const std::uint32_t* integers = context.integers + op.data;
      const auto in = inputs(op, values);
      density_check<Rule>(integers[0], in);
      values[op.result] = density_value<Rule>(integers[0], in, recorded_parts<Rule>(integers[1] != 0));
    }

    static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
      const S adjoint_of_sum = adjoints[op.result];
      if (is_constant_zero(adjoint_of_sum)) return;  // an infinite derivative of an unused density must not become nan
      const std::uint32_t* integers = context.integers + op.data;
      std::array<S*, arity> adjoint;
      for (std::size_t k = 0; k < arity; ++k) adjoint[k] = adjoints + op.operands[k].first;
      density_adjoint<Rule>(integers[0], inputs(op, values), recorded_parts<Rule>(integers[1] != 0), adjoint_of_sum, adjoint);
    }
  };
};

}  // namespace detail

template <class Rule>
inline constexpr kernel density_kernel = kernels::make<detail::density_of<Rule>::template loops>(Rule::name,
                                                                                                 {dependence::terms});

}  // namespace agrad
