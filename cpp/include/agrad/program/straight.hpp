// Straight code: long sequences of operations on single numbers, one step after the other.
//
// Every step ends in a call of the next one, which compilers turn into a jump, so that the processor predicts each jump by
// itself (Ertl and Gregg 2003, threaded code). A stop before and after a sequence ends it. Sequences are kept short enough
// for the stack where calls stay calls. Results are consecutive slots in the order of the steps.
// Read next: program/elementwise.hpp, the same for many numbers at once.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include <agrad/program/operation.hpp>
#include <agrad/rules/apply.hpp>
#include <agrad/rules/values.hpp>

namespace agrad {

/// One step: what, and the slots it reads.
struct instruction {
  const straight_steps* what = nullptr;
  std::array<slot, 3> x{};
};

struct straight_steps {
  std::string_view name;
  dependence depends;
  std::uint32_t arity;
  unsigned active;  // bit k is whether operand k is
  void (*forward)(const instruction*, double* values, std::size_t y);
  void (*reverse)(const instruction*, const double* values, double* adjoints, std::size_t y);
  by_width<void (*)(const instruction*, const double* values, double* tangents, std::size_t y)> tangent;
  by_width<void (*)(const instruction*, const second_spaces&, std::size_t y)> second;
};

/// Steps in one sequence at most.
inline constexpr std::uint32_t longest_straight = 1024;

namespace detail {

/// The partial derivative with respect to argument J, for numbers or duals.
template <class Rule, std::size_t J, class T, std::size_t... I>
AGRAD_INLINE auto partial_of(const std::array<T, sizeof...(I)>& x, const T& y, std::index_sequence<I...>) {
  return Rule::derivative(wrt<static_cast<int>(J)>{}, x[I]..., y);
}

/// A tangent times a factor; a tangent of zero stays one beside an infinite factor.
AGRAD_INLINE double carried(double factor, double tangent) { return tangent == 0 ? 0.0 : factor * tangent; }

/// A partial derivative as dual, of rules whose derivative is a number, too.
template <int Width>
AGRAD_INLINE dual<double, Width> as_dual(const dual<double, Width>& x) {
  return x;
}
template <int Width>
AGRAD_INLINE dual<double, Width> as_dual(double x) {
  return dual<double, Width>(x);
}

template <int Width>
AGRAD_INLINE dual<double, Width> dual_at(double value, const double* tangents) {
  dual<double, Width> x(value);
  for (int k = 0; k < Width; ++k) x.tangent[static_cast<std::size_t>(k)] = tangents[k];
  return x;
}

/// One entry swept back with its tangents: y's adjoint times the partial derivative d, added to x's.
template <int Width>
AGRAD_INLINE void add_second(const dual<double, Width>& d, double y_adjoint, const double* y_adjoint_tangent, double& x_adjoint,
                             double* x_adjoint_tangent) {
  x_adjoint += carried(d.value, y_adjoint);
  for (int k = 0; k < Width; ++k) {
    x_adjoint_tangent[k] +=
        carried(d.tangent[static_cast<std::size_t>(k)], y_adjoint) + carried(d.value, y_adjoint_tangent[k]);
  }
}

/// The steps of a rule whose operands with a bit in Active are active.
template <class Rule, unsigned Active>
struct straight_rule {
  static constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  static_assert(arity <= 3, "an instruction has room for three operands");
  using every = std::make_index_sequence<arity>;
  template <std::size_t J>
  static constexpr bool is_active = ((Active >> J) & 1U) != 0;

  template <std::size_t... I>
  AGRAD_INLINE static double value(const instruction* at, const double* values, std::index_sequence<I...>) {
    return value_in_octets<Rule>(values[at->x[I]]...);
  }
  template <std::size_t... I>
  AGRAD_INLINE static std::array<double, arity> read(const instruction* at, const double* values, std::index_sequence<I...>) {
    return {values[at->x[I]]...};
  }

  static void forward(const instruction* at, double* values, std::size_t y) {
    values[y] = value(at, values, every{});
    ++at;
    return at->what->forward(at, values, y + 1);
  }

  template <std::size_t J>
  AGRAD_INLINE static void send(const instruction* at, const std::array<double, arity>& x, double y, double y_adjoint,
                                double* adjoints) {
    if constexpr (is_active<J>) adjoints[at->x[J]] += partial_of<Rule, J>(x, y, every{}) * y_adjoint;
  }
  template <std::size_t... J>
  AGRAD_INLINE static void send_all(const instruction* at, const double* values, double* adjoints, std::size_t y,
                                    std::index_sequence<J...>) {
    const double y_adjoint = adjoints[y];
    if (y_adjoint == 0) return;  // an infinite derivative of an unused number must not become nan
    const std::array<double, arity> x = read(at, values, every{});
    (send<J>(at, x, values[y], y_adjoint, adjoints), ...);
  }
  static void reverse(const instruction* at, const double* values, double* adjoints, std::size_t y) {
    send_all(at, values, adjoints, y, every{});
    --at;
    return at->what->reverse(at, values, adjoints, y - 1);
  }

