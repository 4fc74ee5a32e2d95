// Octets of terms: computes terms of a probability rule and their partial derivatives by formulas, eight at once or one.
//
// A rule whose time counts has formulas, in a member struct `octets`:
//     prepare      an array of what depends on the arguments marked as prepared alone, from (included, x); nothing by default
//     suits        for which x the formulas lose no digits but those that their parts cancel around a zero
//     term         the term, and in `slope` the partial derivatives, from (prepared, x, included, slope)
//     one          the same as `term` for a single x of numbers, from (x, included, slope), where that takes less than to
//                  prepare (optional)
// where x and `slope` are arrays with one S for each argument. The functions are templates on S, which is octet for eight terms
// at once and double for a single one; formulas for octets alone leave single terms to the rule's `term`. Eight terms of which
// one does not suit are computed one by one, and a single one that does not suit by the rule's `term`. So do not suit arguments
// outside of the support, nan, and those whose formulas overflow or cancel.
// Read next: probability/on_tape.hpp, which uses the sums; families/line/cauchy.hpp, formulas to imitate.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <agrad/probability/rule.hpp>
#include <agrad/rules/density/density.hpp>
#include <agrad/rules/density/first_lane.hpp>

namespace agrad {

/// What formulas for octets have in common.
template <int Arity>
struct octet_formulas {
  using octet = detail::octet;
  using parts = density_parts<Arity>;
  /// Whether the formulas leave out the same constants as the rule's term where `included` says so.
  static constexpr bool has_propto = true;
  /// Whether an octet takes less time than a single term, so that the last terms are computed as an octet, too.
  static constexpr bool fills_last = false;
  /// One value, or one partial derivative, for each argument.
  template <class S = octet>
  using each = std::array<S, std::size_t{Arity}>;

