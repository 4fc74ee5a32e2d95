// Probability on the tape: the engine of probability rules on variables.
//
// A single term with formulas is computed by these alone. Other terms are summed by formulas where they suit, else on duals
// with one tangent for each variable argument. The partial derivatives enter the tape as one statement or closure.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/probability/direct.hpp>
#include <agrad/tape/density.hpp>

namespace agrad::detail {

/// The sum, or for distribution functions the product, of a rule's terms on operands of the tape, whose partial derivatives are
/// written to the operands.
template <class Rule, bool propto, class Places, class... Operand>
class terms_on_tape;
template <class Rule, bool propto, std::size_t... K, class... Operand>
class terms_on_tape<Rule, propto, std::index_sequence<K...>, Operand...> {
  using places = std::index_sequence<K...>;
  static constexpr std::size_t arity = sizeof...(K);
  static constexpr bool is_variable[arity] = {(Operand::leaves + Operand::sequences > 0)...};
  static constexpr bool is_active[arity] = {(is_variable[K] && !is_data<Rule>(K))...};
  static constexpr std::size_t variables = ((is_active[K] ? 1U : 0U) + ...);
  static constexpr bool has_formulas = has_formulas_for_one<Rule, propto>();
  using T = dual<double, static_cast<int>(variables == 0 ? 1 : variables)>;
  template <std::size_t k>
  using argument = std::conditional_t<is_active[k], T, double>;
  using parts = typename Rule::parts;
  using inputs = std::array<density_input<double>, arity>;
  using pointers = std::array<double*, arity>;
  using preparation = decltype(Rule::prepare(std::declval<const parts&>(), std::declval<argument<K>>()...));

 public:
  /// Computes a term of scalars by formulas. Returns false where there are none that suit.
  AGRAD_ALWAYS_INLINE static bool by_formulas_for_one(double& value, Operand&... operand) {
    if constexpr (has_formulas && !(Operand::is_array || ...)) {
      const parts included = probability_parts<Rule>(propto, {is_active[K]...});
      std::array<double, arity> slope;
      if (is_nothing<Rule>(1, included) || !formulas_for_one<Rule>({*operand.input().values...}, included, value, slope))
        return false;
      ((is_variable[K] ? void(*operand.partial() = is_active[K] ? slope[K] : 0.0) : void()), ...);
      return true;
    } else {
      return false;
    }
  }

  /// Returns the sum on any operands. Throws DomainError unless the arguments meet their conditions. Where there are formulas
  /// for single terms, these are inlined and the rest is not.
  static double sum(std::size_t n, Operand&... operand) {
    if constexpr (has_formulas)
      return sum_apart(n, operand...);
    else
      return sum_here(n, operand...);
  }

 private:
  AGRAD_ALWAYS_INLINE static double sum_here(std::size_t n, Operand&... operand) {
    const inputs in{operand.input()...};
    density_check<Rule>(n, in);
    return terms_on_tape(n, in, {operand.partial()...}).sum();
  }
  AGRAD_NEVER_INLINE static double sum_apart(std::size_t n, Operand&... operand) { return sum_here(n, operand...); }

