// Linear algebra formulas: the tangents of rules, and transposes of solves, as formulas of their kernels, which
// program/machine/operation.hpp describes (`recorded_formulas`).
//
// Read first: program/kernels/linalg_recorded.hpp; program/kernels/linalg.hpp uses this file.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <agrad/program/kernels/linalg_recorded.hpp>

namespace agrad::linalg {

/// The formulas of a rule's operation, from its tangents.
template <class Rule>
struct linalg_formulas {
  using M = traced_matrix;
  static constexpr std::size_t arguments = Rule::arguments, results = Rule::results;
  using every_argument = std::make_index_sequence<arguments>;
  using every_result = std::make_index_sequence<results>;

  static std::vector<slot> tangent(recorder& in, const std::uint32_t* integers, const span* operands, const span& y,
                                   const span* tangents) {
    try {
      return tangent(in, integers, operands, y, tangents, every_argument{}, every_result{});
    } catch (const LinAlgError& error) {
      throw LinAlgError(renamed(error.what(), Rule::numpy.empty() ? Rule::name : Rule::numpy));
    }
  }
  static std::vector<slot> transposed(recorder& in, const std::uint32_t* integers, const span* operands, std::uint32_t k,
                                      const span& adjoint) {
    if (k != 1) return {};
    const M a = argument(in, integers, operands, 0);
    const shape y = result_shape(integers, every_argument{});
    return slots_of(Rule{}.transposed(a, M::of_entries(in, y, agrad::detail::number_of(in, adjoint))), false);
  }

 private:
  static shape shape_of(const std::uint32_t* integers, std::size_t k) {
    return {static_cast<Index>(integers[2 * k]), static_cast<Index>(integers[2 * k + 1])};
  }
  template <std::size_t... I>
  static shape result_shape(const std::uint32_t* integers, std::index_sequence<I...>) {
    return Rule{}.results_of(shape_of(integers, I)...)[0];
  }
  static M argument(recorder& in, const std::uint32_t* integers, const span* x, std::size_t k) {
    return algebra<M>::seen(in, shape_of(integers, k), x[k].first, (Rule::transposed_arguments >> k & 1U) != 0);
  }
  static std::vector<slot> slots_of(const M& m, bool by_columns) {
    std::vector<slot> slots;
    for (Index i = 0; i < (by_columns ? m.cols() : m.rows()); ++i)
      for (Index j = 0; j < (by_columns ? m.rows() : m.cols()); ++j) slots.push_back(by_columns ? m.at(j, i) : m.at(i, j));
    return slots;
  }

  template <std::size_t... I, std::size_t... R>
  static std::vector<slot> tangent(recorder& in, const std::uint32_t* integers, const span* operands, const span& y,
                                   const span* tangents, std::index_sequence<I...>, std::index_sequence<R...> each_result) {
    const auto shapes = Rule{}.results_of(shape_of(integers, I)...);
    if (all_empty(shapes)) return {};
    const std::array<M, arguments> x{argument(in, integers, operands, I)...};
    const std::array<M, results> values = algebra<M>::template results_of<Rule>(in, shapes, y.first, each_result);
    std::size_t size = 0;
    for (const shape& s : shapes) size += static_cast<std::size_t>(s.rows * s.cols);
    const auto* from = in.values().data() + y.first;  // copied: a recording moves its values
    Eigen::VectorXd data = Eigen::Map<const Eigen::VectorXd>(from + size, static_cast<Index>(y.count - size));
    filled_room room(data.data());
    const auto prepared = Rule{}.prepare(room, const_block(x[I].values())...);
    const auto shared = linearized(prepared, x[I]..., values[R]...);
    std::vector<traced_matrix> sums[results];
    (add<I>(sums, tangents[I], integers, prepared, shared, x[I]..., values[R]...), ...);
    std::vector<slot> slots;
    for (std::size_t r = 0; r < results; ++r) {
      const std::vector<slot> part = slots_of(sums[r][0], (Rule::transposed_results >> r & 1U) != 0);
      slots.insert(slots.end(), part.begin(), part.end());
    }
    return slots;
  }
  template <class Prepared, class... V>
  static auto linearized(const Prepared& prepared, const V&... values) {
    if constexpr (std::is_same_v<typename Rule::through, nothing>) {
      return Rule{}.linearize(prepared, values...);
    } else {
      const M& a = std::get<0>(std::tie(values...));
      check_apart(std::get<1>(std::tie(values...)).values());
      const typename Rule::through full{};
      return algebra<M>::apply(full, prepared, full.results_of(shape{a.rows(), a.cols()}), a);
    }
  }
  /// Adds the contribution of the I-th argument's tangent to the tangents of the results.
  template <std::size_t I, class Prepared, class Shared, class... V>
  static void add(std::vector<M>* sums, const span& d, const std::uint32_t* integers, const Prepared& prepared,
                  const Shared& shared, const V&... values) {
    if (d.count == 0) return;
    recorder& in = std::get<0>(std::tie(values...)).in();
    const M along = algebra<M>::seen(in, shape_of(integers, I), d.first, (Rule::transposed_arguments >> I & 1U) != 0);
    const auto t = packed(Rule{}.tangent(wrt<static_cast<int>(I)>{}, prepared, shared, values..., along));
    for (std::size_t r = 0; r < results; ++r) {
      const M sum = sums[r].empty() ? t[r] : plus(sums[r][0], t[r]);
      sums[r].assign(1, sum);
    }
  }
  template <std::size_t N>
  static std::array<M, N> packed(const std::array<M, N>& t) {
    return t;
  }
  static std::array<M, 1> packed(const M& t) { return {t}; }
};

/// Whether a rule has the transpose of its map from the second argument to the result, which is linear: `transposed(first
/// argument, adjoint of the result)`.
template <class Rule, class = void>
inline constexpr bool has_transposed = false;
template <class Rule>
inline constexpr bool has_transposed<Rule, std::void_t<decltype(std::declval<Rule>().transposed(
                                               std::declval<traced_matrix>(), std::declval<traced_matrix>()))>> = true;

template <class Rule, bool is_linear>
constexpr recorded_formulas formulas_of_rule() {
  if constexpr (is_linear)
    return {};
  else if constexpr (has_transposed<Rule>)
    return {nullptr, &linalg_formulas<Rule>::tangent, &linalg_formulas<Rule>::transposed};
  else
    return {nullptr, &linalg_formulas<Rule>::tangent, nullptr};
}

}  // namespace agrad::linalg