  template <class S>
  static std::array<S, 0> prepare(const parts&, const each<S>&) {
    return {};
  }
  /// Returns x where the condition holds, else y.
  AGRAD_ALWAYS_INLINE static octet chosen(const detail::octet_condition& is_first, const octet& x, const octet& y) {
    using detail::chosen;
    return chosen(is_first, x, y);
  }
  AGRAD_ALWAYS_INLINE static double chosen(bool is_first, double x, double y) { return is_first ? x : y; }
  /// Returns where x is between two numbers, so that neither powers nor quotients of such arguments overflow.
  template <class S, class Lower, class Upper>
  AGRAD_ALWAYS_INLINE static auto within(const S& x, const Lower& lower, const Upper& upper) {
    return x > lower && x < upper;
  }
};

namespace detail {

template <class Rule, class = void>
inline constexpr bool has_octets = false;
template <class Rule>
inline constexpr bool has_octets<Rule, std::void_t<typename Rule::octets>> = true;

/// Whether a rule's formulas are those of a single term, too: those that are templates on the scalar.
template <class Rule, class = void>
inline constexpr bool has_single_formulas = false;
template <class Rule>
inline constexpr bool has_single_formulas<
    Rule,
    std::void_t<decltype(Rule::octets::term(
        Rule::octets::prepare(typename Rule::parts{}, std::declval<const typename Rule::octets::template each<double>&>()),
        std::declval<const typename Rule::octets::template each<double>&>(), typename Rule::parts{},
        std::declval<typename Rule::octets::template each<double>&>()))>> = true;

/// Whether a rule has formulas for a single term apart.
template <class Rule, class = void>
inline constexpr bool has_formula_of_one = false;
template <class Rule>
inline constexpr bool has_formula_of_one<Rule, std::void_t<decltype(&Rule::octets::one)>> = true;

/// Returns whether some of n terms are computed as octets.
template <class Rule>
bool fills_octets(std::size_t n) {
  return Rule::octets::fills_last || n >= octet::size;
}

/// Returns `count` numbers, and the last one again for the other lanes.
inline octet part_of(const double* from, std::size_t count) {
  if (count == 1) return *from;
  double lanes[octet::size];
  for (std::size_t k = 0; k < octet::size; ++k) lanes[k] = from[std::min(k, count - 1)];
  return octet::load(lanes);
}
/// Returns the first `count` lanes, and zeros.
AGRAD_ALWAYS_INLINE octet first_lanes(const octet& x, std::size_t count) {
  constexpr double places[octet::size] = {0, 1, 2, 3, 4, 5, 6, 7};
  return chosen(octet::load(places) < static_cast<double>(count), x, 0.0);
}
/// Stores the first `count` lanes.
inline void store_lanes(double* to, std::size_t count, const octet& x) {
  double lanes[octet::size];
  x.store(lanes);
  std::copy_n(lanes, count, to);
}

inline double sum_of(double x) { return x; }
inline double sum_of(const octet& x) { return x.sum(); }

/// Returns the same numbers on S.
template <class S, std::size_t N>
AGRAD_ALWAYS_INLINE std::array<S, N> in_each_lane(const std::array<double, N>& single) {
  std::array<S, N> same;
  for (std::size_t k = 0; k < N; ++k) same[k] = single[k];
  return same;
}

/// Computes a single term whose arguments meet their conditions and suit the formulas, and its partial derivatives. Returns
/// false for other terms. Formulas for octets alone are computed for eight equal terms.
template <class Rule, std::size_t... K>
AGRAD_ALWAYS_INLINE bool formulas_for_one(const std::array<double, sizeof...(K)>& x, const typename Rule::parts& included,
                                          double& value, std::array<double, sizeof...(K)>& slope, std::index_sequence<K...>) {
  using formulas = typename Rule::octets;
  if (!meets_conditions<Rule>(x)) return false;
  if constexpr (has_formula_of_one<Rule>) {
    if (!formulas::suits(x)) return false;
    value = formulas::one(x, included, slope);
  } else if constexpr (has_single_formulas<Rule>) {
    if (!formulas::suits(x)) return false;
    value = formulas::term(formulas::prepare(included, x), x, included, slope);
  } else {
    const std::array<octet, sizeof...(K)> lanes{octet(x[K])...};
    if (!all_hold(formulas::suits(lanes))) return false;
    std::array<octet, sizeof...(K)> slopes;
    value = first_lane(formulas::term(in_each_lane<octet>(formulas::prepare(included, x)), lanes, included, slopes));
    ((slope[K] = first_lane(slopes[K])), ...);
  }
  return true;
}
template <class Rule, std::size_t N>
AGRAD_ALWAYS_INLINE bool formulas_for_one(const std::array<double, N>& x, const typename Rule::parts& included, double& value,
                                          std::array<double, N>& slope) {
  return formulas_for_one<Rule>(x, included, value, slope, std::make_index_sequence<N>{});
}

/// Sums terms by formulas, in octets or one by one, as S is octet or double. Argument K is an array if is_array[K], else one
/// number.
template <class Rule, class S, bool... is_array>
class formula_sums {
  using places = std::index_sequence_for<std::bool_constant<is_array>...>;
  using formulas = typename Rule::octets;
  using arguments = std::array<S, std::size_t{Rule::arity}>;
  using inputs = std::array<density_input<double>, std::size_t{Rule::arity}>;
  using pointers = std::array<double*, std::size_t{Rule::arity}>;
  static constexpr std::size_t width = sizeof(S) / sizeof(double);

 public:
  double value = 0;
  std::array<double, std::size_t{Rule::arity}> partials{};

  /// Adds the terms from `begin` on, and returns the end of what was added: n, or for octets the end of the last full one. In
  /// the last octet of all n the last term is repeated. The derivatives with respect to active arguments are added to
  /// `partials`, for arrays stored in `partial`. Calls single(begin, end) for terms that do not suit the formulas.
  template <bool... is_active, class Single>
  AGRAD_ALWAYS_INLINE std::size_t add(std::size_t begin, std::size_t n, const inputs& in, const typename Rule::parts& included,
                                      const pointers& partial, const Single& single) {
    return add<is_active...>(begin, n, in, included, partial, single, places{});
  }

