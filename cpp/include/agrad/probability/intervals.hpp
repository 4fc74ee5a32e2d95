// Intervals: log probabilities of the values between two numbers, for each family, and the only list of these functions.
//
// Each returns the sum over its terms of log(F(upper) - F(lower)), or for counts log(F(upper) - F(lower - 1)), where F is the
// distribution function: the likelihood of an observation of which only an interval is known, and what a density is divided by
// where values beyond the ends are not observed. Arguments are lower, upper and the family's parameters; each is a number or a
// sequence of a common length. An infinite end of a distribution of numbers leaves one tail. See probability/between.hpp.
#pragma once

#include <agrad/probability/intervals_counts.hpp>
#include <agrad/probability/intervals_line.hpp>
#include <agrad/probability/intervals_positive.hpp>

namespace agrad::rules {

using intervals = concat_t<intervals_line, intervals_positive, intervals_counts>;

}  // namespace agrad::rules
