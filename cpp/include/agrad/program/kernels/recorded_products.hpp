// Recorded products: products along lines as products of two numbers, which have derivatives of all orders.
//
// The derivatives are products of the other entries, right where entries are zero. Read first: program/kernels/lines.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include <agrad/program/kernels/lines.hpp>
#include <agrad/program/recording/tracing.hpp>

namespace agrad::kernels {

/// Records the products of the first entries of each line, entry j of all lines together, and calls each(j, slots) for the
/// products of entries 0 to j.
template <class Each>
void record_products(recorder& in, const lines& over, const span& x, const Each& each) {
  traced so_far(1.0);
  for (std::uint32_t j = 0; j < over.length; ++j) {
    std::vector<slot> slots(over.count);
    for (std::uint32_t i = 0; i < over.count; ++i) slots[i] = x.first + static_cast<slot>(over.begin(i) + j * over.inner);
    const traced factor = agrad::detail::number_of(in, in.consecutive(slots.data(), slots.size()));
    so_far = j == 0 ? factor : so_far * factor;
    each(j, so_far.slots());
  }
}

/// The formula of products: integers = {length, inner}.
inline std::vector<slot> recorded_product(recorder& in, const operation& op, const std::uint32_t* integers, const span* x) {
  const lines over{integers[0], integers[1], op.count};
  std::vector<slot> result(op.count, over.length == 0 && op.count > 0 ? in.constant(1.0) : slot{0});
  if (op.count == 0) return result;
  record_products(in, over, x[0], [&](std::uint32_t, const span& y) {
    for (std::uint32_t i = 0; i < op.count; ++i) result[i] = agrad::detail::slot_at(y, i);
  });
  return result;
}

/// The formula of cumulative products: integers = {length, inner}.
inline std::vector<slot> recorded_cumulative_product(recorder& in, const operation& op, const std::uint32_t* integers,
                                                     const span* x) {
  std::vector<slot> result(op.count);
  if (op.count == 0) return result;
  const lines over{integers[0], integers[1], op.count / integers[0]};
  record_products(in, over, x[0], [&](std::uint32_t j, const span& y) {
    for (std::uint32_t i = 0; i < over.count; ++i) result[over.begin(i) + j * over.inner] = agrad::detail::slot_at(y, i);
  });
  return result;
}

}  // namespace agrad::kernels