 private:
  /// The sums that a loop adds to.
  struct totals {
    S value = 0.0;
    arguments partials = same_for_each(S(0.0), std::make_index_sequence<std::size_t{Rule::arity}>{});
  };

  template <bool... is_active, class Single, std::size_t... K>
  AGRAD_ALWAYS_INLINE std::size_t add(std::size_t begin, std::size_t n, const inputs& in, const typename Rule::parts& included,
                                      const pointers& partial, const Single& single, std::index_sequence<K...>) {
    const auto prepared = in_each_lane<S>(formulas::prepare(included, std::array<double, sizeof...(K)>{*in[K].values...}));
    std::size_t i = begin;
    totals sums;
    for (; i + width <= n; i += width) {
      i = add_suitable<is_active...>(i, n, in, included, prepared, partial, sums, std::index_sequence<K...>{});
      if (i + width > n) break;
      single(i, i + width);
    }
    if constexpr (formulas::fills_last && width > 1)
      if (i < n) {
        arguments x{S(*in[K].values)...}, slopes;
        ((is_array ? void(x[K] = part_of(in[K].values + i, n - i)) : void()), ...);
        if (AGRAD_UNLIKELY(!all_hold(formulas::suits(x)))) {
          single(i, n);
        } else {
          sums.value += first_lanes(formulas::term(prepared_for(x, included, prepared), x, included, slopes), n - i);
          (add_last_slope<is_array, is_active>(sums.partials[K], partial[K], i, n - i, slopes[K]), ...);
        }
        i = n;
      }
    value = sum_of(sums.value);
    ((partials[K] = sum_of(sums.partials[K])), ...);
    return i;
  }
  /// Adds octets from term i on, up to the first one that does not suit the formulas, and returns where that begins. The loop
  /// is a function of its own, without calls, so that sums and what is prepared remain in registers.
  template <bool... is_active, class Prepared, std::size_t... K>
  AGRAD_NEVER_INLINE static std::size_t add_suitable(std::size_t i, std::size_t n, const inputs& in,
                                                     const typename Rule::parts& included, const Prepared& prepared,
                                                     const pointers& partial, totals& to, std::index_sequence<K...>) {
    arguments x{S(*in[K].values)...}, sums = to.partials;
    S sum = to.value;
    for (; i + width <= n; i += width) {
      ((is_array ? void(x[K] = load<S>(in[K].values + i)) : void()), ...);
      if (AGRAD_UNLIKELY(!all_hold(formulas::suits(x)))) break;
      arguments slopes;
      sum += formulas::term(prepared_for(x, included, prepared), x, included, slopes);
      (add_slope<is_array, is_active>(sums[K], partial[K], i, slopes[K]), ...);
    }
    to.value = sum;
    to.partials = sums;
    return i;
  }
  /// Returns what is prepared for x: what is given, unless an argument that it depends on is an array.
  template <class Prepared>
  AGRAD_ALWAYS_INLINE static Prepared prepared_for(const arguments& x, const typename Rule::parts& included,
                                                   const Prepared& given) {
    return prepared_for(x, included, given, places{});
  }
  template <class Prepared, std::size_t... K>
  AGRAD_ALWAYS_INLINE static Prepared prepared_for(const arguments& x, const typename Rule::parts& included,
                                                   const Prepared& given, std::index_sequence<K...>) {
    if constexpr (((is_array && Rule::arguments[K].prepared) || ...))
      return formulas::prepare(included, x);
    else
      return given;
  }
  template <bool of_array, bool is_active>
  AGRAD_ALWAYS_INLINE static void add_slope(S& sum, double* partial, std::size_t i, const S& slope) {
    if constexpr (is_active && of_array)
      store(partial + i, slope);
    else if constexpr (is_active)
      sum += slope;
  }
  template <bool of_array, bool is_active>
  static void add_last_slope(octet& sum, double* partial, std::size_t i, std::size_t count, const octet& slope) {
    if constexpr (is_active && of_array)
      store_lanes(partial + i, count, slope);
    else if constexpr (is_active)
      sum += first_lanes(slope, count);
  }
};

}  // namespace detail
}  // namespace agrad
