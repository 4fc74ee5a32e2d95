// Probability row of: makes the table entry of a probability rule. Only files that build parts of the table include this.
#pragma once

#include <iterator>
#include <vector>

#include <agrad/probability/recorded.hpp>

#include "rows.hpp"

namespace agrad {

/// Returns the entries of the rules of a typelist.
template <class Rules>
std::vector<density_row> probability_rows_of(Rules rules) {
  std::vector<density_row> rows;
  for_each(rules, [&](auto tag) {
    using Rule = typename decltype(tag)::type;
    rows.push_back({Rule::name, Rule::text, Rule::source, Rule::reference, Rule::arity, std::data(Rule::arguments),
                    &probability_kernel<Rule>, &record_probability<Rule>, &record_terms<Rule>, Rule::is_product,
                    std::data(Rule::pairs), std::size(Rule::pairs), Rule::scipy});
  });
  return rows;
}

}  // namespace agrad
