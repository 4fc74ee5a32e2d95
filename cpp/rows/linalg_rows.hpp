// Table of linear algebra: the rules on whole matrices as plain data, as rows.hpp has the elementwise rules.
#pragma once

#include <agrad/program/machine/operation.hpp>
#include <agrad/rules/linalg/rule.hpp>
#include <string_view>
#include <vector>

namespace agrad {

struct linalg_row {
  std::string_view name, text, source;
  unsigned options;  // distinguishes entries of the same name
  int arguments, results;
  /// Checks the arguments' shapes, writes the results' shapes, and returns the number of slots behind the results of an
  /// operation.
  std::size_t (*layout)(const linalg::shape* arguments, linalg::shape* results);
  const kernel* loops;
};

/// The largest number of arguments or results of a rule.
inline constexpr std::size_t most_matrices = 3;

const std::vector<linalg_row>& linalg_rows();

namespace rows {
// Parts of the list, compiled in separate files, because Eigen's decompositions take a compiler much time and memory.
std::vector<linalg_row> equations();
std::vector<linalg_row> decompositions();
std::vector<linalg_row> spectra();
std::vector<linalg_row> general_spectra();
}  // namespace rows

}  // namespace agrad
