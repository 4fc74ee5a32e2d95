// Table: the rules as plain data, one entry each, for code that must not be compiled against the rules (bindings, docs, tests).
//
// A template makes the entries of the table from the rules' typelists; there is no other list of functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agrad/program/machine/elementwise_row.hpp>
#include <agrad/program/recording/record.hpp>
#include <agrad/rules/density/density.hpp>

namespace agrad {

/// Records entries of a function of arguments that each are n > 0 numbers, or one number for all (stride 0), without a check.
/// Returns n slots, or one slot for all.
using record_entries = span (*)(recorder& in, const span* arguments);

/// A density, a distribution function, or the log probability of an interval.
struct density_row {
  std::string_view name, text, source, reference;
  int arity;
  const density_argument* arguments;
  const kernel* loops;
  /// Records the sum over n terms; an argument is n numbers, or one number for all (stride 0).
  slot (*record)(recorder& in, const span* arguments, std::size_t n, bool propto);
  record_entries terms;
  bool is_product;  // of the terms, not their sum
  const density_pair* pairs;
  std::size_t pair_count;
  std::string_view scipy;  // how the family is called in scipy.stats (probability/rule.hpp)

  /// Returns whether the rule is a density or mass, which may leave out what depends on no variable.
  bool has_propto() const { return name.find("_lpdf") != name.npos || name.find("_lpmf") != name.npos; }
};

/// A quantile: the inverse of a distribution function or, with is_upper, of its complement.
struct quantile_row {
  static bool has_propto() { return false; }
  std::string name, text;
  int arity;
  const density_argument* arguments;
  const density_pair* pairs;
  std::size_t pair_count;
  record_entries record;
};

/// A generalised linear model: a density of outcomes y, given predictors x, an intercept alpha and coefficients beta.
struct glm_row {
  static constexpr int arity = 4;
  static constexpr bool is_product = false;
  static constexpr const density_pair* pairs = nullptr;
  static constexpr std::size_t pair_count = 0;
  static constexpr std::string_view reference = {};
  static bool has_propto() { return true; }
  std::string_view name, text, source;
  const density_argument* arguments;
  const kernel* loops;
  std::size_t (*slots)(std::size_t rows, std::size_t columns);  // of the operation's result, by the shape of x
};

const std::vector<elementwise_row>& elementwise_rows();
const std::vector<density_row>& density_rows();
const std::vector<glm_row>& glm_rows();
const std::vector<quantile_row>& quantile_rows();

namespace rows {
// Parts of the lists, compiled in separate files.
std::vector<elementwise_row> special();
std::vector<density_row> probability();
std::vector<density_row> intervals();
}  // namespace rows

/// Returns the entry with this name, which must be in the table.
const elementwise_row& elementwise_row_named(std::string_view name);

}  // namespace agrad
