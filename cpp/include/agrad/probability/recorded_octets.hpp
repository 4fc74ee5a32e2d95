// Recorded octets: sums of a probability rule's terms in a program by the rule's formulas for eight terms at once
// (probability/octets.hpp), in place of the elementwise operations that the terms were recorded as.
//
// One loop serves every mixture of arrays and single numbers, so that a rule has two loops in the module: with slopes and
// without. Read next: program/tiles/term_sums.hpp, which tells when a program uses the formulas.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <agrad/probability/terms.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/rules/density/density.hpp>

namespace agrad::detail {

/// The integers of an operation that sums terms: their number, how often a term that stands for all is counted, and bits: bit 0
/// for propto, bit 1 + k for derivatives with respect to argument k.
struct integers_of_terms {
  std::uint32_t n, copies, bits;

  bool propto() const { return (bits & 1U) != 0; }
  bool is_active(std::uint32_t k) const { return (bits >> (k + 1) & 1U) != 0; }
  static integers_of_terms at(const std::uint32_t* integers) { return {integers[0], integers[1], integers[2]}; }
};

/// Sums n terms by formulas, eight at once. to: as the slopes of term_functions. Returns false where the formulas do not suit a
/// term. Sums and arguments are local, so that they remain in registers.
template <class Rule, bool with_slopes>
class recorded_octets {
  static constexpr std::size_t arity = std::size_t{Rule::arity};
  using formulas = typename Rule::octets;
  using octets = std::array<octet, arity>;

 public:
  static bool add(std::size_t n, const density_inputs<Rule, double>& in, const typename Rule::parts& included, double& total,
                  double* const* to) {
    return add(n, in, included, total, to, std::make_index_sequence<arity>{});
  }

 private:
  template <std::size_t... K>
  static bool add(std::size_t n, const density_inputs<Rule, double>& in, const typename Rule::parts& included, double& total,
                  double* const* to, std::index_sequence<K...> each) {
    constexpr std::size_t block = 32 * octet::size;  // few terms to a sum, so that little is lost by rounding
    const bool prepares_each = ((in[K].stride != 0 && Rule::arguments[K].prepared) || ...);
    auto prepared = in_each_lane<octet>(formulas::prepare(included, std::array<double, arity>{*in[K].values...}));
    octets x{octet(*in[K].values)...}, sums = same_for_each(octet(0.0), each), slope;
    octet sum = 0.0;
    std::size_t i = 0;
    for (std::size_t whole = n - n % octet::size; i < whole;) {
      octet of_block = 0.0;
      for (const std::size_t end = whole - i < block ? whole : i + block; i < end; i += octet::size) {
        ((in[K].stride != 0 ? void(x[K] = octet::load(in[K].values + i)) : void()), ...);
        if (AGRAD_UNLIKELY(!all_hold(formulas::suits(x)))) return false;
        if (prepares_each) prepared = formulas::prepare(included, x);
        of_block += formulas::term(prepared, x, included, slope);
        if constexpr (with_slopes) (pass(to[K], in[K].stride != 0, i, slope[K], sums[K]), ...);
      }
      sum += of_block;
    }
    if (const std::size_t rest = n - i; rest > 0) {
      ((in[K].stride != 0 ? void(x[K] = part_of(in[K].values + i, rest)) : void()), ...);
      if (AGRAD_UNLIKELY(!all_hold(formulas::suits(x)))) return false;
      if (prepares_each) prepared = formulas::prepare(included, x);
      sum += first_lanes(formulas::term(prepared, x, included, slope), rest);
      if constexpr (with_slopes) (pass_last(to[K], in[K].stride != 0, i, rest, slope[K], sums[K]), ...);
    }
    if constexpr (with_slopes) ((to[K] != nullptr && in[K].stride == 0 ? void(*to[K] = sums[K].sum()) : void()), ...);
    total = sum.sum();
    return true;
  }

  AGRAD_ALWAYS_INLINE static void pass(double* to, bool is_array, std::size_t i, const octet& slope, octet& sum) {
    if (to == nullptr) return;
    if (is_array)
      slope.store(to + i);
    else
      sum += slope;
  }
  AGRAD_ALWAYS_INLINE static void pass_last(double* to, bool is_array, std::size_t i, std::size_t count, const octet& slope,
                                            octet& sum) {
    if (to == nullptr) return;
    if (is_array)
      store_lanes(to + i, count, slope);
    else
      sum += first_lanes(slope, count);
  }
};

/// The functions of a rule's sum of terms (program/machine/operation.hpp).
template <class Rule>
struct recorded_terms {
  static constexpr std::size_t arity = std::size_t{Rule::arity};

  static density_inputs<Rule, double> inputs(const operation& op, const double* values) {
    density_inputs<Rule, double> in;
    for (std::size_t k = 0; k < arity; ++k) in[k] = {values + op.operands[k + 1].first, op.operands[k + 1].stride, false};
    return in;
  }

  static std::uint32_t count(const operation& op, const std::uint32_t* integers) {
    const auto given = integers_of_terms::at(integers);
    const bool is_included = !is_nothing<Rule>(given.n, recorded_parts<Rule>(given.propto()));
    const bool has_formulas = is_included && (!given.propto() || Rule::octets::has_propto);
    return has_formulas && op.operands[0].stride != 0 ? given.n : 0;
  }
  static bool is_active(const std::uint32_t* integers, std::uint32_t k) {
    return !is_data<Rule>(k) && integers_of_terms::at(integers).is_active(k);
  }
  static bool sum(const operation& op, const std::uint32_t* integers, const double* values, double& total,
                  double* const* slopes) {
    const auto given = integers_of_terms::at(integers);
    const auto in = inputs(op, values);
    density_check<Rule>(given.n, in);
    const auto included = recorded_parts<Rule>(given.propto());
    if (slopes == nullptr) return recorded_octets<Rule, false>::add(given.n, in, included, total, slopes);
    return recorded_octets<Rule, true>::add(given.n, in, included, total, slopes);
  }

  static constexpr term_functions functions{sum, count, is_active};
};

/// Returns the functions of a rule's terms; null where it has no formulas for octets.
template <class Rule>
constexpr const term_functions* functions_of_terms() {
  if constexpr (has_octets<Rule> && !Rule::is_product)
    return &recorded_terms<Rule>::functions;
  else
    return nullptr;
}

}  // namespace agrad::detail
