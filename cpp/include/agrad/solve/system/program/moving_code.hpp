// Moving code: the operations of a right-hand side that depend on time or states.
//
// Models compute rates from parameters, as exp(log_rates), within their right-hand sides. In a solve these values are the same
// in each call and stay in the work space, so that a call need not compute them again.
// Read next: solve/system/program/function.hpp, the user.
#pragma once

#include <memory>

#include <agrad/program/program.hpp>

namespace agrad {

/// Returns the operations that depend on the first `moving` inputs, with the same slots; null where all operations do.
std::shared_ptr<const program_code> moving_code(const program& f, std::size_t moving);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/program/moving_code.ipp>
#endif
