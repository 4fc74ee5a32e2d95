// Definitions of solve/system/jumps/jump_site.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/solve/system/jumps/jump_site.hpp>

namespace agrad {

AGRAD_INLINE jump_site jump_site_of(const operation& op) {
  using site = jump_site;
  const auto is = [&](auto... rules) { return ((op.what == &kernel_of_rule<decltype(rules)>()) || ...); };
  if (is(less_rule{}, less_equal_rule{}, greater_rule{}, greater_equal_rule{})) return {site::comparison, site::down, true};
  if (is(maximum_rule{}, minimum_rule{}, fmax_rule{}, fmin_rule{})) return {site::side, site::down, true, false, true};
  if (is(abs_rule{}, fabs_rule{})) return {site::side, site::down, false, false, true};
  if (is(sign_rule{}, heaviside_rule{}, step_rule{}, int_step_rule{}, signbit_rule{})) return {site::side};
  if (is(floor_rule{})) return {site::rounding};
  if (is(ceil_rule{})) return {site::rounding, site::up};
  if (is(trunc_rule{})) return {site::rounding, site::to_zero};
  if (is(rint_rule{}, round_rule{})) return {site::rounding, site::nearest};
  if (is(floor_divide_rule{})) return {site::quotient, site::down, true};
  if (is(mod_rule{})) return {site::quotient, site::down, true, true};
  if (is(remainder_rule{})) return {site::quotient, site::nearest, true, true};
  if (is(fmod_rule{})) return {site::quotient, site::to_zero, true, true};
  if (op.what == &kernels::search) return {site::lookup};
  if (op.what == &kernels::interpolation) return {site::lookup, site::down, false, false, true};
  return {};
}

}  // namespace agrad
