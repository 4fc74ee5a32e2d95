// Elementwise row: an elementwise rule as plain data, for code that must not be compiled against the rules.
//
// The tables of cpp/rows consist of such rows, and so does a rule library (program/machine/rule_library.hpp).
#pragma once

#include <string_view>

#include <agrad/base/check.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/program/machine/traced.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad {

struct elementwise_row {
  std::string_view name, text, reference, ufunc, source;
  int arity;
  const interval* domain;  // of each argument
  const kernel* loops;
  bool is_condition;
  double outside;         // the value outside of the domain: nan, or infinite
  std::string_view stan;  // Stan's name, if different
  std::string_view must;  // the condition on arguments that the function checks, if it does
};

/// Makes the row of a rule, with the kernel that the including file has for the rule.
template <class Rule>
elementwise_row row_of_rule() {
  return {Rule::name,         Rule::text,    Rule::reference, Rule::ufunc,
          Rule::source,       Rule::arity,   Rule::domain,    &kernel_of_rule<Rule>(),
          Rule::is_condition, Rule::outside, Rule::stan,      Rule::must == nullptr ? std::string_view() : Rule::must->name};
}

}  // namespace agrad
