// Densities: all families of density rules, and the one list of them.
#pragma once

#include <agrad/rules/density/normal.hpp>

namespace agrad::rules {

using densities = normal_densities;

}  // namespace agrad::rules
