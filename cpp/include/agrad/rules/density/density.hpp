// Density: sums of a density rule's terms, their partial derivatives and adjoints, and the checks of arguments.
//
// An argument has one value for all terms (stride 0) or one value for each term (stride 1), so that one loop
// (rules/density/loop.hpp) on plain pointers covers all mixtures of scalars and arrays, for the tape, recorded programs and
// duals.
// Read next: rules/density/apply.hpp, which calls these functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include <agrad/rules/density/loop.hpp>
#include <agrad/rules/primal.hpp>

namespace agrad {

namespace detail {

/// Returns the parts of a rule that depend on an argument of a call whose derivatives are wanted, or all.
template <class Rule, class S>
typename Rule::parts parts_of(const density_inputs<Rule, S>& in, bool propto) {
  typename Rule::parts parts;
  parts.propto = propto;
  for (std::size_t k = 0; k < in.size(); ++k) parts.active[k] = in[k].active;
  return parts;
}

/// Returns the parts that depend on an argument that has derivatives, or all: the same ones for each call of a recording, whose
/// values must not depend on which derivatives are wanted.
template <class Rule>
typename Rule::parts recorded_parts(bool propto) {
  typename Rule::parts parts;
  parts.propto = propto;
  for (std::size_t k = 0; k < parts.active.size(); ++k) parts.active[k] = !Rule::arguments[k].must.whole;
  return parts;
}

/// Returns whether there is nothing to compute: no terms, or with `propto` no active argument.
template <class Rule>
bool is_nothing(std::size_t n, const typename Rule::parts& parts) {
  bool any = parts.constants();
  for (const bool active : parts.active) any = any || active;
  return n == 0 || !any;
}

/// Sums of values and of the partial derivatives with respect to scalars; Store receives the derivatives with respect to
/// arrays.
template <class Rule, class S, class Store>
struct density_sums {
  static constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  density_inputs<Rule, S> in;
  Store to;
  density_total<S> value{};
  std::array<density_total<S>, arity> partials = same_for_each(density_total<S>{}, std::make_index_sequence<arity>{});

  template <class P>
  AGRAD_ALWAYS_INLINE void add(std::size_t i, const P& term, const std::array<P, arity>& partial) {
    value.add(term);
    add(i, partial, places{});
  }
  /// Calls use(k, sum) with the sum of partial derivatives for each active scalar argument.
  template <class Use>
  AGRAD_ALWAYS_INLINE void scalars(const Use& use) const {
    scalars(use, places{});
  }

