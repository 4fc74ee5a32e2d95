// Table entries of the probability rules.
#include <agrad/families/families.hpp>

#include "probability_row_of.hpp"

namespace agrad {

std::vector<density_row> rows::probability() { return probability_rows_of(rules::probability{}); }

}  // namespace agrad
