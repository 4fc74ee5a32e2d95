// Nor an index.
// expect: no match for 'operator\[\]'|no viable overloaded operator\[\]|no viable conversion|not an integer
#include <agrad/tape/var.hpp>
#include <vector>

double wrong(const std::vector<double>& table, const agrad::var& i) { return table[i]; }
