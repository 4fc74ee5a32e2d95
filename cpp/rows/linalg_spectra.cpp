// Table entries of the rules with eigenvalues of symmetric matrices and with singular values.
#include <agrad/rules/lists/linalg.hpp>

#include "linalg_row_of.hpp"

namespace agrad {

std::vector<linalg_row> rows::spectra() { return entries_of_rules(rules::spectra{}); }

}  // namespace agrad