  terms_on_tape(std::size_t n, const inputs& in, const pointers& partial) : n_(n), in_(in), partial_(partial) {
    if (Rule::is_product && n_ > 1) others_ = products_of_others(n_, in_);
  }
  double sum() {
    if (!is_nothing<Rule>(n_, included_)) add_all();
    for (std::size_t k = 0; k < arity; ++k)
      if (is_active[k] && in_[k].stride == 0)
        *partial_[k] = sums_.tangent[lane_of(k)];
      else if (is_variable[k] && !is_active[k])
        std::fill_n(partial_[k], in_[k].stride == 0 ? 1 : n_, 0.0);
    return total_;
  }
  void add_all() {
    std::size_t done = 0;
    if constexpr (adds_octets<Rule, propto, Operand...>())
      if (fills_octets<Rule>(n_)) done = add_by_formulas<octet>(done);
    if constexpr (has_formulas && has_single_formulas<Rule> && !Rule::is_product) done = add_by_formulas<double>(done);
    if (done != n_) add_each(done, n_);
  }
  /// Adds terms from `begin` on by formulas for S, and returns the end of what was added.
  template <class S>
  std::size_t add_by_formulas(std::size_t begin) {
    formula_sums<Rule, S, Operand::has_stride...> by_formulas;
    const auto single = [this](std::size_t from, std::size_t to) { add_each(from, to); };
    const std::size_t end = by_formulas.template add<is_active[K]...>(begin, n_, in_, included_, partial_, single);
    total_ += by_formulas.value;
    ((is_active[K] ? void(sums_.tangent[lane_of(K)] += by_formulas.partials[K]) : void()), ...);
    return end;
  }
  /// Adds terms on duals.
  void add_each(std::size_t begin, std::size_t end) {
    const auto read = [&](auto k, std::size_t i) { return seeded<k>(i); };
    const auto add_term = [this](std::size_t i, const auto& term) { add(i, T(term)); };
    const bool prepares_each = ((Rule::arguments[K].prepared && in_[K].stride != 0) || ...);
    if (!prepared_) prepared_.emplace(Rule::prepare(included_, read(place<K>{}, 0)...));
    each_probability_term<Rule>(begin, end, included_, *prepared_, prepares_each, read, add_term, places{});
  }
  void add(std::size_t i, const T& term) {
    const double weight = others_.empty() ? 1.0 : others_[i];
    total_ = Rule::is_product ? total_ * term.value : total_ + term.value;
    for (std::size_t k = 0; k < arity; ++k) {
      if (!is_active[k]) continue;
      const double slope = passed(term.tangent[lane_of(k)], weight);
      if (in_[k].stride == 0)
        sums_.tangent[lane_of(k)] += slope;
      else
        partial_[k][i] = slope;
    }
  }

  /// Returns the number of active arguments before argument k.
  static constexpr std::size_t lane_of(std::size_t k) {
    std::size_t lane = 0;
    for (std::size_t j = 0; j < k; ++j) lane += is_active[j] ? 1U : 0U;
    return lane;
  }
  /// Returns argument k of term i, as a dual if it is active.
  template <std::size_t k>
  argument<k> seeded(std::size_t i) const {
    argument<k> x(in_[k].values[i * in_[k].stride]);
    if constexpr (is_active[k]) x.tangent[lane_of(k)] = 1;
    return x;
  }
  /// Returns for each term the product of all others, which is the derivative of the product.
  static std::vector<double> products_of_others(std::size_t n, const inputs& in) {
    std::vector<double> terms(n), others(n);
    const auto read = [&](auto k, std::size_t i) { return in[k].values[i * in[k].stride]; };
    const auto keep = [&](std::size_t i, double term) { terms[i] = term; };
    const parts all;
    each_probability_term<Rule>(0, n, all, Rule::prepare(all, read(place<K>{}, 0)...), true, read, keep, places{});
    double product = 1;
    for (std::size_t i = 0; i < n; ++i) others[i] = product, product *= terms[i];
    product = 1;
    for (std::size_t i = n; i-- > 0;) others[i] *= product, product *= terms[i];
    return others;
  }

  const std::size_t n_;
  const inputs& in_;
  const pointers partial_;
  const parts included_ = probability_parts<Rule>(propto, {is_active[K]...});
  std::vector<double> others_;  // empty for sums and for single terms
  std::optional<preparation> prepared_;
  double total_ = Rule::is_product ? 1.0 : 0.0;
  T sums_{0.0};
};

template <class Rule, bool propto>
struct probability_on<Rule, var, propto> {
  template <class... X>
  static var apply(std::size_t size, const X&... x) {
    return with_operands(
        size, [](std::size_t n, auto&&... operand) { return record(std::index_sequence_for<X...>{}, n, operand...); }, x...);
  }

 private:
  template <class Places, class... Operand>
  static var record(Places, std::size_t n, Operand&... operand) {
    using terms = terms_on_tape<Rule, propto, Places, Operand...>;
    double value = 0;
    if (!terms::by_formulas_for_one(value, operand...)) value = terms::sum(n, operand...);
    return density_engine<var>::result(value, operand...);
  }
};

}  // namespace agrad::detail
