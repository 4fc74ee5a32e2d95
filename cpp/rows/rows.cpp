#include "rows.hpp"

#include <agrad/families/positive/lognormal.hpp>
#include <agrad/probability/recorded.hpp>
#include <agrad/program/kernels/density.hpp>
#include <agrad/program/kernels/density_glm.hpp>
#include <agrad/rules/density/densities.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <stdexcept>
#include <string>

#include "elementwise_row_of.hpp"

namespace agrad {

namespace {

/// Records a density whose terms have loops of their own: one operation.
template <class Rule>
slot record_density(recorder& in, const span* x, std::size_t n, bool propto) {
  return in.apply(density_kernel<Rule>, 1, x, std::size_t{Rule::arity}, {static_cast<std::uint32_t>(n), propto ? 1U : 0U});
}

/// Makes a table entry for each rule of a typelist.
template <class Row, class Rules, class Make>
std::vector<Row> entries_of_rules(Rules list, const Make& make) {
  std::vector<Row> rows;
  rows.reserve(Rules::size);
  for_each(list, [&](auto tag) { rows.push_back(make(tag)); });
  return rows;
}

}  // namespace

const std::vector<elementwise_row>& elementwise_rows() {
  static const auto all = [] {
    auto list = rows::elementwise_entries(rules::elementwise{});
    const auto others = rows::special();
    list.insert(list.end(), others.begin(), others.end());
    return list;
  }();
  return all;
}

const std::vector<density_row>& density_rows() {
  static const auto all = [] {
    auto list = entries_of_rules<density_row>(rules::densities{}, [](auto tag) -> density_row {
      using Rule = typename decltype(tag)::type;
      return {Rule::name,
              Rule::text,
              Rule::source,
              Rule::reference,
              Rule::arity,
              Rule::arguments,
              &density_kernel<Rule>,
              &record_density<Rule>,
              &record_terms<terms_of_density<Rule>>,
              false,
              std::data(Rule::pairs),
              std::size(Rule::pairs),
              {}};
    });
    for (const auto& others : {rows::probability(), rows::intervals()}) list.insert(list.end(), others.begin(), others.end());
    return list;
  }();
  return all;
}

const std::vector<glm_row>& glm_rows() {
  static const auto rows = entries_of_rules<glm_row>(rules::generalised_linear_models{}, [](auto tag) -> glm_row {
    using Rule = typename decltype(tag)::type;
    return {Rule::name, Rule::text, Rule::source, Rule::arguments, &glm_kernel<Rule>, glm_slots<Rule>};
  });
  return rows;
}

const elementwise_row& elementwise_row_named(std::string_view name) {
  for (const elementwise_row& row : elementwise_rows())
    if (row.name == name) return row;
  throw std::logic_error("no elementwise function has the name " + std::string(name));
}

}  // namespace agrad
