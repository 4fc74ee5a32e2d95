// The options that assume nan and infinity away disable the checks of input; here their macro stands for the option.
// expect: agrad needs nan and infinity
#undef __FINITE_MATH_ONLY__
#define __FINITE_MATH_ONLY__ 1
#include <agrad/families/positive/exponential.hpp>

int main() { return static_cast<int>(agrad::exponential_lpdf(1.0, 1.0)); }