  template <int Width, std::size_t J>
  AGRAD_INLINE static void carry(const instruction* at, const std::array<double, arity>& x, double y, const double* tangents,
                                 double* to) {
    if constexpr (is_active<J>) {
      const double factor = partial_of<Rule, J>(x, y, every{});
      const double* from = tangents + at->x[J] * static_cast<std::size_t>(Width);
      for (int k = 0; k < Width; ++k) to[k] += carried(factor, from[k]);
    }
  }
  template <int Width, std::size_t... J>
  AGRAD_INLINE static void carry_all(const instruction* at, const double* values, double* tangents, std::size_t y,
                                     std::index_sequence<J...>) {
    std::array<double, static_cast<std::size_t>(Width)> sum{};
    const std::array<double, arity> x = read(at, values, every{});
    (carry<Width, J>(at, x, values[y], tangents, sum.data()), ...);
    double* to = tangents + y * static_cast<std::size_t>(Width);
    for (int k = 0; k < Width; ++k) to[k] = sum[static_cast<std::size_t>(k)];
  }
  template <int Width>
  static void tangent(const instruction* at, const double* values, double* tangents, std::size_t y) {
    carry_all<Width>(at, values, tangents, y, every{});
    ++at;
    return at->what->tangent.template at<Width>()(at, values, tangents, y + 1);
  }

  template <int Width, std::size_t J>
  AGRAD_INLINE static void send_second(const instruction* at, const std::array<dual<double, Width>, arity>& x,
                                       const dual<double, Width>& y, const second_spaces& w, std::size_t to) {
    if constexpr (is_active<J>) {
      const std::size_t from = at->x[J];
      add_second<Width>(as_dual<Width>(partial_of<Rule, J>(x, y, every{})), w.adjoints[to], w.adjoint_tangents + to * Width,
                        w.adjoints[from], w.adjoint_tangents + from * Width);
    }
  }
  template <int Width, std::size_t... J>
  AGRAD_INLINE static void send_all_second(const instruction* at, const second_spaces& w, std::size_t y,
                                           std::index_sequence<J...>) {
    const std::array<dual<double, Width>, arity> x{dual_at<Width>(w.values[at->x[J]], w.tangents + at->x[J] * std::size_t{Width})...};
    const auto result = dual_at<Width>(w.values[y], w.tangents + y * Width);
    (send_second<Width, J>(at, x, result, w, y), ...);
  }
  template <int Width>
  static void second(const instruction* at, const second_spaces& w, std::size_t y) {
    send_all_second<Width>(at, w, y, every{});
    --at;
    return at->what->second.template at<Width>()(at, w, y - 1);
  }

  static constexpr straight_steps steps{
      Rule::name, agrad::dependence_of_rule<Rule, dual<double>>(), arity, Active, forward, reverse, {tangent<1>, tangent<lane_count>}, {second<1>, second<lane_count>}};
};

/// The steps of a rule by which of its operands are active.
template <class Rule, class Masks = std::make_index_sequence<(std::size_t{1} << static_cast<unsigned>(Rule::arity))>>
struct straight_table;
template <class Rule, std::size_t... Mask>
struct straight_table<Rule, std::index_sequence<Mask...>> {
  static constexpr straight_steps steps[] = {straight_rule<Rule, static_cast<unsigned>(Mask)>::steps...};
};

/// What stands before and after a sequence.
struct straight_stop {
  static void forward(const instruction*, double*, std::size_t) {}
  static void reverse(const instruction*, const double*, double*, std::size_t) {}
  static void tangent(const instruction*, const double*, double*, std::size_t) {}
  static void second(const instruction*, const second_spaces&, std::size_t) {}
  static constexpr straight_steps steps{"stop", {}, 0, 0, forward, reverse, {tangent, tangent}, {second, second}};
};

/// The operation that runs a sequence; data: the place of its first instruction.
struct straight_loops {
  static const instruction* first(const operation& op, const run_context& context) { return context.instructions + op.data; }
  static void forward(const operation& op, const run_context& context, double* values) {
    const instruction* at = first(op, context);
    at->what->forward(at, values, op.result);
  }
  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    const instruction* at = first(op, context) + op.count - 1;
    at->what->reverse(at, values, adjoints, op.result + op.count - 1);
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double* values, double* tangents) {
    const instruction* at = first(op, context);
    at->what->tangent.template at<Width>()(at, values, tangents, op.result);
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    const instruction* at = first(op, context) + op.count - 1;
    at->what->second.template at<Width>()(at, w, op.result + op.count - 1);
  }
};

}  // namespace detail

namespace kernels {
inline constexpr kernel straight{"straight",
                                 detail::straight_loops::forward,
                                 detail::straight_loops::reverse,
                                 {detail::straight_loops::tangent<1>, detail::straight_loops::tangent<lane_count>},
                                 {detail::straight_loops::second<1>, detail::straight_loops::second<lane_count>}};
}

}  // namespace agrad
