// Densities on the tape: value and partial derivatives in one pass, stored in one statement or one closure for any length.
//
// If all variables among the arguments are scalars, the partial derivatives are summed at once, and the result is one ordinary
// statement with one leaf for each variable. Otherwise the indices and partial derivatives of each sequence of variables are
// stored in the arena, and a closure propagates the adjoint.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include <agrad/rules/density/densities.hpp>
#include <agrad/rules/passing_arrays.hpp>
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

/// The data of an argument for the reverse pass: the indices of the adjoints, and the partial derivatives.
struct density_edge {
  const tape::index_type* indices;
  const double* partials;
  std::size_t size;
  bool is_range = false;  // the indices are consecutive; only indices[0] is read

  template <int Lanes>
  void propagate(const adjoint_view<Lanes>& adjoint, double of_result) const {
    if (AGRAD_UNLIKELY(adjoint.is_marking())) {
      for (std::size_t i = 0; i < size; ++i) adjoint.at(index_of(i)) += of_result;
    } else if (is_range && adjoint.reaches(*indices)) {  // from the last one, because `at` checks that all up to it exist
      const double* partial = partials;
      double* to = &adjoint.at(*indices + static_cast<tape::index_type>(size - 1)) - (size - 1) * Lanes;
      if constexpr (Lanes == 1)
        add_passed_entries(size, partial, of_result, to);
      else
        for (std::size_t i = 0; i < size; ++i) to[i * Lanes] += passed(partial[i], of_result);
    } else {
      for (std::size_t i = 0; i < size; ++i) adjoint.at(index_of(i)) += passed(partials[i], of_result);
    }
  }

 private:
  tape::index_type index_of(std::size_t i) const { return is_range ? *indices + static_cast<tape::index_type>(i) : indices[i]; }
};

/// A constant argument.
template <class X, class = void>
class tape_operand {
 public:
  static constexpr int leaves = 0, sequences = 0;
  static constexpr bool is_array = !sequence<X>::is_scalar, has_stride = is_array;
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
  static constexpr bool is_array = false, has_stride = false;
  explicit tape_operand(const X& x) : leaf_(operand_of<var>::make(x)) {}
  density_input<double> input() const { return {&leaf_.value, 0, true}; }
  double* partial() { return &partial_; }
  density_edge edge() const { return {&leaf_.index, &partial_, 1}; }

 private:
  leaf leaf_;
  double partial_ = 0;
};

/// A sequence of variables; the partial derivatives overwrite the values.
template <class X>
class tape_operand<X, std::enable_if_t<std::is_same_v<scalar_of_t<X>, var> && !sequence<X>::is_scalar>> {
 public:
  static constexpr int leaves = 0, sequences = 1;
  static constexpr bool is_array = true, has_stride = true;
  explicit tape_operand(const X& x)
      : size_(sequence<X>::size(x)), values_(tape::current().memory().allocate_array<double>(size_)) {
    if constexpr (std::is_same_v<X, matrix<var>>) {
      if (x.is_contiguous() && size_ != 0) {
        std::copy_n(x.val().data(), size_, values_);
        indices_ = tape::current().store(x.index());
        return;
      }
    }
    copy_entries(x);
  }
  density_input<double> input() const { return {values_, 1, true}; }
  double* partial() { return values_; }
  density_edge edge() const { return {indices_, values_, size_, is_range_}; }

 private:
  void copy_entries(const X& x) {
    auto* indices = tape::current().memory().allocate_array<tape::index_type>(size_);
    tape::index_type gaps = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const leaf entry = operand_of<var>::make(sequence<X>::at(x, i));
      values_[i] = entry.value;
      indices[i] = entry.index;
      gaps |= entry.index - indices[0] - static_cast<tape::index_type>(i);
    }
    indices_ = indices;
    is_range_ = gaps == 0 && size_ != 0;
  }

  std::size_t size_;
  double* values_;
  const tape::index_type* indices_ = nullptr;
  bool is_range_ = true;
};

