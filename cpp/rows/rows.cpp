#include "rows.hpp"

#include <agrad/program/kernels.hpp>
#include <agrad/rules/elementwise.hpp>
#include <stdexcept>
#include <string>

namespace agrad {

const std::vector<elementwise_row>& elementwise_rows() {
  static const std::vector<elementwise_row> rows = [] {
    std::vector<elementwise_row> made;
    for_each(rules::elementwise{}, [&](auto tag) {
      using Rule = typename decltype(tag)::type;
      made.push_back({Rule::name, Rule::text, Rule::reference, Rule::ufunc, Rule::source, Rule::arity, Rule::domain,
                      &elementwise_kernel<Rule>});
    });
    return made;
  }();
  return rows;
}

const elementwise_row& elementwise_row_named(std::string_view name) {
  for (const elementwise_row& row : elementwise_rows())
    if (row.name == name) return row;
  throw std::logic_error("no elementwise function has the name " + std::string(name));
}

}  // namespace agrad
