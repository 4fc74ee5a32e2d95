// Table entries of the rules with LU, Cholesky and triangular substitution, and the list of all entries.
#include <agrad/rules/lists/linalg.hpp>

#include "linalg_row_of.hpp"

namespace agrad {

std::vector<linalg_row> rows::equations() { return entries_of_rules(rules::equations{}); }

const std::vector<linalg_row>& linalg_rows() {
  static const auto all = [] {
    std::vector<linalg_row> list = rows::equations();
    for (const auto& others : {rows::decompositions(), rows::spectra(), rows::general_spectra()})
      list.insert(list.end(), others.begin(), others.end());
    return list;
  }();
  return all;
}

}  // namespace agrad
