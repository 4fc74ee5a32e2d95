// Loop: the only loop over the terms of a density, for every mixture of scalars and arrays and every scalar type.
//
// Doubles are processed in octets, the remainder and other scalars one by one. Arguments of stride 0 are read before the loop,
// and data that rules prepare from such arguments are prepared once before the loop. Terms outside of the density's support add
// -inf and have no derivatives; an octet with such a term is computed term by term.
// Read next: rules/density/density.hpp, whose sums use the loop.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <agrad/rules/density/octet_rules.hpp>
#include <agrad/rules/density/rule.hpp>

namespace agrad::detail {

/// A sum of terms. A sum of doubles has a part for octets and a part for single terms, added in this order.
template <class S>
struct density_total {
  S single = S(0);
  AGRAD_ALWAYS_INLINE void add(const S& x) { single += x; }
  S sum() const { return single; }
};
template <>
struct density_total<double> {
  octet lanes = 0.0;
  double single = 0;
  AGRAD_ALWAYS_INLINE void add(const octet& x) { lanes += x; }
  AGRAD_ALWAYS_INLINE void add(double x) { single += x; }
  double sum() const { return lanes.sum() + single; }
};

template <class P, class S>
AGRAD_ALWAYS_INLINE P load(const S* from) {
  if constexpr (std::is_same_v<P, S>)
    return *from;
  else
    return P::load(from);
}
template <class S>
AGRAD_ALWAYS_INLINE void store(S* to, const S& x) {
  *to = x;
}
AGRAD_ALWAYS_INLINE void store(double* to, const octet& x) { x.store(to); }

/// Returns an array with the same value for each place. There is no loop here, because an array indexed by a variable stays in
/// memory; for the same reason there is no loop over arguments near the loop over terms.
template <class P, std::size_t... K>
AGRAD_ALWAYS_INLINE std::array<P, sizeof...(K)> same_for_each(const P& value, std::index_sequence<K...>) {
  return {(static_cast<void>(K), value)...};
}

/// Which arguments are arrays, and whether prepared data depend on an array.
template <class Rule, class Places = std::make_index_sequence<static_cast<std::size_t>(Rule::arity)>>
struct density_strides;
template <class Rule, std::size_t... K>
struct density_strides<Rule, std::index_sequence<K...>> {
  std::array<bool, sizeof...(K)> is_array;
  bool prepare_each;

  template <class S>
  AGRAD_ALWAYS_INLINE explicit density_strides(const density_inputs<Rule, S>& in)
      : is_array{(in[K].stride != 0)...}, prepare_each(((in[K].stride != 0 && Rule::arguments[K].prepared) || ...)) {}
};

template <class Rule, class P, class S, std::size_t... K>
AGRAD_ALWAYS_INLINE std::array<P, sizeof...(K)> first_term(const density_inputs<Rule, S>& in, std::index_sequence<K...>) {
  return {P(*in[K].values)...};
}
/// Returns the arguments of the first term.
template <class Rule, class P, class S>
AGRAD_ALWAYS_INLINE auto first_term(const density_inputs<Rule, S>& in) {
  return first_term<Rule, P>(in, std::make_index_sequence<static_cast<std::size_t>(Rule::arity)>{});
}

/// The terms computed on P: on the scalar S itself, or on octets.
template <class Rule, class P, class S>
class density_terms {
  static constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  using parts = typename Rule::parts;
  using prepared_type = typename Rule::template prepared<P>;

 public:
  AGRAD_ALWAYS_INLINE density_terms(const density_inputs<Rule, S>& in, const density_strides<Rule>& strides,
                                    const parts& included, const prepared_type& prepared)
      : in_(in), strides_(strides), included_(included), x_(first_term<Rule, P>(in)), prepared_(prepared) {}

  const prepared_type& prepared() const { return prepared_; }
  /// Reads the arguments of term i, or of the octet from term i on; returns whether all are in the density's support.
  AGRAD_ALWAYS_INLINE bool read(std::size_t i) {
    read(i, std::make_index_sequence<arity>{});
    return all_hold(Rule::in_support(x_));
  }
  /// Returns the value of the terms read last, and with `with_partials` their partial derivatives.
  template <bool with_partials>
  AGRAD_ALWAYS_INLINE P value(std::array<P, arity>& partial) {
    if (strides_.prepare_each) prepared_ = prepared_type(x_, included_);
    return Rule::template term<with_partials>(prepared_, x_, included_, partial);
  }

 private:
  template <std::size_t... K>
  AGRAD_ALWAYS_INLINE void read(std::size_t i, std::index_sequence<K...>) {
    ((strides_.is_array[K] ? void(x_[K] = load<P>(in_[K].values + i)) : void()), ...);
  }

  density_inputs<Rule, S> in_;
  density_strides<Rule> strides_;
  parts included_;
  std::array<P, arity> x_;
  prepared_type prepared_;
};

/// Calls use.add(i, value, partial) for each of n > 0 terms, or for octets that begin with term i.
template <class Rule, bool with_partials, class S, class Use>
AGRAD_ALWAYS_INLINE void each_term(std::size_t n, const density_inputs<Rule, S>& in, const typename Rule::parts& included,
                                   Use& use) {
  constexpr std::make_index_sequence<static_cast<std::size_t>(Rule::arity)> places;
  using P = std::conditional_t<std::is_same_v<S, double>, octet, S>;
  const density_strides<Rule> strides(in);
  density_terms<Rule, S, S> single(in, strides, included,
                                   typename Rule::template prepared<S>(first_term<Rule, S>(in), included));
  density_terms<Rule, P, S> octets(in, strides, included, typename Rule::template prepared<P>(single.prepared()));
  for (std::size_t i = 0; i < n;) {
    if constexpr (!std::is_same_v<P, S>) {
      for (; i + octet::size <= n && octets.read(i); i += octet::size) {
        auto partial = same_for_each(P(0), places);
        const P value = octets.template value<with_partials>(partial);
        use.add(i, value, partial);
      }
    }
    for (const std::size_t end = i + octet::size < n ? i + octet::size : n; i < end; ++i) {
      auto partial = same_for_each(S(0), places);
      const S value = single.read(i) ? single.template value<with_partials>(partial) : S(-infinity);
      use.add(i, value, partial);
    }
  }
}

}  // namespace agrad::detail
