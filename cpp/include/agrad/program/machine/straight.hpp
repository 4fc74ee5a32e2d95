// Straight code: runs long sequences of operations on single numbers, one step after the other.
//
// Every step ends in a call of the next step, which compilers turn into a jump, so that the processor predicts each jump
// separately (Ertl and Gregg 2003, threaded code). A stop stands before and after each sequence. Sequences are short enough for
// the stack where compilers leave calls as calls. Results are consecutive slots in the order of the steps.
// Read next: program/recording/elementwise.hpp, the same for many numbers at once.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include <agrad/program/machine/entries.hpp>
#include <agrad/program/machine/operation.hpp>

namespace agrad {

/// One step: its kind and the slots of its operands.
struct instruction {
  const straight_steps* what = nullptr;
  std::array<slot, 3> x{};
  bool is_composed = false;
};

struct straight_steps {
  std::string_view name;
  dependence depends;
  unsigned active;  // bit k tells whether operand k is active
  const entry_functions* entries;
  const kernel& (*whole)();  // kernel of the same rule
  void (*forward)(const instruction*, double* values, std::size_t y);
  void (*reverse)(const instruction*, const double* values, double* adjoints, std::size_t y);
  by_width<void (*)(const instruction*, const double* values, double* tangents, std::size_t y)> tangent;
  by_width<void (*)(const instruction*, const second_spaces&, std::size_t y)> second;
};

/// Most steps in one sequence.
inline constexpr std::uint32_t longest_straight = 1024;

namespace detail {

/// Runs one step of the propagation of tangents, for any rule.
template <int Width>
void propagate(const instruction* at, const double* values, double* tangents, std::size_t y) {
  const straight_steps& what = *at->what;
  const double* x[] = {values + at->x[0], values + at->x[1], values + at->x[2]};
  double sum[std::size_t{Width}] = {};
  for (std::uint32_t j = 0; j < what.entries->arity; ++j) {
    if ((what.active >> j & 1U) == 0) continue;
    double d = 0;
    what.entries->partial(j, 1, x, values + y, &d);
    const double* from = tangents + at->x[j] * std::size_t{Width};
    add_passed_tangents<Width>(d, from, sum);
  }
  for (int k = 0; k < Width; ++k) tangents[y * Width + static_cast<std::size_t>(k)] = sum[k];
  ++at;
  return at->what->tangent.template at<Width>()(at, values, tangents, y + 1);
}

/// Runs one step of the reverse pass with tangents, for any rule.
template <int Width>
void second_step_of_any(const instruction* at, const second_spaces& w, std::size_t y) {
  const straight_steps& what = *at->what;
  const std::uint32_t arity = what.entries->arity;
  const double* x[] = {w.values + at->x[0], w.values + at->x[1], w.values + at->x[2]};
  const double y_adjoint = w.adjoints[y], *y_tangents = w.adjoint_tangents + y * Width;
  for (std::uint32_t j = 0; j < arity; ++j) {
    if ((what.active >> j & 1U) == 0) continue;
    double d = 0, h[3] = {}, *to[] = {h, h + 1, h + 2};
    double factors[std::size_t{Width}] = {};  // tangents of d
    if (what.depends.curved[j] == 0 || y_adjoint == 0) {
      what.entries->partial(j, 1, x, w.values + y, &d);
    } else {
      what.entries->second(j, 1, x, w.values + y, &d, to);
      for (std::uint32_t l = 0; l < arity; ++l)
        add_passed_tangents<Width>(h[l], w.tangents + at->x[l] * std::size_t{Width}, factors);
    }
    w.adjoints[at->x[j]] += passed(d, y_adjoint);
    double* sums = w.adjoint_tangents + at->x[j] * std::size_t{Width};
    add_tangents_of_passed<Width>(d, factors, y_adjoint, y_tangents, sums);
  }
  --at;
  return at->what->second.template at<Width>()(at, w, y - 1);
}

/// The steps of a rule whatever operands are active.
template <class Rule>
struct straight_entry {
  static constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  static_assert(arity <= 3, "an instruction has room for three operands");
  using every = std::make_index_sequence<arity>;

