// The first lane of an octet, for formulas of octets that are used for one number.
#pragma once

#include <agrad/rules/density/octet.hpp>

namespace agrad::detail {

inline double first_lane(const octet& x) {
  double lanes[octet::size];
  x.store(lanes);
  return lanes[0];
}

}  // namespace agrad::detail
