// Table entries of the special functions that <agrad/agrad.hpp> leaves out.
#include <agrad/rules/lists/special.hpp>

#include "elementwise_row_of.hpp"

namespace agrad {

std::vector<elementwise_row> rows::special() { return elementwise_entries(rules::special{}); }

}  // namespace agrad