  template <std::size_t... I>
  AGRAD_ALWAYS_INLINE static double value(const instruction* at, const double* values, std::index_sequence<I...>) {
    return value_in_octets<Rule>(values[at->x[I]]...);
  }
  template <std::size_t... I>
  AGRAD_ALWAYS_INLINE static std::array<double, arity> read(const instruction* at, const double* values,
                                                            std::index_sequence<I...>) {
    return {values[at->x[I]]...};
  }

  static void forward(const instruction* at, double* values, std::size_t y) {
    values[y] = value(at, values, every{});
    ++at;
    return at->what->forward(at, values, y + 1);
  }

  /// Adds to the adjoints of the operands whose bits are set in `active`.
  template <std::size_t... J>
  AGRAD_ALWAYS_INLINE static void reverse_operands(unsigned active, const instruction* at, const double* values,
                                                   double* adjoints, std::size_t y, std::index_sequence<J...>) {
    const double y_adjoint = adjoints[y];
    if (y_adjoint == 0) return;
    const std::array<double, arity> x = read(at, values, every{});
    ((active >> J & 1U ? add_passed(adjoints[at->x[J]], partial_at<Rule, J>(x, values[y], every{}), y_adjoint) : void()), ...);
  }
  static void reverse(const instruction* at, const double* values, double* adjoints, std::size_t y) {
    reverse_operands(at->what->active, at, values, adjoints, y, every{});
    --at;
    return at->what->reverse(at, values, adjoints, y - 1);
  }
};

/// The steps of a rule; bit k of Active tells whether operand k is active. Only common rules, which have functions for arrays,
/// have steps of their own for each set of active operands.
template <class Rule, unsigned Active>
struct straight_rule : straight_entry<Rule> {
  using entry = straight_entry<Rule>;
  using entry::arity;
  using entry::read;
  using typename entry::every;
  template <std::size_t J>
  static constexpr bool is_active = ((Active >> J) & 1U) != 0;

  static void reverse(const instruction* at, const double* values, double* adjoints, std::size_t y) {
    entry::reverse_operands(Active, at, values, adjoints, y, every{});
    --at;
    return at->what->reverse(at, values, adjoints, y - 1);
  }

  static constexpr bool has_own_steps = has_values<Rule> && !Rule::needs_wide_packets;
  static constexpr agrad::dependence depends = agrad::dependence_of_rule<Rule, dual<double>>();

  template <int Width, std::size_t J>
  AGRAD_ALWAYS_INLINE static void add_propagated(const double* tangents, const instruction* at, double factor, double* sum) {
    if constexpr (is_active<J>) {
      const double* from = tangents + at->x[J] * std::size_t{Width};
      add_passed_tangents<Width>(factor, from, sum);
    }
  }
  template <int Width, std::size_t... J>
  AGRAD_ALWAYS_INLINE static void propagate_all(const instruction* at, const double* values, double* tangents, std::size_t y,
                                                std::index_sequence<J...>) {
    const std::array<double, arity> x = read(at, values, every{});
    double sum[std::size_t{Width}] = {};
    (add_propagated<Width, J>(tangents, at, partial_at<Rule, J>(x, values[y], every{}), sum), ...);
    for (int k = 0; k < Width; ++k) tangents[y * Width + static_cast<std::size_t>(k)] = sum[k];
  }
  template <int Width>
  static void tangent(const instruction* at, const double* values, double* tangents, std::size_t y) {
    propagate_all<Width>(at, values, tangents, y, every{});
    ++at;
    return at->what->tangent.template at<Width>()(at, values, tangents, y + 1);
  }

