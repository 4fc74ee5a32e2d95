// Distributions: all families of probability rules, and the only list of these families.
#pragma once

#include <agrad/probability/exponential.hpp>

namespace agrad::rules {

using probability = concat_t<exponential_distribution>;

}  // namespace agrad::rules
