// Quantiles: all families of quantiles, and the only list of these families.
#pragma once

#include <agrad/probability/quantiles_line.hpp>
#include <agrad/probability/quantiles_positive.hpp>

namespace agrad::rules {

using quantiles = concat_t<quantiles_line, quantiles_positive>;

}  // namespace agrad::rules
