// Definitions of program/machine/custom.hpp.
#pragma once

#include <type_traits>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

/// Returns the same number without derivatives.
inline double without_tangent(double x) { return x; }
template <int K>
dual<double, K> without_tangent(const dual<double, K>& x) {
  return dual<double, K>(x.value);
}

/// Returns the value of the first number with the derivatives of the second.
inline double value_and_tangent(double value, double) { return value; }
template <int K>
dual<double, K> value_and_tangent(const dual<double, K>& value, const dual<double, K>& tangent) {
  return {value.value, tangent.tangent};
}

/// result = x, a constant for every derivative
template <class S>
struct stop_gradient_loops {
  static bool fits(const operation_view& v) { return v.has(1, 0) && v.is_entrywise(0, v.op.count); }
  static void forward(const operation& op, const run_context&, S* values) {
    const span& x = op.operands[0];
    for (std::uint32_t i = 0; i < op.count; ++i) values[op.result + i] = without_tangent(values[x.first + i * x.stride]);
  }
  static void reverse(const operation&, const run_context&, const S*, S*) {}
};

/// result = x with the tangents of x, a constant for the reverse pass
template <class S>
struct hold_loops {
  static bool fits(const operation_view& v) { return v.has(1, 0) && v.is_entrywise(0, v.op.count); }
  static void forward(const operation& op, const run_context&, S* values) {
    const span& x = op.operands[0];
    for (std::uint32_t i = 0; i < op.count; ++i) values[op.result + i] = values[x.first + i * x.stride];
  }
  static void reverse(const operation&, const run_context&, const S*, S*) {}
};

/// result = 0 with the derivatives of x
template <class S>
struct perturbation_loops {
  static bool fits(const operation_view& v) { return v.has(1, 0) && v.is_entrywise(0, v.op.count); }
  static void forward(const operation& op, const run_context&, S* values) {
    const span& x = op.operands[0];
    for (std::uint32_t i = 0; i < op.count; ++i)
      values[op.result + i] = value_and_tangent(S(0), values[x.first + i * x.stride]);
  }
  static void reverse(const operation& op, const run_context&, const S*, S* adjoints) {
    const span& x = op.operands[0];
    if (!x.active) return;
    for (std::uint32_t i = 0; i < op.count; ++i) adjoints[x.first + i * x.stride] += adjoints[op.result + i];
  }
};

/// result = the value of operand 0 with the tangents of operand 1; the adjoint goes to operand 2
template <class S>
struct with_derivative_loops {
  static bool fits(const operation_view& v) {
    const std::uint32_t n = v.op.count;
    return v.has(3, 0) && v.is_entrywise(0, n) && v.is_entrywise(1, n) && v.is_entrywise(2, n);
  }
  static void forward(const operation& op, const run_context&, S* values) {
    const span &value = op.operands[0], &tangent = op.operands[1];
    for (std::uint32_t i = 0; i < op.count; ++i) {
      values[op.result + i] =
          value_and_tangent(values[value.first + i * value.stride], values[tangent.first + i * tangent.stride]);
    }
  }
  static void reverse(const operation& op, const run_context&, const S*, S* adjoints) {
    const span& back = op.operands[2];
    if (!back.active) return;
    for (std::uint32_t i = 0; i < op.count; ++i) adjoints[back.first + i * back.stride] += adjoints[op.result + i];
  }
};

AGRAD_INLINE constexpr kernel stop_gradient = make<stop_gradient_loops>("stop_gradient", {dependence::on_nothing, true});
AGRAD_INLINE constexpr kernel hold = make<hold_loops>("hold", {dependence::entrywise, true});
AGRAD_INLINE constexpr kernel perturbation = make<perturbation_loops>("perturbation", {dependence::entrywise, true});
AGRAD_INLINE constexpr kernel with_derivative = make<with_derivative_loops>("with_derivative", {dependence::entrywise, true});

}  // namespace agrad::kernels
