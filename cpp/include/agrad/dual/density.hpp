// Densities of duals: the sum is computed on the dual itself, so that Hessians pass through.
#pragma once

#include <agrad/dual/dual.hpp>
#include <agrad/rules/density/densities.hpp>

namespace agrad::detail {

template <class T, int K>
struct density_engine<dual<T, K>> : direct_density_engine<dual<T, K>> {};
template <class T, int K>
struct bernoulli_logit_glm_engine<dual<T, K>> : direct_bernoulli_logit_glm_engine<dual<T, K>> {};

}  // namespace agrad::detail
