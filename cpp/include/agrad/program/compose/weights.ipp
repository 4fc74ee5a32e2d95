// Definitions of program/compose/weights.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include <agrad/program/compose/origin.hpp>
#include <agrad/program/compose/rules.hpp>
#include <agrad/program/compose/weights.hpp>

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
  /// Records the numbers of each entry, joined by a rule; entries without one are `rest`.
  template <class Rule>
  span joined(recorder& in) const {
    if (columns_.empty()) return in.dense(std::vector<slot>(entries_, rest_).data(), entries_);
    span all = in.dense(columns_[0].data(), entries_);
    for (std::size_t k = 1; k < columns_.size(); ++k) {
      const span both[2] = {all, in.dense(columns_[k].data(), entries_)};
      all = in.consecutive(in.apply(kernel_of_rule<Rule>(), entries_, both, 2), entries_);
    }
    return all;
  }

 private:
  std::size_t entries_;
  slot rest_;
  std::vector<std::vector<slot>> columns_;
};

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
    if (from && is_rule<log_rule>(*from)) return true;
    if (from && is_rule<add_rule>(*from) && depth > 0) {
      const span &left = from->operands[0], &right = from->operands[1];
      if (has_logarithm(in, left.first, left.count, depth - 1) || has_logarithm(in, right.first, right.count, depth / 2))
        return true;
    }
    if (op != nullptr && op->what == &kernels::gather &&
        has_logarithm_among(in, in.code().integers.data() + op->data + (first - op->result), here, depth))
      return true;
    first += here, count -= here;
  }
  return false;
}

/// The summands of each entry: logarithms of variables, of which the arguments are kept, and others.
class summands {
 public:
  summands(recorder& in, std::size_t entries) : in_(in), logarithms_(entries, in.constant(1.0)), others_(entries, 0) {}

  void add(std::size_t entry, slot x) {
    logarithms_here_ = others_here_ = 0;
    splits_left_ = most_summands - 1;
    split(entry, x);
  }

  weighted_terms joined() const {
    const span terms = others_.joined<add_rule>(in_), product = logarithms_.joined<multiply_rule>(in_);
    const span both[2] = {product, terms};  // where a weight is zero, logsumexp does not look at the term
    const slot weights = in_.apply(kernel_of_rule<weight_beside_rule>(), product.count, both, 2);
    return {terms, in_.consecutive(weights, product.count)};
  }

 private:
  void split(std::size_t entry, slot x) {
    const operation* op = producer(in_, x);
    while (op != nullptr && op->what == &kernels::gather) {
      x = in_.code().integers[op->data + (x - op->result)];
      op = producer(in_, x);
    }
    const std::optional<applied_rule> from = op == nullptr ? std::nullopt : rule_at(*op, x, 1, 0);
    if (from && is_rule<log_rule>(*from) && from->operands[0].active)
      return logarithms_.put(entry, logarithms_here_++, from->operands[0].first);
    if (!from || !is_rule<add_rule>(*from) || splits_left_ == 0) return others_.put(entry, others_here_++, x);
    --splits_left_;
    split(entry, from->operands[0].first);
    split(entry, from->operands[1].first);
  }

  recorder& in_;
  slot_columns logarithms_, others_;
  std::size_t logarithms_here_ = 0, others_here_ = 0;
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
