// Densities: all families of density rules, and the only list of these families; and generalised linear models, which are not
// rules for terms.
#pragma once

#include <agrad/rules/density/bernoulli_logit_glm.hpp>
#include <agrad/rules/density/normal.hpp>

namespace agrad::rules {

using densities = normal_densities;

}  // namespace agrad::rules
