// Probe: an elementwise rule as plain functions on arrays of numbers, one for each engine, made by templates.
//
// Checks are then written once, as ordinary functions of a probe (rules/test_rules.cpp), and compile once.
#pragma once

#include <agrad/dual/dual.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>
#include <string>
#include <utility>
#include <vector>

namespace probing {

constexpr int most_arguments = 3;

/// What an engine says of a function at a point. Engines of first order leave the Hessian at 0.
struct derivatives {
  double value = 0;
  double gradient[most_arguments] = {};
  double hessian[most_arguments][most_arguments] = {};
};

struct probe {
  std::string name;
  int arity;
  const agrad::interval* domain;
  double outside;
  bool is_condition;
  double (*value)(const double* x);
  derivatives (*by_var)(const double* x);
  derivatives (*by_dual)(const double* x);
  derivatives (*by_dual_of_var)(const double* x);
  derivatives (*by_dual_of_dual)(const double* x);
  /// With numbers in some places: bit i of the mask says that argument i is a variable. One for each mask from 1 to
  /// 2^arity - 2, by tape and by dual.
  std::vector<derivatives (*)(const double*x)> by_masked_var, by_masked_dual;
};

using lanes = agrad::dual<double, 4>;

/// The type of argument I under a mask, and how it is made.
template <class T, unsigned Mask, std::size_t I>
using masked = std::conditional_t<(Mask >> I & 1U) != 0, T, double>;

template <class Rule, unsigned Mask, std::size_t... I>
derivatives with_vars(const double* x, std::index_sequence<I...>) {
  const agrad::scope own;
  derivatives result;
  const std::tuple<masked<agrad::var, Mask, I>...> v{x[I]...};
  const agrad::var y = agrad::apply<Rule>(std::get<I>(v)...);
  result.value = y.val();
  y.grad();
  const auto adjoint = [](const auto& argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, double>)
      return 0.0;
    else
      return argument.adj();
  };
  ((result.gradient[I] = adjoint(std::get<I>(v))), ...);
  return result;
}

template <class Rule, unsigned Mask, std::size_t... I>
derivatives with_duals(const double* x, std::index_sequence<I...>) {
  derivatives result;
  std::tuple<masked<lanes, Mask, I>...> v{x[I]...};
  const auto seed = [](auto& argument, std::size_t i) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(argument)>, double>) argument.tangent[i] = 1;
  };
  (seed(std::get<I>(v), I), ...);
  const lanes y = agrad::apply<Rule>(std::get<I>(v)...);
  result.value = y.value;
  ((result.gradient[I] = y.tangent[I]), ...);
  return result;
}

template <class Rule, std::size_t... I>
derivatives with_duals_of_vars(const double* x, std::index_sequence<I...>) {
  derivatives result;
  for (std::size_t j = 0; j < sizeof...(I); ++j) {
    const agrad::scope own;
    const agrad::var v[] = {agrad::var(x[I])...};
    agrad::dual<agrad::var> d[] = {agrad::dual<agrad::var>(v[I])...};
    d[j].tangent[0] = agrad::var(1.0);
    const agrad::dual<agrad::var> y = agrad::apply<Rule>(d[I]...);
    result.value = y.value.val();
    result.gradient[j] = y.tangent[0].val();
    y.tangent[0].grad();
    ((result.hessian[j][I] = v[I].adj()), ...);
  }
  return result;
}

template <class Rule, std::size_t... I>
derivatives with_duals_of_duals(const double* x, std::index_sequence<I...>) {
  derivatives result;
  for (std::size_t j = 0; j < sizeof...(I); ++j) {
    agrad::dual<lanes> d[] = {agrad::dual<lanes>(lanes(x[I]))...};
    ((d[I].value.tangent[I] = 1), ...);
    d[j].tangent[0] = lanes(1.0);
    const agrad::dual<lanes> y = agrad::apply<Rule>(d[I]...);
    result.value = y.value.value;
    result.gradient[j] = y.tangent[0].value;
    ((result.hessian[j][I] = y.tangent[0].tangent[I]), ...);
  }
  return result;
}

template <class Rule, unsigned... Mask, std::size_t... I>
probe make_probe(std::integer_sequence<unsigned, Mask...>, std::index_sequence<I...> every) {
  using each = decltype(every);
  constexpr unsigned all = (1U << Rule::arity) - 1;
  return {std::string(Rule::name),
          Rule::arity,
          Rule::domain,
          Rule::outside,
          Rule::is_condition,
          [](const double* x) { return Rule::value(x[I]...); },
          [](const double* x) { return with_vars<Rule, all>(x, each{}); },
          [](const double* x) { return with_duals<Rule, all>(x, each{}); },
          [](const double* x) { return with_duals_of_vars<Rule>(x, each{}); },
          [](const double* x) { return with_duals_of_duals<Rule>(x, each{}); },
          {[](const double* x) { return with_vars<Rule, Mask + 1>(x, each{}); }...},
          {[](const double* x) { return with_duals<Rule, Mask + 1>(x, each{}); }...}};
}

template <class List>
std::vector<probe> probes_of(List list) {
  std::vector<probe> made;
  agrad::for_each(list, [&](auto tag) {
    using Rule = typename decltype(tag)::type;
    constexpr unsigned masks = (1U << Rule::arity) - 2;
    made.push_back(make_probe<Rule>(std::make_integer_sequence<unsigned, masks>{}, std::make_index_sequence<Rule::arity>{}));
  });
  return made;
}

}  // namespace probing
