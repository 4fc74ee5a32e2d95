// Definitions of solve/system/jumps/kinks.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include <agrad/base/inline.hpp>
#include <agrad/program/recording/elementwise.hpp>
#include <agrad/program/sparse/reach.hpp>
#include <agrad/rules/arithmetic.hpp>
#include <agrad/rules/comparison.hpp>
#include <agrad/solve/system/jumps/held_code.hpp>
#include <agrad/solve/system/jumps/kinks.hpp>

namespace agrad {

AGRAD_INLINE kinks::kinks(const program& f, const std::vector<operation>& all)
    : f_(f), all_(all), made_by_(f.size(), {0, 0}), used_by_(f.size()), used_whole_(f.size(), 0) {
  const std::vector<std::uint32_t>& integers = f.code().integers;
  for (std::uint32_t at = 0; at < all.size(); ++at) {
    const operation& op = all[at];
    const bool is_gather = op.what->depends.how == dependence::gathered, is_entrywise = op.what->entries != nullptr;
    for (std::uint32_t i = 0; i < op.count; ++i) {
      made_by_[op.result + i] = {at, i};
      if (is_gather) used_by_[integers[op.data + i]].push_back({at, i});
      for (std::uint32_t k = 0; k < op.arity && is_entrywise; ++k)
        used_by_[reach::place(integers, op, k, i)].push_back({at, i});
    }
    for (std::uint32_t k = 0; k < op.arity && !is_entrywise; ++k)
      for (std::uint32_t i = 0; i < op.operands[k].count; ++i) used_whole_[reach::place(integers, op, k, i)] = 1;
  }
  for (const slot s : f.outputs()) used_whole_[s] = 1;
}

AGRAD_INLINE bool kinks::is_kink(const held_entry& entry) {
  if (!entry.site.is_single()) return false;  // a rounding changes its value by 1
  forget();
  if (!entry.site.has_other)
    assume_equal(entry.x, constant(0));
  else if (value_of(of(entry.x)) == nullptr)
    assume_equal(entry.x, of(entry.y));
  else
    assume_equal(entry.y, of(entry.x));
  std::unordered_map<slot, std::pair<number, number>> cases;
  cases[entry.result] = {constant(entry.side_at(1, 0)), constant(entry.side_at(-1, 0))};
  std::set<std::pair<std::uint32_t, std::uint32_t>> ahead;  // operations and entries in the order of running
  const auto follow = [&](slot s) {
    for (const place& each : used_by_[s]) ahead.insert({each.operation, each.entry});
    return used_whole_[s] == 0;
  };
  if (!follow(entry.result)) return false;
  while (!ahead.empty()) {
    const auto [at, i] = *ahead.begin();
    ahead.erase(ahead.begin());
    const operation& op = all_[at];
    const slot result = op.result + i;
    if (op.what->depends.how == dependence::gathered) {
      cases[result] = cases.at(f_.code().integers[op.data + i]);
      if (!follow(result)) return false;
      continue;
    }
    std::vector<number> above, below;
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const slot x = reach::place(f_.code().integers, op, k, i);
      const auto known = cases.find(x);
      above.push_back(known == cases.end() ? of(x) : known->second.first);
      below.push_back(known == cases.end() ? above.back() : known->second.second);
    }
    const std::pair<number, number> both{made(op, above), made(op, below)};
    if (both.first == both.second) continue;
    cases[result] = both;
    if (!follow(result)) return false;
  }
  return true;
}

AGRAD_INLINE void kinks::forget() {
  numbers_.clear(), expressions_.clear(), constants_.clear(), values_.clear(), same_.clear();
  next_ = 1;
}

AGRAD_INLINE void kinks::assume_equal(slot s, number value) {
  const number own = of(s);
  if (own != value && value_of(own) == nullptr) same_[own] = value;
}

AGRAD_INLINE kinks::number kinks::of(slot s, int depth) {
  const auto known = numbers_.find(s);
  if (known != numbers_.end()) return standing_for(known->second);
  const number result = s < f_.fixed().size() ? (is_constant(s) ? constant(f_.fixed()[s]) : fresh()) : of_result(s, depth);
  numbers_[s] = result;
  return standing_for(result);
}