  /// Propagates the adjoint of a step and its tangents to operand J.
  template <int Width, std::size_t J, std::size_t... L>
  AGRAD_ALWAYS_INLINE static void second_of_operand(const instruction* at, const second_spaces& w,
                                                    const std::array<double, arity>& x, std::size_t y,
                                                    std::index_sequence<L...>) {
    if constexpr (is_active<J>) {
      const double d = partial_at<Rule, J>(x, w.values[y], every{}), y_adjoint = w.adjoints[y];
      double factors[std::size_t{Width}] = {};  // tangents of d
      if constexpr (depends.curved[J] != 0) {
        const auto of = entries_of<Rule>::template second_at<J>(x, w.values[y]);
        (add_propagated<Width, L>(w.tangents, at, of.tangent[L], factors), ...);
      }
      w.adjoints[at->x[J]] += passed(d, y_adjoint);
      double* sums = w.adjoint_tangents + at->x[J] * std::size_t{Width};
      const double* y_tangents = w.adjoint_tangents + y * Width;
      add_tangents_of_passed<Width>(d, factors, y_adjoint, y_tangents, sums);
    }
  }
  template <int Width, std::size_t... J>
  AGRAD_ALWAYS_INLINE static void second_of_operands(const instruction* at, const second_spaces& w, std::size_t y,
                                                     std::index_sequence<J...>) {
    const std::array<double, arity> x = read(at, w.values, every{});
    (second_of_operand<Width, J>(at, w, x, y, every{}), ...);
  }
  template <int Width>
  static void second(const instruction* at, const second_spaces& w, std::size_t y) {
    second_of_operands<Width>(at, w, y, every{});
    --at;
    return at->what->second.template at<Width>()(at, w, y - 1);
  }

  static constexpr auto reverse_step() {
    if constexpr (has_own_steps)
      return &reverse;
    else
      return &entry::reverse;
  }
  template <int Width>
  static constexpr auto tangent_step() {
    if constexpr (has_own_steps)
      return &tangent<Width>;
    else
      return &propagate<Width>;
  }
  template <int Width>
  static constexpr auto second_step() {
    if constexpr (has_own_steps)
      return &second<Width>;
    else
      return &second_step_of_any<Width>;
  }

  static constexpr straight_steps steps{Rule::name,
                                        depends,
                                        Active,
                                        &entries_of<Rule>::functions,
                                        &kernel_of_rule<Rule>,
                                        entry::forward,
                                        reverse_step(),
                                        {tangent_step<1>(), tangent_step<lane_count>()},
                                        {second_step<1>(), second_step<lane_count>()}};
};

/// The steps of a rule for each set of active operands.
template <class Rule, class Masks = std::make_index_sequence<(std::size_t{1} << static_cast<unsigned>(Rule::arity))>>
struct straight_table;
template <class Rule, std::size_t... Mask>
struct straight_table<Rule, std::index_sequence<Mask...>> {
  static constexpr straight_steps steps[] = {straight_rule<Rule, static_cast<unsigned>(Mask)>::steps...};
};

/// Returns the steps of a rule; null for a rule of more arguments than an instruction has room for, which is never a step.
template <class Rule>
constexpr const straight_steps* steps_of_rule() {
  if constexpr (std::size_t{Rule::arity} > std::tuple_size_v<decltype(instruction::x)>)
    return nullptr;
  else
    return straight_table<Rule>::steps;
}

/// The stop before and after a sequence.
struct straight_stop {
  static void forward(const instruction*, double*, std::size_t) {}
  static void reverse(const instruction*, const double*, double*, std::size_t) {}
  static void tangent(const instruction*, const double*, double*, std::size_t) {}
  static void second(const instruction*, const second_spaces&, std::size_t) {}
  static constexpr straight_steps steps{"stop",          {}, 0, nullptr, nullptr, forward, reverse, {tangent, tangent},
                                        {second, second}};
};

/// The loops of the operation that runs a sequence; data: the index of its first instruction.
struct straight_loops {
  static const instruction* first(const operation& op, const run_context& context) { return context.instructions + op.data; }
  /// Returns whether each step reads slots from before the sequence or results of earlier steps.
  static bool fits(const operation_view& v) {
    const std::size_t begin = v.op.data, end = begin + v.op.count;
    const auto is_stop = [&](std::size_t i) { return v.instructions[i].what == &straight_stop::steps; };
    if (!v.has(0, 0) || v.op.count == 0 || v.op.count > longest_straight) return false;
    if (begin == 0 || end >= v.instructions.size() || !is_stop(begin - 1) || !is_stop(end)) return false;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_stop(i)) return false;
      for (const slot s : v.instructions[i].x)
        if (!v.is_ready(s) && (s < v.op.result || s - v.op.result >= i - begin)) return false;
    }
    return true;
  }
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
                                 {detail::straight_loops::second<1>, detail::straight_loops::second<lane_count>},
                                 detail::straight_loops::fits};
}

}  // namespace agrad
