// Makes the table entries of a typelist of linear algebra rules; for the files that instantiate their kernels.
#pragma once

#include <agrad/base/typelist.hpp>
#include <agrad/program/kernels/linalg.hpp>
#include <algorithm>
#include <array>
#include <vector>

#include "linalg_rows.hpp"

namespace agrad::rows {

template <class Rule>
std::size_t layout_of(const linalg::shape* arguments, linalg::shape* results) {
  std::array<linalg::shape, static_cast<std::size_t>(Rule::arguments)> x;
  std::copy_n(arguments, x.size(), x.begin());
  const auto y = std::apply([](const auto&... s) { return Rule{}.results_of(s...); }, x);
  std::copy(y.begin(), y.end(), results);
  return linalg::prepared_slots<Rule>(x);
}

template <class Rules>
std::vector<linalg_row> entries_of_rules(Rules list) {
  std::vector<linalg_row> rows;
  for_each(list, [&](auto tag) {
    using Rule = typename decltype(tag)::type;
    static_assert(Rule::arguments <= most_matrices && Rule::results <= most_matrices);
    rows.push_back({Rule::name, Rule::text, Rule::source, Rule::options, Rule::arguments, Rule::results, layout_of<Rule>,
                    &linalg_kernel<Rule>});
  });
  return rows;
}

}  // namespace agrad::rows
