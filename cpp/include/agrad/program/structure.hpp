// Structure: the operations that move or sum entries (gather, sum, product of matrices) and the external operation.
//
// Reshaping, slicing, transposing and joining are no operations: recorded arrays know the slots of their entries, and only
// when an operation wants consecutive slots and has none, a gather copies them together.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <stdexcept>
#include <string>

#include <agrad/program/operation.hpp>
#include <agrad/tape/eigen.hpp>

namespace agrad::kernels {

/// result[i] = values[integers[i]]
template <class S>
struct gather_loops {
  static void forward(const operation& op, const run_context& context, S* values) {
    const std::uint32_t* from = context.integers + op.data;
    for (std::uint32_t i = 0; i < op.count; ++i) values[op.result + i] = values[from[i]];
  }
  static void reverse(const operation& op, const run_context& context, const S*, S* adjoints) {
    const std::uint32_t* from = context.integers + op.data;
    for (std::uint32_t i = 0; i < op.count; ++i) adjoints[from[i]] += adjoints[op.result + i];
  }
};

/// Sums of consecutive groups: integers = {entries a group}. Halves are added, so that rounding errors grow with the logarithm
/// of the length; short pieces are four partial sums, so that the additions need not wait for each other. The order depends on
/// the length alone.
template <class S>
struct sum_loops {
  static constexpr std::uint32_t short_length = 128;

  static S sum_of(const S* x, std::uint32_t length) {
    if (length > short_length) return sum_of(x, length / 2) + sum_of(x + length / 2, length - length / 2);
    S part[4] = {S(0), S(0), S(0), S(0)};
    std::uint32_t j = 0;
    for (; j + 4 <= length; j += 4)
      for (std::uint32_t k = 0; k < 4; ++k) part[k] += x[j + k];
    for (; j < length; ++j) part[0] += x[j];
    return (part[0] + part[1]) + (part[2] + part[3]);
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const std::uint32_t length = context.integers[op.data];
    const S* x = values + op.operands[0].first;
    for (std::uint32_t i = 0; i < op.count; ++i, x += length) values[op.result + i] = sum_of(x, length);
  }
  static void reverse(const operation& op, const run_context& context, const S*, S* adjoints) {
    const std::uint32_t length = context.integers[op.data];
    S* x = adjoints + op.operands[0].first;
    for (std::uint32_t i = 0; i < op.count; ++i, x += length)
      for (std::uint32_t j = 0; j < length; ++j) x[j] += adjoints[op.result + i];
  }
};

/// Product of row-major matrices: integers = {rows of a, columns of a, columns of b}. Adjoints as in Giles (2008), 2.2.2.
template <class S>
struct product_loops {
  using rows = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using map = Eigen::Map<rows>;
  using const_map = Eigen::Map<const rows>;

  static void forward(const operation& op, const run_context& context, S* values) {
    const std::uint32_t* n = context.integers + op.data;
    const const_map a(values + op.operands[0].first, n[0], n[1]), b(values + op.operands[1].first, n[1], n[2]);
    map y(values + op.result, n[0], n[2]);
    if constexpr (std::is_same_v<S, double>)
      y.noalias() = a * b;
    else
      y = a.lazyProduct(b);  // Eigen's blocked product would be instantiated for lanes at some seconds a file
  }
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    const std::uint32_t* n = context.integers + op.data;
    const const_map a(values + op.operands[0].first, n[0], n[1]), b(values + op.operands[1].first, n[1], n[2]);
    const const_map y(adjoints + op.result, n[0], n[2]);
    const S* seeds = y.data();  // an infinite factor of an unused product must not become nan
    if (std::all_of(seeds, seeds + y.size(), [](const S& seed) { return is_constant_zero(seed); })) return;
    map a_adjoint(adjoints + op.operands[0].first, n[0], n[1]), b_adjoint(adjoints + op.operands[1].first, n[1], n[2]);
    if constexpr (std::is_same_v<S, double>) {
      if (op.operands[0].active) a_adjoint.noalias() += y * b.transpose();
      if (op.operands[1].active) b_adjoint.noalias() += a.transpose() * y;
    } else {
      if (op.operands[0].active) a_adjoint += y.lazyProduct(b.transpose());
      if (op.operands[1].active) b_adjoint += a.transpose().lazyProduct(y);
    }
  }
};

/// An external operation: integers = {its place among the program's}.
struct external_loops {
  static void forward(const operation& op, const run_context& context, double* values) {
    const std::uint32_t place = context.integers[op.data];
    const external_operation& f = *context.externals[place];
    if (context.states[place] == nullptr) context.states[place] = f.make_state();
    f.forward(*context.states[place], values + op.operands[0].first, values + op.result, context.with_adjoint);
  }
  static void reverse(const operation& op, const run_context& context, const double*, double* adjoints) {
    const std::uint32_t place = context.integers[op.data];
    context.externals[place]->reverse(*context.states[place], adjoints + op.result, adjoints + op.operands[0].first);
  }
  [[noreturn]] static void forward_lanes(const operation& op, const run_context& context, lanes*) { fail(op, context); }
  [[noreturn]] static void reverse_lanes(const operation& op, const run_context& context, const lanes*, lanes*) {
    fail(op, context);
  }
  [[noreturn]] AGRAD_COLD static void fail(const operation& op, const run_context& context) {
    throw std::logic_error(std::string(context.externals[context.integers[op.data]]->name()) +
                           ": has reverse-mode derivatives only; a tangent or a second derivative cannot pass through it");
  }
};

template <template <class> class Loops>
constexpr kernel make(std::string_view name, const dependence& depends = {}) {
  return {name, {Loops<double>::forward, Loops<double>::reverse}, {Loops<lanes>::forward, Loops<lanes>::reverse}, depends};
}

/// Remembers which way a comparison went at recording: integers = {1 or 0}. When a run finds it otherwise, the recorded path
/// does not hold and the run ends with path_left.
struct path_left {};
template <class S>
struct guard_loops {
  static void forward(const operation& op, const run_context& context, S* values) {
    if ((values[op.operands[0].first] != 0) != (context.integers[op.data] != 0)) throw path_left{};
  }
  static void reverse(const operation&, const run_context&, const S*, S*) {}
};

inline constexpr kernel gather = make<gather_loops>("gather", {dependence::gathered, true});
inline constexpr kernel sum = make<sum_loops>("sum", {dependence::grouped, true});
inline constexpr kernel product = make<product_loops>("product", {dependence::product});
inline constexpr kernel guard = make<guard_loops>("guard", {dependence::on_nothing, true});
inline constexpr kernel external{"external",
                                 {external_loops::forward, external_loops::reverse},
                                 {external_loops::forward_lanes, external_loops::reverse_lanes}};

}  // namespace agrad::kernels
