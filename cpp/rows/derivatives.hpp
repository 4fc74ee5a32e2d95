// Derivatives recorded: the sweep back and the tangents of a part of a recording as more operations of it. Declared here, so that
// nobody else must be compiled against the rules (program/derive/adjoints.hpp, program/derive/tangents.hpp).
#pragma once

#include <agrad/program/machine/record.hpp>
#include <vector>

namespace agrad {

/// The slots of the adjoints of `wanted` for adjoints `seeds` of `outputs`, of the operations from number `begin` to before `end`.
std::vector<slot> record_adjoints(recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& outputs,
                                  const std::vector<slot>& seeds, const std::vector<slot>& wanted);

/// The slots of the tangents of `outputs` for tangents `seeds` of `inputs`.
std::vector<slot> record_tangents(recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& inputs,
                                  const std::vector<slot>& seeds, const std::vector<slot>& outputs);

}  // namespace agrad
