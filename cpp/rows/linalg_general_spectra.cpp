// Table entries of the rules with eigenvalues of general matrices, and of the complex determinant.
#include <agrad/rules/lists/linalg.hpp>
#include <agrad/rules/spectra/complex_determinant.hpp>
#include <agrad/rules/spectra/general_eigen.hpp>

#include "linalg_general_factors.hpp"
#include "linalg_row_of.hpp"

namespace agrad {

std::vector<linalg_row> rows::general_spectra() { return entries_of_rules(rules::general_spectra{}); }

}  // namespace agrad
