#include "derivatives.hpp"

#include <agrad/program/derive/adjoints.hpp>
#include <agrad/program/derive/tangents.hpp>
#include <agrad/program/recording/elementwise.hpp>

namespace agrad {

std::vector<slot> record_adjoints(recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& outputs,
                                  const std::vector<slot>& seeds, const std::vector<slot>& required) {
  recorded_part part(in, begin, end, required);
  adjoint_recorder back(in, part);
  for (std::size_t i = 0; i < outputs.size(); ++i) back.seed(outputs[i], seeds[i]);
  back.reverse();
  return back.of(required);
}

std::vector<slot> record_tangents(recorder& in, std::size_t begin, std::size_t end, const std::vector<slot>& inputs,
                                  const std::vector<slot>& seeds, const std::vector<slot>& outputs) {
  recorded_part part(in, begin, end, inputs);
  tangent_recorder along(in, part);
  for (std::size_t i = 0; i < inputs.size(); ++i) along.seed(inputs[i], seeds[i]);
  along.reverse();
  std::vector<slot> tangents;
  tangents.reserve(outputs.size());
  for (const slot s : outputs) tangents.push_back(along.of(s));
  return tangents;
}

}  // namespace agrad
