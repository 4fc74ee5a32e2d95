// Derivatives recorded: the reverse pass and the tangents of a part of a recording, recorded as further operations. Only the
// file that defines these functions is compiled against the rules (program/derive/adjoints.hpp, program/derive/tangents.hpp).
#pragma once

#include <agrad/program/recording/record.hpp>
#include <vector>

namespace agrad {

/// Records the reverse pass of the operations from number `begin` to before `end`, with adjoints `seeds` of `outputs`; returns
/// the slots of the adjoints of `required`.
std::vector<slot> record_adjoints(recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& outputs,
                                  const std::vector<slot>& seeds, const std::vector<slot>& required);

/// Records the tangents of `outputs` for tangents `seeds` of `inputs`; returns their slots.
std::vector<slot> record_tangents(recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& inputs,
                                  const std::vector<slot>& seeds, const std::vector<slot>& outputs);

}  // namespace agrad
