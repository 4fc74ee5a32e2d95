// Table entries of the rules with orthogonal decompositions, and of the matrix exponential.
#include <agrad/rules/lists/linalg.hpp>

#include "linalg_row_of.hpp"

namespace agrad {

std::vector<linalg_row> rows::decompositions() { return entries_of_rules(rules::decompositions{}); }

}  // namespace agrad