/// The entry of a sequence of length 1, which needs no memory in the arena. Its stride is 1, so that messages name its index.
template <class X>
class only_entry : public tape_operand<scalar_of_t<X>> {
  using operand = tape_operand<scalar_of_t<X>>;

 public:
  static constexpr bool has_stride = true;
  explicit only_entry(const X& x) : operand(sequence<X>::at(x, 0)) {}
  density_input<double> input() const {
    density_input<double> in = operand::input();
    in.stride = 1;
    return in;
  }
};

/// Returns record(n, operand...) with the operands of n terms.
template <class Record, class... X>
var with_operands(std::size_t n, const Record& record, const X&... x) {
  if constexpr ((!sequence<X>::is_scalar || ...))
    if (n == 1) return record(1, std::conditional_t<sequence<X>::is_scalar, tape_operand<X>, only_entry<X>>(x)...);
  return record(n, tape_operand<X>(x)...);
}

template <>
struct density_engine<var> {
  template <class Rule, bool propto, class... X>
  static var apply(std::size_t size, const X&... x) {
    return with_operands(
        size, [](std::size_t n, auto&&... operand) { return record<Rule, propto>(n, operand...); }, x...);
  }

 private:
  template <class Rule, bool propto, class... Operand>
  static var record(std::size_t n, Operand&... operand) {
    const density_inputs<Rule, double> in{operand.input()...};
    if constexpr (!(Operand::is_array || ...)) {
      double value = 0;
      if (density_term<Rule>({*operand.input().values...}, parts_of<Rule>(in, propto), {operand.partial()...}, value))
        return result(value, operand...);
    }
    density_check<Rule>(n, in);
    return result(density_partials<Rule>(n, in, propto, {operand.partial()...}), operand...);
  }

 public:
  /// Returns the variable of this value. The operands' partial derivatives must have been computed.
  template <class... Operand>
  static var result(double value, const Operand&... operand) {
    tape& t = tape::current();
    if constexpr ((Operand::sequences + ...) == 0) {
      constexpr std::size_t leaves = (Operand::leaves + ...);
      std::array<double, leaves> partials{};
      std::array<tape::index_type, leaves> indices{};
      std::size_t i = 0;
      const auto add = [&](const density_edge& edge) {
        if (edge.size == 1) partials[i] = *edge.partials, indices[i++] = *edge.indices;
      };
      (add(operand.edge()), ...);
      const tape::index_type index = t.leaf();
      t.record(index, partials, indices);
      return tape_access::variable(value, index, t);
    } else {
      const std::array edges{stored(t, operand)...};
      return custom(value, [edges](auto& adjoint, const var& y) {
        const auto of_result = adjoint[y];
        for (const density_edge& edge : edges) edge.propagate(adjoint, of_result);
      });
    }
  }

 private:
  /// Returns an edge that outlives the call: the index and partial derivative of a scalar operand are copied to the arena.
  template <class Operand>
  static density_edge stored(tape& t, const Operand& operand) {
    density_edge edge = operand.edge();
    if constexpr (Operand::leaves == 1) {
      edge.indices = t.store(*edge.indices);
      edge.partials = t.store(*edge.partials);
    }
    return edge;
  }
};

template <>
struct bernoulli_logit_glm_engine<var> {
  template <class Y, class X, class Alpha, class Beta>
  static var apply(const bernoulli_logit_glm<Y>& model, const X& x, const Alpha& alpha, const Beta& beta) {
    tape_operand<Alpha> a(alpha);
    tape_operand<Beta> b(beta);
    model.check_parameters(a.input(), b.input());
    const double value = model.partials(x, a.input(), b.input(), a.partial(), b.partial());
    return density_engine<var>::result(value, a, b);
  }
};

}  // namespace detail
}  // namespace agrad
