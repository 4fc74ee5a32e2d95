// Rows of linear algebra: the rules on whole matrices as plain data, as rows.hpp has the elementwise ones.
#pragma once

#include <agrad/program/machine/operation.hpp>
#include <agrad/rules/linalg/rule.hpp>
#include <string_view>
#include <vector>

namespace agrad {

struct linalg_row {
  std::string_view name, text, source;
  unsigned options;  // tells rows of the same name apart
  int arguments, results;
  /// Writes the results' shapes, after checking the arguments', and returns how many slots an operation has behind its results.
  std::size_t (*layout)(const linalg::shape* arguments, linalg::shape* results);
  const kernel* loops;
};

/// The most arguments and results that a rule has.
inline constexpr std::size_t most_matrices = 3;

const std::vector<linalg_row>& linalg_rows();

namespace rows {
// Halves of the list, each compiled in a file of its own, because Eigen's decompositions take long.
std::vector<linalg_row> equations();
std::vector<linalg_row> decompositions();
}  // namespace rows

}  // namespace agrad
