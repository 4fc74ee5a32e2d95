// Density: one log probability density, stated once for one term, and the loops that sum it over many.
//
// A density rule derives from density_rule<arity> and gives
//     name, text, source   as a scalar rule does
//     arguments            for each its name, the condition on it, and whether `prepare` reads it
//     prepared<S>          what depends on the arguments marked so alone; computed once when these are scalars
//     prepare              makes it
//     term                 value of one term, and its partial derivatives when they are wanted
// all templated on their scalar S. An argument has one value for all terms (stride 0) or one for each (stride 1), so there
// is one loop for all mixtures of scalars and arrays, on plain pointers: the tape, recorded programs and duals share it.
// Read next: rules/density/normal.hpp, a family to imitate; rules/density/apply.hpp, which calls these loops.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include <agrad/base/check.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad {

/// What a rule says of one of its arguments.
struct density_argument {
  std::string_view name;
  condition must;
  bool prepared = false;  // `prepare` reads it
};

/// One argument of a call: one value (stride 0) or one for each term (stride 1).
template <class S>
struct density_input {
  const S* values = nullptr;
  std::size_t stride = 0;
  bool active = false;  // derivatives with respect to it are wanted
};

/// Which parts of a log density are kept: all, or with `propto` those that depend on an active argument.
template <int Arity>
struct density_parts {
  bool propto = false;
  std::array<bool, Arity> active{};

  bool constants() const { return !propto; }
  /// Whether a part that depends on these arguments is kept.
  bool of(std::initializer_list<int> arguments) const {
    if (!propto) return true;
    for (const int i : arguments)
      if (active[static_cast<std::size_t>(i)]) return true;
    return false;
  }
};

/// What all density rules have.
template <int Arity>
struct density_rule {
  static constexpr int arity = Arity;
  static constexpr std::string_view source = {};
  using parts = density_parts<Arity>;
  /// One value, or one partial derivative, for each argument.
  template <class S>
  using each = std::array<S, Arity>;
};

template <class Rule, class S>
using density_inputs = std::array<density_input<S>, static_cast<std::size_t>(Rule::arity)>;

namespace detail {

/// The number behind a scalar of any engine.
template <class S>
double primal_value(const S& x) {
  if constexpr (std::is_arithmetic_v<S>)
    return static_cast<double>(x);
  else
    return primal_value(x.val());
}

template <class Rule, class S>
typename Rule::parts parts_of(const density_inputs<Rule, S>& in, bool propto) {
  typename Rule::parts parts;
  parts.propto = propto;
  for (std::size_t k = 0; k < in.size(); ++k) parts.active[k] = in[k].active;
  return parts;
}

/// Whether there is nothing to compute: no terms, or with `propto` no active argument.
template <class Rule>
bool is_nothing(std::size_t n, const typename Rule::parts& parts) {
  bool any = parts.constants();
  for (const bool active : parts.active) any = any || active;
  return n == 0 || !any;
}

/// Calls use(i, prepared, x) for each of n > 0 terms.
template <class Rule, class S, class Use>
void each_term(std::size_t n, const density_inputs<Rule, S>& in, const typename Rule::parts& parts, const Use& use) {
  constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  std::array<S, arity> x;
  bool prepare_each = false;
  for (std::size_t k = 0; k < arity; ++k) {
    x[k] = *in[k].values;
    prepare_each = prepare_each || (Rule::arguments[k].prepared && in[k].stride != 0);
  }
  auto prepared = Rule::prepare(x, parts);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < arity; ++k) x[k] = in[k].values[i * in[k].stride];
    if (prepare_each) prepared = Rule::prepare(x, parts);
    use(i, prepared, x);
  }
}

}  // namespace detail

/// Throws DomainError unless every argument meets its condition.
template <class Rule, class S>
void density_check(std::size_t n, const density_inputs<Rule, S>& in) {
  for (std::size_t k = 0; k < in.size(); ++k) {
    const density_argument& argument = Rule::arguments[k];
    for (std::size_t i = 0; i < (in[k].stride == 0 && n > 0 ? 1 : n); ++i)
      check(Rule::name, argument.name, detail::primal_value(in[k].values[i]), argument.must,
            in[k].stride == 0 ? -1 : static_cast<long>(i));
  }
}

/// The sum of n terms, 0 for n = 0. The arguments are taken as they are; see density_check.
template <class Rule, class S>
S density_value(std::size_t n, const density_inputs<Rule, S>& in, bool propto) {
  const auto parts = detail::parts_of<Rule>(in, propto);
  S sum(0);
  if (detail::is_nothing<Rule>(n, parts)) return sum;
  detail::each_term<Rule>(n, in, parts, [&](std::size_t, const auto& prepared, const auto& x) {
    std::array<S, static_cast<std::size_t>(Rule::arity)> unused;
    sum += Rule::template term<false>(prepared, x, parts, unused);
  });
  return sum;
}

/// The sum of n terms and its partial derivatives: for each active argument k, partial[k] has room for one (stride 0) or n
/// (stride 1), and may be the array of the argument's own values, which are then overwritten.
template <class Rule, class S>
S density_partials(std::size_t n, const density_inputs<Rule, S>& in, bool propto,
                   const std::array<S*, static_cast<std::size_t>(Rule::arity)>& partial) {
  constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  const auto parts = detail::parts_of<Rule>(in, propto);
  S sum(0);
  std::array<S, arity> totals{};  // of the arguments with stride 0
  if (!detail::is_nothing<Rule>(n, parts)) {
    detail::each_term<Rule>(n, in, parts, [&](std::size_t i, const auto& prepared, const auto& x) {
      std::array<S, arity> d;
      sum += Rule::template term<true>(prepared, x, parts, d);
      for (std::size_t k = 0; k < arity; ++k) {
        totals[k] += d[k];
        if (in[k].active && in[k].stride != 0) partial[k][i] = d[k];
      }
    });
  }
  for (std::size_t k = 0; k < arity; ++k)
    if (in[k].active && in[k].stride == 0) *partial[k] = totals[k];
  return sum;
}

/// Adds the adjoint of the sum times the partial derivatives to adjoint[k], which has the stride of argument k, for each
/// active argument.
template <class Rule, class S>
void density_adjoint(std::size_t n, const density_inputs<Rule, S>& in, bool propto, const S& sum_adjoint,
                     const std::array<S*, static_cast<std::size_t>(Rule::arity)>& adjoint) {
  constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  const auto parts = detail::parts_of<Rule>(in, propto);
  if (detail::is_nothing<Rule>(n, parts)) return;
  std::array<S, arity> totals{};
  detail::each_term<Rule>(n, in, parts, [&](std::size_t i, const auto& prepared, const auto& x) {
    std::array<S, arity> d;
    Rule::template term<true>(prepared, x, parts, d);
    for (std::size_t k = 0; k < arity; ++k) {
      totals[k] += d[k];
      if (in[k].active && in[k].stride != 0) adjoint[k][i] += d[k] * sum_adjoint;
    }
  });
  for (std::size_t k = 0; k < arity; ++k)
    if (in[k].active && in[k].stride == 0) *adjoint[k] += totals[k] * sum_adjoint;
}

}  // namespace agrad
