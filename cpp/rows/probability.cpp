// Table entries of the probability rules.
#include <agrad/probability/distributions.hpp>
#include <agrad/probability/recorded.hpp>

#include "rows.hpp"

namespace agrad {

std::vector<density_row> rows::probability() {
  std::vector<density_row> rows;
  for_each(rules::probability{}, [&](auto tag) {
    using Rule = typename decltype(tag)::type;
    rows.push_back({Rule::name, Rule::text, Rule::source, Rule::reference, Rule::arity, Rule::arguments,
                    &probability_kernel<Rule>, &record_probability<Rule>, &record_terms<Rule>, Rule::is_product,
                    std::data(Rule::pairs), std::size(Rule::pairs), Rule::scipy});
  });
  return rows;
}

}  // namespace agrad
