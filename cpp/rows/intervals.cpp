// Table entries of the log probabilities of intervals.
#include <agrad/families/families.hpp>

#include "probability_row_of.hpp"

namespace agrad {

std::vector<density_row> rows::intervals() { return probability_rows_of(rules::intervals{}); }

}  // namespace agrad
