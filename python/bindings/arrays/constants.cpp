// Constants of a recording: equal numbers and equal data are recorded once.
#include <cstring>

#include "array.hpp"

namespace agrad::python {

slot recording::constant(double value) {
  for (const auto& [known, place] : constants_)
    if (std::memcmp(&known, &value, sizeof value) == 0) return place;  // nan too is one slot
  const slot place = code.constant(value);
  if (constants_.size() < 16) constants_.emplace_back(value, place);
  return place;
}

slot recording::constants(const double* values, std::size_t n) {
  if (n == 1) return constant(*values);
  if (n < 64) return code.constant(values, n);
  const auto [known, is_new] = data_.try_emplace(values, data{n, 0});
  const double* then = code.values().data() + known->second.first;
  const bool is_same = !is_new && known->second.n == n && std::memcmp(then, values, n * sizeof *values) == 0;
  if (!is_same) known->second = {n, code.constant(values, n)};
  return known->second.first;
}

}  // namespace agrad::python