AGRAD_INLINE kinks::number kinks::of_result(slot s, int depth) {
  const place& by = made_by_[s];
  const operation& op = all_[by.operation];
  if (depth == 0) return fresh();
  if (op.what->depends.how == dependence::gathered) return of(f_.code().integers[op.data + by.entry], depth - 1);
  if (op.what->entries == nullptr) return fresh();
  return made(op, operands(op, by.entry, depth - 1));
}

AGRAD_INLINE std::vector<kinks::number> kinks::operands(const operation& op, std::uint32_t entry, int depth) {
  std::vector<number> x;
  for (std::uint32_t k = 0; k < op.arity; ++k) x.push_back(of(reach::place(f_.code().integers, op, k, entry), depth));
  return x;
}

AGRAD_INLINE kinks::key kinks::key_of(const operation& op, std::vector<number> x) {
  const bool commutes = op.what == &kernel_of_rule<add_rule>() || op.what == &kernel_of_rule<multiply_rule>();
  if (commutes) std::sort(x.begin(), x.end());
  return {op.what, std::move(x)};
}

AGRAD_INLINE kinks::number kinks::made(const operation& op, const std::vector<number>& x) {
  if (const number equal = simplified(op, x); equal != none) return equal;
  std::vector<double> values;
  std::vector<const double*> arguments;
  for (const number each : x)
    if (value_of(each) != nullptr) values.push_back(*value_of(each));
  if (values.size() == x.size()) {
    for (const double& each : values) arguments.push_back(&each);
    double value = 0;
    op.what->entries->values(1, arguments.data(), &value);
    return constant(value);
  }
  const auto [at, is_new] = expressions_.try_emplace(key_of(op, x), next_);
  if (is_new) ++next_;
  return standing_for(at->second);
}

AGRAD_INLINE kinks::number kinks::standing_for(number a) const {
  const auto at = same_.find(a);
  return at == same_.end() ? a : at->second;
}

AGRAD_INLINE kinks::number kinks::simplified(const operation& op, const std::vector<number>& x) {
  const auto is = [&](auto rule) { return op.what == &kernel_of_rule<decltype(rule)>(); };
  const auto has = [&](std::size_t k, double value) { return value_of(x[k]) != nullptr && *value_of(x[k]) == value; };
  if (is(select_rule{})) {
    if (const double* condition = value_of(x[0])) return *condition != 0 ? x[1] : x[2];
    return x[1] == x[2] ? x[1] : none;
  }
  if (is(subtract_rule{})) return x[0] == x[1] ? constant(0) : has(1, 0) ? x[0] : none;
  if (is(add_rule{})) return has(0, 0) ? x[1] : has(1, 0) ? x[0] : none;
  if (is(multiply_rule{}) || is(logical_and_rule{})) {
    const auto is_finite = [&](number a) { return value_of(a) == nullptr || std::isfinite(*value_of(a)); };
    if ((has(0, 0) && is_finite(x[1])) || (has(1, 0) && is_finite(x[0]))) return constant(0);
    return has(0, 1) ? x[1] : has(1, 1) ? x[0] : none;
  }
  if (is(divide_rule{})) return has(1, 1) ? x[0] : has(0, 0) && !has(1, 0) ? constant(0) : none;
  if (is(logical_or_rule{})) return has(0, 0) ? x[1] : has(1, 0) ? x[0] : none;
  return none;
}

AGRAD_INLINE kinks::number kinks::constant(double value) {
  if (std::isnan(value)) return fresh();
  if (value == 0) value = 0;  // zeros of both signs are equal
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto [at, is_new] = constants_.try_emplace(bits, next_);
  if (is_new) values_[next_++] = value;
  return at->second;
}

AGRAD_INLINE bool kinks::is_constant(slot s) const {
  return s < f_.fixed().size() && std::find(f_.inputs().begin(), f_.inputs().end(), s) == f_.inputs().end();
}

AGRAD_INLINE const double* kinks::value_of(number a) const {
  const auto at = values_.find(a);
  return at == values_.end() ? nullptr : &at->second;
}

}  // namespace agrad
