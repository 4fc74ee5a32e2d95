// Makes the table entries of a typelist of elementwise rules; for the files that instantiate their kernels.
#pragma once

#include <agrad/base/typelist.hpp>
#include <agrad/program/machine/elementwise.hpp>
#include <vector>

#include "rows.hpp"

namespace agrad::rows {

template <class Rules>
std::vector<elementwise_row> elementwise_entries(Rules list) {
  std::vector<elementwise_row> rows;
  rows.reserve(Rules::size);
  for_each(list, [&](auto tag) {
    using Rule = typename decltype(tag)::type;
    rows.push_back({Rule::name, Rule::text, Rule::reference, Rule::ufunc, Rule::source, Rule::arity, Rule::domain,
                    &kernel_of_rule<Rule>(), Rule::is_condition, Rule::outside, Rule::stan,
                    Rule::must == nullptr ? std::string_view() : Rule::must->name});
  });
  return rows;
}

}  // namespace agrad::rows
