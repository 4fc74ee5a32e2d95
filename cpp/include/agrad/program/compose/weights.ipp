// Definitions of program/compose/weights.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <agrad/program/compose/origin.hpp>
#include <agrad/program/compose/rules.hpp>
#include <agrad/program/compose/weights.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {

/// Columns of slots, one slot for each entry; column k has the k-th number of each entry that has so many.
class slot_columns {
 public:
  slot_columns(std::size_t entries, slot rest) : entries_(entries), rest_(rest) {}

  void put(std::size_t entry, std::size_t k, slot number) {
    if (k == columns_.size()) columns_.emplace_back(entries_, rest_);
    columns_[k][entry] = number;
  }
  /// Records the k-th numbers; entries without one are `rest`.
  std::vector<span> recorded(recorder& in) const {
    std::vector<span> all;
    for (const std::vector<slot>& column : columns_) all.push_back(in.dense(column.data(), entries_));
    return all;
  }

 private:
  std::size_t entries_;
  slot rest_;
  std::vector<std::vector<slot>> columns_;
};

/// Records a rule of spans of equal length.
template <class Rule, class... Spans>
span applied_to(recorder& in, const Spans&... x) {
  const span all[] = {x...};
  return in.consecutive(in.apply(kernel_of_rule<Rule>(), all[0].count, all, sizeof...(x)), all[0].count);
}

/// Records the numbers of each entry, joined by a rule, of which the operand `all` on the left may be missing.
template <class Rule>
std::optional<span> joined_by(recorder& in, std::optional<span> all, const std::vector<span>& columns) {
  for (const span& column : columns) all = all ? applied_to<Rule>(in, *all, column) : column;
  return all;
}

inline bool is_logarithm(const applied_rule& x) {
  return is_rule<log_rule>(x) || is_rule<log1p_rule>(x) || is_rule<log1m_rule>(x);
}

constexpr int most_summands = 8;  // of an entry; further sums are taken as they are

inline bool has_logarithm(const recorder& in, slot first, std::uint32_t count, int depth);

/// Returns whether has_logarithm is true of the slots that a gather copies, with equal and following slots taken together.
inline bool has_logarithm_among(const recorder& in, const std::uint32_t* slots, std::uint32_t count, int depth) {
  for (std::uint32_t i = 0; i < count;) {
    const std::uint32_t begin = i++;
    while (i < count && slots[i] == slots[begin]) ++i;
    const bool is_repeated = i > begin + 1;
    while (!is_repeated && i < count && slots[i] == slots[i - 1] + 1) ++i;
    if (has_logarithm(in, slots[begin], is_repeated ? 1 : i - begin, depth)) return true;
  }
  return false;
}

/// Returns whether a sum among the entries has the logarithm of a variable, within `depth` operations on the left and fewer on
/// the right, so that sums of sums take little time.
inline bool has_logarithm(const recorder& in, slot first, std::uint32_t count, int depth) {
  while (count > 0) {
    if (!in.is_active(first)) {
      ++first, --count;
      continue;
    }
    const operation* op = producer(in, first);
    const slot end = op == nullptr ? next_result(in, first) : op->result + op->count;
    const std::uint32_t here = std::min(count, end - first);
    const std::optional<applied_rule> from = op == nullptr ? std::nullopt : rule_at(*op, first, here, 1);
    if (from && is_logarithm(*from)) return true;
    const bool is_sum = from && is_rule<add_rule>(*from);
    if (depth > 0 && (is_sum || (from && is_rule<subtract_rule>(*from)))) {
      const span &left = from->operands[0], &right = from->operands[1];
      if (has_logarithm(in, left.first, left.count, depth - 1)) return true;
      if (is_sum && has_logarithm(in, right.first, right.count, depth / 2)) return true;
    }
    if (op != nullptr && op->what == &kernels::gather &&
        has_logarithm_among(in, in.code().integers.data() + op->data + (first - op->result), here, depth))
      return true;
    first += here, count -= here;
  }
  return false;
}

/// The summands of each entry: logarithms of variables, of which the arguments are kept, and other terms.
class summands {
 public:
  summands(recorder& in, std::size_t entries)
      : in_(in),
        entries_(entries),
        kinds_{slot_columns(entries, in.constant(1.0)), slot_columns(entries, 0), slot_columns(entries, 0),
               slot_columns(entries, 0), slot_columns(entries, 0)} {}

  void add(std::size_t entry, slot x) {
    entry_ = entry;
    here_ = {};
    splits_left_ = most_summands - 1;
    split(x);
  }

  weighted_terms joined() const {
    std::vector<span> logs_1p = recorded(of_log1p), weights = recorded(of_log), terms = recorded(added);
    for (const span& x : recorded(of_log1m)) logs_1p.push_back(applied_to<negative_rule>(in_, x));
    for (const span& x : logs_1p) {
      weights.push_back(applied_to<weight_in_log1p_rule>(in_, x));
      terms.push_back(applied_to<term_in_log1p_rule>(in_, x));
    }
    if (terms.empty()) terms.push_back(same(0));
    if (weights.empty()) weights.push_back(same(in_.constant(1.0)));
    const span sum = *joined_by<subtract_rule>(in_, joined_by<add_rule>(in_, std::nullopt, terms), recorded(subtracted));
    const span product = *joined_by<multiply_rule>(in_, std::nullopt, weights);
    // where a weight is zero, logsumexp does not look at the term
    return {sum, applied_to<weight_beside_rule>(in_, product, sum)};
  }

 private:
  enum kind : std::uint8_t { of_log, of_log1p, of_log1m, added, subtracted };

  std::vector<span> recorded(kind of) const { return kinds_[of].recorded(in_); }
  span same(slot x) const { return in_.dense(std::vector<slot>(entries_, x).data(), entries_); }
  void put(kind of, slot x) { kinds_[of].put(entry_, here_[of]++, x); }

  void split(slot x) {
    const operation* op = producer(in_, x);
    while (op != nullptr && op->what == &kernels::gather) {
      x = in_.code().integers[op->data + (x - op->result)];
      op = producer(in_, x);
    }
    const std::optional<applied_rule> from = op == nullptr ? std::nullopt : rule_at(*op, x, 1, 0);
    if (from && is_logarithm(*from) && from->operands[0].active)
      return put(is_rule<log_rule>(*from) ? of_log : is_rule<log1p_rule>(*from) ? of_log1p : of_log1m, from->operands[0].first);
    const bool is_sum = from && is_rule<add_rule>(*from);
    const bool is_difference =
        from && is_rule<subtract_rule>(*from) && has_logarithm(in_, from->operands[0].first, 1, most_summands);
    if (splits_left_ == 0 || !(is_sum || is_difference)) return put(added, x);
    --splits_left_;
    split(from->operands[0].first);
    if (is_sum)
      split(from->operands[1].first);
    else
      put(subtracted, from->operands[1].first);
  }

  recorder& in_;
  std::size_t entries_, entry_ = 0;
  std::array<slot_columns, 5> kinds_;
  std::array<std::size_t, 5> here_{};  // numbers of this entry
  int splits_left_ = 0;
};

}  // namespace detail

AGRAD_INLINE std::optional<weighted_terms> weighted_terms_of(recorder& in, const span& x) {
  if (!x.active || !detail::has_logarithm(in, x.first, x.count, detail::most_summands)) return std::nullopt;
  detail::summands of(in, x.count);
  for (std::uint32_t i = 0; i < x.count; ++i) of.add(i, x.first + i);
  return of.joined();
}

}  // namespace agrad
