// Table entries of the rules with eigenvalues of general matrices, and of the complex determinant.
#include <agrad/rules/linalg/complex_determinant.hpp>
#include <agrad/rules/linalg/general_eigen.hpp>
#include <agrad/rules/linalg/linalg.hpp>

#include "linalg_general_factors.hpp"
#include "linalg_row_of.hpp"

namespace agrad {

std::vector<linalg_row> rows::general_spectra() { return entries_of_rules(rules::general_spectra{}); }

}  // namespace agrad
