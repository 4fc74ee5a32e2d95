// Densities on the tape: value and partial derivatives in one pass, one statement or one closure whatever the length.
//
// Where all variables among the arguments are scalars the partial derivatives are summed at once, and the result is one
// ordinary statement with as many leaves. Otherwise each sequence of variables keeps its indices and partial derivatives in
// the arena, and a closure sends the adjoint to them.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <agrad/rules/density/densities.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/matrix.hpp>

namespace agrad {

namespace detail {

template <class E>
struct scalar_of<E, std::enable_if_t<is_expression<E>>> {
  using type = var;
};
template <>
struct scalar_of<matrix<var>> {
  using type = var;
};
template <>
struct sequence<matrix<var>> {
  static constexpr bool is_scalar = false;
  static std::size_t size(const matrix<var>& x) { return static_cast<std::size_t>(x.size()); }
  static var at(const matrix<var>& x, std::size_t i) { return x[static_cast<Eigen::Index>(i)]; }
};

/// What the sweep needs of an argument: where its adjoints are and its partial derivatives.
struct density_edge {
  const tape::index_type* indices;
  const double* partials;
  std::size_t size;

  template <class Adjoint, class Lane>
  void send(const Adjoint& adjoint, const Lane& of_result) const {
    for (std::size_t i = 0; i < size; ++i) adjoint.at(indices[i]) += partials[i] * of_result;
  }
};

/// A constant argument.
template <class X, class = void>
class tape_operand {
 public:
  static constexpr int leaves = 0, sequences = 0;
  explicit tape_operand(const X& x) : values_(x) {}
  density_input<double> input() const { return values_.input(false); }
  double* partial() { return nullptr; }
  density_edge edge() const { return {nullptr, nullptr, 0}; }

 private:
  density_operand<double, X> values_;
};

/// A scalar variable or expression.
template <class X>
class tape_operand<X, std::enable_if_t<std::is_same_v<scalar_of_t<X>, var> && sequence<X>::is_scalar>> {
 public:
  static constexpr int leaves = 1, sequences = 0;
  explicit tape_operand(const X& x) : leaf_(operand_of<var>::make(x)) {}
  density_input<double> input() const { return {&leaf_.value, 0, true}; }
  double* partial() { return &partial_; }
  density_edge edge() const { return {&leaf_.index, &partial_, 1}; }

 private:
  leaf leaf_;
  double partial_ = 0;
};

/// A sequence of variables; the partial derivatives take the place of the values.
template <class X>
class tape_operand<X, std::enable_if_t<std::is_same_v<scalar_of_t<X>, var> && !sequence<X>::is_scalar>> {
 public:
  static constexpr int leaves = 0, sequences = 1;
  explicit tape_operand(const X& x)
      : size_(sequence<X>::size(x)),
        values_(tape::current().memory().allocate_array<double>(size_)),
        indices_(tape::current().memory().allocate_array<tape::index_type>(size_)) {
    for (std::size_t i = 0; i < size_; ++i) {
      const leaf entry = operand_of<var>::make(sequence<X>::at(x, i));
      values_[i] = entry.value;
      indices_[i] = entry.index;
    }
  }
  density_input<double> input() const { return {values_, 1, true}; }
  double* partial() { return values_; }
  density_edge edge() const { return {indices_, values_, size_}; }

 private:
  std::size_t size_;
  double* values_;
  tape::index_type* indices_;
};

template <>
struct density_engine<var> {
  template <class Rule, bool propto, class... X>
  static var apply(std::size_t n, const X&... x) {
    return record<Rule, propto>(n, tape_operand<X>(x)...);
  }

 private:
  template <class Rule, bool propto, class... Operand>
  static var record(std::size_t n, Operand&&... operand) {
    const density_inputs<Rule, double> in{operand.input()...};
    density_check<Rule>(n, in);
    const double value = density_partials<Rule>(n, in, propto, {operand.partial()...});
    tape& t = tape::current();
    if constexpr ((Operand::sequences + ...) == 0) {
      const auto index = t.record<(Operand::leaves + ...)>([&](auto& partials, auto& indices) {
        for (const density_edge& edge : {operand.edge()...})
          if (edge.size == 1) partials.push(*edge.partials), indices.push(*edge.indices);
      });
      return var(value, index, t);
    } else {
      const std::array edges{kept(t, operand)...};
      return custom(value, [edges](auto& adjoint, const var& y) {
        const auto of_result = adjoint[y];
        for (const density_edge& edge : edges) edge.send(adjoint, of_result);
      });
    }
  }

  /// An edge that outlives the call: what lies in the operand itself moves to the arena.
  template <class Operand>
  static density_edge kept(tape& t, const Operand& operand) {
    density_edge edge = operand.edge();
    if constexpr (Operand::leaves == 1) {
      edge.indices = t.keep(*edge.indices);
      edge.partials = t.keep(*edge.partials);
    }
    return edge;
  }
};

}  // namespace detail
}  // namespace agrad
