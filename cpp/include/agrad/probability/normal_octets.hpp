// Normal octets: parts of log densities and log probabilities that come from the normal distribution function, eight at once.
#pragma once

#include <agrad/rules/density/octet.hpp>
#include <agrad/rules/error_arrays.hpp>
#include <agrad/rules/values.hpp>

namespace agrad::detail {

AGRAD_ALWAYS_INLINE octet_array array_of(const octet& x) {
  octet_array lanes;
  x.store(lanes.data());
  return lanes;
}
AGRAD_ALWAYS_INLINE octet octet_of(const octet_array& x) { return octet::load(x.data()); }

/// Returns ndtr(-|x|) = scaled_ndtr_octet(x) * normal_bell_octet(x).
AGRAD_ALWAYS_INLINE octet scaled_ndtr_octet(const octet& x) { return octet_of(scaled_ndtr_of_size(array_of(x))); }
AGRAD_ALWAYS_INLINE octet normal_bell_octet(const octet& x) { return octet_of(exp_of_squares(array_of(x), -0.5)); }
/// Returns the integral of ndtr(-x) from |x| to infinity over normal_bell_octet(x).
AGRAD_ALWAYS_INLINE octet tail_integral_octet(const octet& x) {
  return inv_sqrt_2 * octet_of(scaled_ierfc_of(octet_array(inv_sqrt_2 * array_of(x).abs())));
}

/// Returns log_ndtr of eight numbers, and in `slope` the derivatives.
AGRAD_ALWAYS_INLINE octet log_ndtr_octet(const octet& z, octet& slope) {
  octet_array slopes;
  const octet_array values = log_ndtr_of(array_of(z), slopes);
  slope = octet_of(slopes);
  return octet_of(values);
}

}  // namespace agrad::detail
