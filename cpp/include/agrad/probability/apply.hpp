// Apply probability: computes a probability rule on numbers, duals and variables of the tape.
//
// An argument is a number or a sequence of a common length, as for the densities of rules/density, whose checks and operands
// are used here. Terms are computed on the arguments' own scalars: what is a plain number costs no derivative.
// Read next: probability/on_tape.hpp, an engine; probability/recorded.hpp, the same for arrays of a recording.
#pragma once

#include <agrad/probability/direct.hpp>
#include <agrad/probability/on_tape.hpp>

namespace agrad {

namespace detail {
template <class Rule, bool propto, class... X>
auto apply_probability_evaluated(const X&... x) {
  using S = typename common_scalar<scalar_of_t<X>...>::type;
  return probability_on<Rule, S, propto>::apply(density_size<Rule>(x...), x...);
}
}  // namespace detail

/// Returns the sum, or for distribution functions the product, of a rule's terms over its arguments.
template <class Rule, bool propto = false, class... X>
auto apply_probability(const X&... x) {
  static_assert(sizeof...(X) == Rule::arity, "the function takes another number of arguments");
  return detail::apply_probability_evaluated<Rule, propto>(detail::evaluated_argument(x)...);
}

/// A distribution function, or the log probability of an interval, of the arguments that its rule names.
template <class Rule>
struct probability_function {
  template <class... X>
  auto operator()(const X&... x) const {
    return apply_probability<Rule>(x...);
  }
};

}  // namespace agrad
