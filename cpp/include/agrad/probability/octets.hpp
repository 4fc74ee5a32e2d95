// Octets of terms: computes eight terms of a probability rule and their partial derivatives at once.
//
// A rule whose time counts has formulas for octets, in a member struct `octets`:
//     prepare      an array of what depends on the arguments marked as prepared alone, from (included, x); nothing by default
//     suits        for which lanes of x the formulas lose no digits but those that their parts cancel around a zero
//     term         the terms, and in `slope` the partial derivatives, from (prepared, x, included, slope)
// where x and `slope` are arrays with one octet for each argument; `prepare` is a template on the scalar, since numbers are
// prepared once. Eight terms of which one does not suit are computed one by one, by the rule's `term`. So do not suit arguments
// outside of the support, nan, and those whose formulas overflow or cancel.
// Read next: probability/apply.hpp, which uses the loop; probability/cauchy.hpp, formulas to imitate.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <agrad/probability/rule.hpp>
#include <agrad/rules/density/octet_rules.hpp>

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
  /// Returns where x is between two numbers, so that neither powers nor quotients of such arguments overflow.
  AGRAD_ALWAYS_INLINE static detail::octet_condition within(const octet& x, const octet& lower, const octet& upper) {
    return x > lower && x < upper;
  }
};

namespace detail {

template <class Rule, class = void>
inline constexpr bool has_octets = false;
template <class Rule>
inline constexpr bool has_octets<Rule, std::void_t<typename Rule::octets>> = true;

/// Sums octets of terms. Argument K is an array if is_array[K], else one number.
template <class Rule, bool... is_array>
class octet_sums {
  using places = std::index_sequence_for<std::bool_constant<is_array>...>;
  using formulas = typename Rule::octets;
  using arguments = std::array<octet, std::size_t{Rule::arity}>;
  using inputs = std::array<density_input<double>, std::size_t{Rule::arity}>;
  using pointers = std::array<double*, std::size_t{Rule::arity}>;

 public:
  octet value = 0.0;
  arguments partials;

  /// Adds terms in octets, and returns how many there are: all n, or as many as fill octets. In the last octet of all n the
  /// last term is repeated. The derivatives with respect to active arguments are added to `partials`, for arrays stored in
  /// `partial`. Calls single(begin, end) for terms that do not suit the formulas.
  template <bool... is_active, class Single>
  AGRAD_ALWAYS_INLINE std::size_t add(std::size_t n, const inputs& in, const typename Rule::parts& included,
                                      const pointers& partial, const Single& single) {
    if (!formulas::fills_last && n < octet::size) return 0;
    return add<is_active...>(n, in, included, partial, single, places{});
  }

 private:
  template <bool... is_active, class Single, std::size_t... K>
  AGRAD_ALWAYS_INLINE std::size_t add(std::size_t n, const inputs& in, const typename Rule::parts& included,
                                      const pointers& partial, const Single& single, std::index_sequence<K...>) {
    constexpr bool prepares_each = ((is_array && Rule::arguments[K].prepared) || ...);
    arguments x{octet(*in[K].values)...};
    auto prepared = in_each_lane(formulas::prepare(included, std::array<double, sizeof...(K)>{*in[K].values...}));
    const auto terms = [&](std::size_t begin, std::size_t end, arguments& slopes, octet& sum) {
      if (AGRAD_UNLIKELY(!all_hold(formulas::suits(x)))) {
        single(begin, end);
        return false;
      }
      if constexpr (prepares_each) prepared = formulas::prepare(included, x);
      sum = formulas::term(prepared, x, included, slopes);
      return true;
    };
    std::size_t i = 0;
    for (; i + octet::size <= n; i += octet::size) {
      ((is_array ? void(x[K] = octet::load(in[K].values + i)) : void()), ...);
      arguments slopes;
      octet sum;
      if (!terms(i, i + octet::size, slopes, sum)) continue;
      value += sum;
      (add_slope<is_array, is_active>(partials[K], partial[K], i, slopes[K]), ...);
    }
    if constexpr (formulas::fills_last)
      if (i < n) {
        ((is_array ? void(x[K] = part_of(in[K].values + i, n - i)) : void()), ...);
        arguments slopes;
        octet sum;
        if (!terms(i, n, slopes, sum)) return n;
        value += first_lanes(sum, n - i);
        (add_last_slope<is_array, is_active>(partials[K], partial[K], i, n - i, slopes[K]), ...);
        return n;
      }
    return i;
  }
  template <bool of_array, bool is_active>
  AGRAD_ALWAYS_INLINE static void add_slope(octet& sum, double* partial, std::size_t i, const octet& slope) {
    if constexpr (is_active && of_array)
      slope.store(partial + i);
    else if constexpr (is_active)
      sum += slope;
  }
  template <bool of_array, bool is_active>
  static void add_last_slope(octet& sum, double* partial, std::size_t i, std::size_t count, const octet& slope) {
    if constexpr (is_active && of_array) {
      double lanes[octet::size];
      slope.store(lanes);
      std::copy_n(lanes, count, partial + i);
    } else if constexpr (is_active) {
      sum += first_lanes(slope, count);
    }
  }
  /// Returns `count` numbers, and the last one again for the other lanes.
  static octet part_of(const double* from, std::size_t count) {
    double lanes[octet::size];
    for (std::size_t k = 0; k < octet::size; ++k) lanes[k] = from[std::min(k, count - 1)];
    return octet::load(lanes);
  }
  /// Returns the first `count` lanes, and zeros.
  static octet first_lanes(const octet& x, std::size_t count) {
    double lanes[octet::size];
    x.store(lanes);
    std::fill(lanes + count, lanes + octet::size, 0.0);
    return octet::load(lanes);
  }
  template <std::size_t N>
  static std::array<octet, N> in_each_lane(const std::array<double, N>& single) {
    std::array<octet, N> same;
    for (std::size_t k = 0; k < N; ++k) same[k] = single[k];
    return same;
  }
};

}  // namespace detail
}  // namespace agrad
