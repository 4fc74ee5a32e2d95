// Recording by hand: short names for the operations that the tests of programs record.
#pragma once

#include <agrad/program/kernels/product.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/program.hpp>
#include <agrad/program/recording/elementwise.hpp>
#include <agrad/program/recording/record.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <memory>
#include <string_view>
#include <vector>

namespace recording {

using agrad::slot;
using slots = std::vector<slot>;

/// Consecutive slots from `first` on.
inline slots range(slot first, std::size_t n) {
  slots all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = first + static_cast<slot>(i);
  return all;
}

/// A kernel applied to arrays of slots of one length, or of length 1, which broadcast.
inline slots record_elementwise(agrad::recorder& r, const agrad::kernel& what, const std::vector<slots>& x) {
  std::size_t count = 1;
  for (const slots& one : x)
    if (one.size() != 1) count = one.size();
  std::vector<agrad::span> operands;
  for (const slots& one : x) {
    const bool broadcast = one.size() == 1 && count != 1;
    operands.push_back(broadcast ? agrad::span{one[0], 1, 0, r.is_active(one[0])} : r.consecutive(one.data(), one.size()));
  }
  return range(r.apply(what, count, operands.data(), operands.size()), count);
}
template <class Rule>
slots record(agrad::recorder& r, const slots& x) {
  return record_elementwise(r, agrad::kernel_of_rule<Rule>(), {x});
}
template <class Rule>
slots record(agrad::recorder& r, const slots& x, const slots& y) {
  return record_elementwise(r, agrad::kernel_of_rule<Rule>(), {x, y});
}
template <class Rule>
slots record(agrad::recorder& r, const slots& x, const slots& y, const slots& z) {
  return record_elementwise(r, agrad::kernel_of_rule<Rule>(), {x, y, z});
}

inline slots sum(agrad::recorder& r, const slots& x, std::size_t groups = 1) {
  const agrad::span all = r.dense(x.data(), x.size());
  const auto length = static_cast<std::uint32_t>(x.size() / groups);
  return range(r.apply(agrad::kernels::sum, groups, &all, 1, {length}), groups);
}

/// Product of row-major matrices of n x k and k x m slots.
inline slots product(agrad::recorder& r, const slots& a, const slots& b, std::uint32_t n, std::uint32_t k, std::uint32_t m) {
  const agrad::span operands[] = {r.dense(a.data(), a.size()), r.dense(b.data(), b.size())};
  return range(r.apply(agrad::kernels::product, n * m, operands, 2, {n, k, m}), n * m);
}

/// How many operations have the kernel of that name.
inline std::size_t count(const agrad::program_code& code, std::string_view name) {
  std::size_t found = 0;
  for (const agrad::operation& op : code.operations) found += op.what->name == name ? 1 : 0;
  return found;
}

}  // namespace recording
