// Inlined: records the operations of a program again in a recording, for derivatives of any order at the present values.
//
// Operations whose loops have second derivatives and no further ones are replaced by their formulas (`recorded_formulas` in
// program/machine/operation.hpp). Comparisons go as they do at the present values, so the recording is right for these values
// alone. Read next: program/derive/derivative_operations.hpp, the user.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <agrad/program/program.hpp>

namespace agrad {

class recorder;

/// Returns whether derivatives of all orders can be recorded for every operation of a program.
bool has_formulas(const program& f);

/// Records an external operation with `count` results, by its formulas where it has these.
std::vector<slot> record_external(recorder& in, const std::shared_ptr<const external_operation>& f, const span& x,
                                  std::size_t count);

/// Records the operations of a program on slots of a recording that take the place of the program's inputs. Returns the slots
/// of the outputs.
std::vector<slot> record_inlined(recorder& in, const program& f, const std::vector<slot>& inputs);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/schedule/inlined.ipp>
#endif
