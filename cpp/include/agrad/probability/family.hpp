// Family: what a distribution consists of, as lists of rules from which tables, names and pages derive.
#pragma once

#include <agrad/base/typelist.hpp>

namespace agrad::rules {

/// A family: its densities and distribution functions, its quantiles, and its probabilities of intervals.
template <class Functions, class Quantiles = typelist<>, class Intervals = typelist<>>
struct family {
  using functions = Functions;
  using quantiles = Quantiles;
  using intervals = Intervals;
};

}  // namespace agrad::rules
