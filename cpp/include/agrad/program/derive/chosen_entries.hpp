// Chosen entries: external operations that need not have derivatives with respect to all entries of their operand.
//
// A reverse pass computes all of them, wanted or not, and some may not exist. Where a derivative is recorded, it is known which
// entries matter. Read next: program/derive/derivative_operations.hpp, the user.
#pragma once

#include <memory>
#include <vector>

#include <agrad/program/machine/operation.hpp>

namespace agrad {

class chooses_entries {
 public:
  virtual ~chooses_entries() = default;
  /// Returns the operation for derivatives with respect to the wanted entries alone; null where it is this one.
  virtual std::shared_ptr<const external_operation> for_entries(const std::vector<bool>& wanted) const = 0;
};

}  // namespace agrad
