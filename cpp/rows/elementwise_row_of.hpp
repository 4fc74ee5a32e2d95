// Makes the table entries of a typelist of elementwise rules; for the files that instantiate their kernels.
#pragma once

#include <agrad/base/typelist.hpp>
#include <agrad/program/recording/elementwise.hpp>
#include <vector>

#include "rows.hpp"

namespace agrad::rows {

template <class Rules>
std::vector<elementwise_row> elementwise_entries(Rules list) {
  std::vector<elementwise_row> rows;
  rows.reserve(Rules::size);
  for_each(list, [&](auto tag) {
    using Rule = typename decltype(tag)::type;
    rows.push_back(row_of_rule<Rule>());
  });
  return rows;
}

}  // namespace agrad::rows
