// Expression: a C++ expression of tape variables, evaluated while it is built and written to the tape when it is assigned.
//
// Nodes hold copies of their operands (a variable's value and index, a constant, another node), so that `auto e = a * b`
// and a function that returns `auto` are safe. Assignment walks the nodes from the root, multiplies the partial derivatives
// along each path and writes one statement with one entry a leaf.
// Read next: tape/var.hpp.
#pragma once

#include <tuple>
#include <type_traits>

#include <agrad/rules/apply.hpp>
#include <agrad/tape/tape.hpp>

namespace agrad {

class var;

namespace detail {

/// Base of all nodes: what makes a type an expression.
template <class Node>
struct expression {
  const Node& self() const { return static_cast<const Node&>(*this); }
  double val() const { return self().value; }
};

/// A number in an expression.
struct constant : expression<constant> {
  static constexpr int leaves = 0;
  double value;
  explicit constant(double v) : value(v) {}
};

/// A variable in an expression.
struct leaf : expression<leaf> {
  static constexpr int leaves = 1;
  double value;
  tape::index_type index;
  leaf(double v, tape::index_type i) : value(v), index(i) {}

  void write(double partial, stream<double>& partials, stream<tape::index_type>& indices) const {
    partials.push(partial);
    indices.push(index);
  }
};

/// A rule applied to operands.
template <class Rule, class... Operand>
struct node : expression<node<Rule, Operand...>> {
  static constexpr int leaves = (Operand::leaves + ...);
  std::tuple<Operand...> operands;
  double value;
  explicit node(const Operand&... x) : operands(x...), value(Rule::value(x.value...)) {}

  void write(double outer, stream<double>& partials, stream<tape::index_type>& indices) const {
    write_each(outer, partials, indices, std::index_sequence_for<Operand...>{});
  }

 private:
  template <std::size_t... I>
  void write_each(double outer, stream<double>& partials, stream<tape::index_type>& indices, std::index_sequence<I...>) const {
    (write_operand<I>(outer, partials, indices, std::get<I>(operands)), ...);
  }
  template <std::size_t I, class X>
  void write_operand(double outer, stream<double>& partials, stream<tape::index_type>& indices, const X& x) const {
    if constexpr (X::leaves > 0) {
      const double partial = std::apply(
          [this](const Operand&... each) { return Rule::derivative(wrt<static_cast<int>(I)>{}, each.value..., value); },
          operands);
      x.write(outer == 0 ? 0.0 : outer * partial, partials, indices);  // as in the sweep: what is not used gives no nan
    }
  }
};

/// How a type stands in an expression: as a leaf, a constant or itself.
template <class T, class = void>
struct operand_of;
template <class T>
using operand_t = typename operand_of<T>::type;

template <class T>
struct operand_of<T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  using type = constant;
  static constant make(T x) { return constant(static_cast<double>(x)); }
};
template <class T>
inline constexpr bool is_expression = std::is_base_of_v<expression<T>, T>;
template <class T>
struct operand_of<T, std::enable_if_t<is_expression<T>>> {
  using type = T;
  static const T& make(const T& x) { return x; }
};

}  // namespace detail

/// Engine of the tape: builds expression nodes.
struct tape_engine {
  static constexpr int rank = 1;
  using scalar = var;  // what expressions are stored as
  template <class Rule, class... X>
  static detail::node<Rule, detail::operand_t<X>...> apply(const X&... x) {
    return detail::node<Rule, detail::operand_t<X>...>(detail::operand_of<X>::make(x)...);
  }
};

template <class T>
struct engine_of<T, std::enable_if_t<detail::is_expression<T>>> {
  using type = tape_engine;
};
template <>
struct engine_of<var> {
  using type = tape_engine;
};

}  // namespace agrad