 private:
  using places = std::make_index_sequence<arity>;
  template <class Use, std::size_t... K>
  AGRAD_ALWAYS_INLINE void scalars(const Use& use, std::index_sequence<K...>) const {
    ((in[K].active && in[K].stride == 0 ? use(K, partials[K].sum()) : void()), ...);
  }
  template <class P, std::size_t... K>
  AGRAD_ALWAYS_INLINE void add(std::size_t i, const std::array<P, arity>& partial, std::index_sequence<K...>) {
    (add<K>(i, partial[K]), ...);
  }
  template <std::size_t K, class P>
  AGRAD_ALWAYS_INLINE void add(std::size_t i, const P& partial) {
    if (!in[K].active) return;
    if (in[K].stride == 0)
      partials[K].add(partial);
    else
      to(K, i, partial);
  }
};

/// The sum of values alone.
template <class S>
struct density_value_sum {
  density_total<S> value{};
  template <class P, class Partial>
  AGRAD_ALWAYS_INLINE void add(std::size_t, const P& term, const Partial&) {
    value.add(term);
  }
};

/// Stores partial derivatives.
template <class S, std::size_t Arity>
struct store_partials {
  const std::array<S*, Arity>& partial;
  template <class P>
  AGRAD_ALWAYS_INLINE void operator()(std::size_t k, std::size_t i, const P& d) const {
    store(partial[k] + i, d);
  }
};

/// Adds the products of partial derivatives with the adjoint of the sum to adjoints.
template <class S, std::size_t Arity>
struct add_to_adjoints {
  const std::array<S*, Arity>& adjoint;
  const S& sum_adjoint;
  template <class P>
  AGRAD_ALWAYS_INLINE void operator()(std::size_t k, std::size_t i, const P& d) const {
    store(adjoint[k] + i, load<P>(adjoint[k] + i) + d * P(sum_adjoint));
  }
};

/// Returns the index of the first of n numbers that fails its condition, n if there is none. The count has no branches and uses
/// integers as wide as doubles, so that the compiler vectorises the loop.
template <bool (*holds)(double), class S>
std::size_t first_outside(const S* x, std::size_t n) {
  if (n == 1) return holds(primal_value(*x)) ? 1 : 0;
  std::int64_t outside = 0;
  for (std::size_t i = 0; i < n; ++i) outside += static_cast<std::int64_t>(!holds(primal_value(x[i])));
  if (AGRAD_UNLIKELY(outside != 0))
    for (std::size_t i = 0; i < n; ++i)
      if (!holds(primal_value(x[i]))) return i;
  return n;
}

/// Returns the index of the first of n values of an argument that fails the argument's condition, n if there is none.
template <class Rule, std::size_t K, class S>
std::size_t first_failing(const density_input<S>& in, std::size_t n) {
  constexpr condition must = Rule::arguments[K].must, of_integers = must_be::for_integers(must);
  if constexpr (must.name != of_integers.name)
    if (in.whole) return first_outside<of_integers.holds>(in.values, n);
  return first_outside<must.holds>(in.values, n);
}

template <class Rule, std::size_t K, class S>
void density_check_argument(std::size_t n, const density_input<S>& in) {
  constexpr density_argument argument = Rule::arguments[K];
  const std::size_t size = in.stride == 0 && n > 0 ? 1 : n, i = first_failing<Rule, K>(in, size);
  if (AGRAD_UNLIKELY(i != size))
    fail_check(Rule::name, argument.name, in.stride == 0 ? -1 : static_cast<long>(i), primal_value(in.values[i]), argument.must,
               {});
}

template <class Rule, std::size_t P, class Inputs>
void density_check_pair(std::size_t n, const Inputs& in) {
  constexpr density_pair pair = Rule::pairs[P];
  const auto& first = std::get<pair.first>(in);
  const auto& second = std::get<pair.second>(in);
  const bool is_single = first.stride == 0 && second.stride == 0;
  for (std::size_t i = 0; i < (is_single && n > 0 ? 1 : n); ++i) {
    const double x = primal_value(first.values[i * first.stride]), y = primal_value(second.values[i * second.stride]);
    if (AGRAD_UNLIKELY(!pair.must.holds(x, y)))
      fail_relation(Rule::name, Rule::arguments[pair.first].name, first.stride == 0 ? -1 : static_cast<long>(i), x, pair.must,
                    Rule::arguments[pair.second].name, y);
  }
}

template <class Rule, std::size_t P, class Inputs>
void density_check_sum(std::size_t n, const Inputs& in) {
  constexpr density_sum sum = Rule::sums[P];
  const auto& first = std::get<sum.first>(in);
  const auto& second = std::get<sum.second>(in);
  const auto& third = std::get<sum.third>(in);
  const bool is_single = first.stride == 0 && second.stride == 0 && third.stride == 0;
  for (std::size_t i = 0; i < (is_single && n > 0 ? 1 : n); ++i) {
    const double x = primal_value(first.values[i * first.stride]);
    const double y = primal_value(second.values[i * second.stride]) + primal_value(third.values[i * third.stride]);
    if (AGRAD_UNLIKELY(!sum.must.holds(x, y)))
      fail_relation(Rule::name, Rule::arguments[sum.first].name, first.stride == 0 ? -1 : static_cast<long>(i), x, sum.must,
                    std::string(Rule::arguments[sum.second].name) + " + " + std::string(Rule::arguments[sum.third].name), y);
  }
}

template <class Rule, class X, std::size_t... K, std::size_t... P>
AGRAD_ALWAYS_INLINE bool meets_conditions(const X& x, std::index_sequence<K...>, std::index_sequence<P...>) {
  return (Rule::arguments[K].must.holds(x[K]) && ...) &&
         (Rule::pairs[P].must.holds(x[Rule::pairs[P].first], x[Rule::pairs[P].second]) && ...);
}
/// Returns whether numbers meet the conditions on the arguments.
template <class Rule, std::size_t N>
AGRAD_ALWAYS_INLINE bool meets_conditions(const std::array<double, N>& x) {
  static_assert(std::size(Rule::sums) == 0, "no rule with a condition on a sum has formulas for single terms");
  return meets_conditions<Rule>(x, std::make_index_sequence<N>{}, std::make_index_sequence<std::size(Rule::pairs)>{});
}

template <class Rule, class Inputs, std::size_t... K, std::size_t... P, std::size_t... S>
void density_check(std::size_t n, const Inputs& in, std::index_sequence<K...>, std::index_sequence<P...>,
                   std::index_sequence<S...>) {
  (density_check_argument<Rule, K>(n, std::get<K>(in)), ...);
  (density_check_pair<Rule, P>(n, in), ...);
  (density_check_sum<Rule, S>(n, in), ...);
}

}  // namespace detail

/// Throws DomainError unless every argument meets its condition, and arguments together meet theirs. `in` is an array or a
/// tuple of density_input.
template <class Rule, class Inputs>
void density_check(std::size_t n, const Inputs& in) {
  detail::density_check<Rule>(n, in, std::make_index_sequence<static_cast<std::size_t>(Rule::arity)>{},
                              std::make_index_sequence<std::size(Rule::pairs)>{},
                              std::make_index_sequence<std::size(Rule::sums)>{});
}

/// Returns the sum of n terms, 0 for n = 0. The arguments are not checked; see density_check.
template <class Rule, class S>
S density_value(std::size_t n, const density_inputs<Rule, S>& in, const typename Rule::parts& parts) {
  detail::density_value_sum<S> sums;
  if (!detail::is_nothing<Rule>(n, parts)) detail::each_term<Rule, false>(n, in, parts, sums);
  return sums.value.sum();
}

/// Returns the sum of n terms and its partial derivatives: for each active argument k, partial[k] has space for one number
/// (stride 0) or n numbers (stride 1), and may be the array of the argument's values, which is then overwritten.
template <class Rule, class S>
S density_partials(std::size_t n, const density_inputs<Rule, S>& in, bool propto,
                   const std::array<S*, static_cast<std::size_t>(Rule::arity)>& partial) {
  using store_to = detail::store_partials<S, static_cast<std::size_t>(Rule::arity)>;
  const auto parts = detail::parts_of<Rule>(in, propto);
  detail::density_sums<Rule, S, store_to> sums{in, {partial}};
  if (!detail::is_nothing<Rule>(n, parts)) detail::each_term<Rule, true>(n, in, parts, sums);
  sums.scalars([&](std::size_t k, const S& sum) { *partial[k] = sum; });
  return sums.value.sum();
}

/// Computes a single term in the density's support, whose arguments meet their conditions, with its partial derivatives, where
/// pointers are not null. Returns false for other terms.
template <class Rule>
AGRAD_ALWAYS_INLINE bool density_term(const typename Rule::template each<double>& x, const typename Rule::parts& included,
                                      const typename Rule::template each<double*>& partial, double& value) {
  if (!detail::meets_conditions<Rule>(x) || !Rule::in_support(x) || detail::is_nothing<Rule>(1, included)) return false;
  typename Rule::template each<double> slope;
  value = Rule::template term<true>(typename Rule::template prepared<double>(x, included), x, included, slope);
  for (std::size_t k = 0; k < partial.size(); ++k)
    if (partial[k] != nullptr) *partial[k] = slope[k];
  return true;
}

/// Adds the adjoint of the sum times the partial derivatives to adjoint[k], which has the stride of argument k, for each
/// active argument.
template <class Rule, class S>
void density_adjoint(std::size_t n, const density_inputs<Rule, S>& in, const typename Rule::parts& parts, const S& sum_adjoint,
                     const std::array<S*, static_cast<std::size_t>(Rule::arity)>& adjoint) {
  using add_to = detail::add_to_adjoints<S, static_cast<std::size_t>(Rule::arity)>;
  if (detail::is_nothing<Rule>(n, parts)) return;
  detail::density_sums<Rule, S, add_to> sums{in, {adjoint, sum_adjoint}};
  detail::each_term<Rule, true>(n, in, parts, sums);
  sums.scalars([&](std::size_t k, const S& sum) { *adjoint[k] += sum * sum_adjoint; });
}

}  // namespace agrad
