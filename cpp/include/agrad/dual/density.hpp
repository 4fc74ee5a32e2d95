// Densities of duals: the terms are summed on duals, so that Hessians work.
#pragma once

#include <agrad/dual/dual.hpp>
#include <agrad/rules/density/densities.hpp>

namespace agrad::detail {

template <class T, int K>
struct density_engine<dual<T, K>> : direct_density_engine<dual<T, K>> {};
template <class T, int K>
struct bernoulli_logit_glm_engine<dual<T, K>> : direct_bernoulli_logit_glm_engine<dual<T, K>> {};

}  // namespace agrad::detail
