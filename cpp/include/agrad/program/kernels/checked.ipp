// Definitions of program/kernels/checked.hpp.
#pragma once

#include <array>
#include <cstring>
#include <stdexcept>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/checked.hpp>
#include <agrad/program/machine/by_duals.hpp>
#include <agrad/rules/density/conditions.hpp>

namespace agrad {

namespace kernels {

/// The function's name, a zero, the argument's name, and zeros.
using check_text = std::array<char, 64>;
inline constexpr std::uint32_t check_integers = 1 + sizeof(check_text) / sizeof(std::uint32_t);

/// integers = {place of the condition, text}
template <class S>
struct checked_loops {
  static bool fits(const operation_view& v) {
    return v.has(1, check_integers) && v.integers[0] < std::size(must_be::all) && v.is_entrywise(0, v.op.count);
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const span& x = op.operands[0];
    const std::uint32_t* integers = context.integers + op.data;
    const condition& must = *must_be::all[integers[0]];
    const std::uint32_t n = x.stride == 0 && op.count > 0 ? 1 : op.count;
    for (std::uint32_t i = 0; i < n; ++i)
      if (AGRAD_UNLIKELY(!must.holds(primal(values[x.first + i]))))
        fail(integers, x.stride == 0 || op.count == 1 ? -1 : static_cast<long>(i), primal(values[x.first + i]), must);
    for (std::uint32_t i = 0; i < op.count; ++i) values[op.result + i] = values[x.first + i * x.stride];
  }
  static void reverse(const operation& op, const run_context&, const S*, S* adjoints) {
    const span& x = op.operands[0];
    if (!x.active) return;
    for (std::uint32_t i = 0; i < op.count; ++i) adjoints[x.first + i * x.stride] += adjoints[op.result + i];
  }

 private:
  static double primal(double x) { return x; }
  template <int K>
  static double primal(const dual<double, K>& x) {
    return x.value;
  }
  [[noreturn]] AGRAD_COLD static void fail(const std::uint32_t* integers, long index, double value, const condition& must) {
    check_text text;
    std::memcpy(text.data(), integers + 1, text.size());
    text.back() = 0;
    const std::string_view function(text.data());
    const std::string_view argument(function.size() + 1 < text.size() ? text.data() + function.size() + 1 : "");
    agrad::detail::fail_check(function, argument, index, value, must, {});
  }
};

AGRAD_INLINE constexpr kernel checked = make<checked_loops>("checked", {dependence::entrywise, true});

}  // namespace kernels

AGRAD_INLINE slot record_checked(recorder& in, std::string_view function, std::string_view argument, std::size_t condition,
                                 const span& x, std::size_t n) {
  kernels::check_text text{};
  if (function.size() + argument.size() + 2 > text.size()) throw std::logic_error("record_checked: the names are too long");
  std::copy(function.begin(), function.end(), text.begin());
  std::copy(argument.begin(), argument.end(), text.begin() + static_cast<std::ptrdiff_t>(function.size()) + 1);
  std::array<std::uint32_t, kernels::check_integers - 1> w{};
  std::memcpy(w.data(), text.data(), text.size());
  return in.apply(kernels::checked, n, &x, 1,
                  {static_cast<std::uint32_t>(condition), w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10],
                   w[11], w[12], w[13], w[14], w[15]});
}

}  // namespace agrad
