// Linear algebra kernels: every rule of rules/linalg as an operation of a program, with values, tangents, adjoints and second
// order.
//
// integers = {rows, columns of each argument}. Matrices of a program are row-major and matrices of rules column-major, so
// matrices are transposed on reading and writing, unless the rule accepts transposed matrices. The slots after the results
// store the data that the rule has prepared, so tangents and reverse passes do not factorise. The rules give the tangents.
// Tangents of adjoints are computed on a tape of the kernel: (dJ)' y_bar is the gradient of <y_bar, J dx>, so no further
// formula is needed. Only the file that builds the table of rules includes this header. Read next: rules/linalg/rule.hpp;
// program/kernels/linalg_slots.hpp.
#pragma once

#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include <agrad/dual/matrix.hpp>
#include <agrad/program/kernels/linalg_formulas.hpp>
#include <agrad/program/kernels/linalg_slots.hpp>
#include <agrad/program/machine/second_order.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/rules/linalg/algebra.hpp>
#include <agrad/tape/matrix/linalg.hpp>
#include <agrad/tape/scope.hpp>

namespace agrad {

namespace linalg {

/// Returns the number of slots after the results of the rule's operation.
template <class Rule, class Shapes>
std::size_t prepared_slots(const Shapes& shapes) {
  counting_room room;
  std::apply(
      [&](const auto&... s) { Rule{}.prepare(room, const_block(Eigen::Map<const MatrixXd>(nullptr, s.rows, s.cols))...); },
      shapes);
  return room.size();
}

/// Calls `run`; errors get the function's name in Python.
template <class Rule, class Run>
void under_python_name(const Run& run) {
  if constexpr (Rule::numpy.empty()) {
    run();
  } else {
    try {
      run();
    } catch (const LinAlgError& e) {
      throw LinAlgError(renamed(e.what(), Rule::numpy));
    } catch (const DomainError& e) {
      throw DomainError(renamed(e.what(), Rule::numpy));
    }
  }
}

/// Whether a rule has formulas of its own for tangents and second order (`propagate`, rules/linalg/rule.hpp).
template <class Rule, class = void>
inline constexpr bool propagates_tangents = false;
template <class Rule>
inline constexpr bool propagates_tangents<Rule, std::void_t<decltype(&Rule::template propagate<const_block>)>> = true;

/// Whether a rule checks for second derivatives that have lost their digits.
template <class Rule, class = void>
inline constexpr bool checks_second = false;
template <class Rule>
inline constexpr bool checks_second<Rule, std::void_t<decltype(&Rule::template check_second<const_block>)>> = true;

/// Whether a rule with one argument and one result has its own formula for the tangents of adjoints: `add_second(prepared,
/// argument, adjoint, tangent of the adjoint, tangent of the argument, is partial (program/machine/second_order.hpp),
/// tangent of the argument's adjoint)`.
template <class Rule, class = void>
inline constexpr bool has_own_second = false;
template <class Rule>
inline constexpr bool has_own_second<Rule, std::void_t<decltype(&Rule::template add_second<const_block>)>> = true;

/// Whether a rule is its own tangent, and its adjoint the same everywhere.
template <class Rule>
inline constexpr bool is_linear = std::is_base_of_v<linear_rule<Rule>, Rule>;

/// An operation of the rule. Functions that are not inlined serve both one direction and several lanes.
template <class Rule>
class program_operation {
 public:
  program_operation(const operation& op, const std::uint32_t* integers) : op_(op) {
    for (std::size_t i = 0; i < arguments; ++i) {
      x_shapes_[i] = {static_cast<Index>(integers[2 * i]), static_cast<Index>(integers[2 * i + 1])};
      x_[i] = {op.operands[i].first, x_shapes_[i], 1, (Rule::transposed_arguments >> i & 1U) != 0};
    }
    y_shapes_ = std::apply([](const auto&... s) { return Rule{}.results_of(s...); }, x_shapes_);
    prepared_ = op.result;
    for (std::size_t r = 0; r < results; ++r) {
      y_[r] = {prepared_, y_shapes_[r], 1, (Rule::transposed_results >> r & 1U) != 0};
      prepared_ += y_[r].size();
    }
  }

  void forward(double* values) const { forward(values, every_argument{}, every_result{}); }
  void reverse(const double* values, double* adjoints) const {
    if (is_used(adjoints, every_result{})) reverse(values, adjoints, every_argument{}, every_result{});
  }
  [[gnu::noinline]] void tangent(const double* values, double* tangents, Index width) const {
    if constexpr (propagates_tangents<Rule>)
      propagate(values, tangents, width);
    else if constexpr (is_linear<Rule>)
      map_tangents(tangents, width);
    else
      tangent(values, tangents, width, every_argument{}, every_result{});
  }
  [[gnu::noinline]] void second(const second_spaces& w, Index width) const {
    if constexpr (propagates_tangents<Rule>)
      propagate_second(w, width);
    else if constexpr (is_linear<Rule>)
      pull_back_linear(w, width);
    else if constexpr (has_own_second<Rule>)
      add_second(w, width);
    else
      second(w, width, every_argument{}, every_result{});
  }

 private:
  static constexpr std::size_t arguments = Rule::arguments, results = Rule::results;
  static constexpr int most = lane_count;
  using every_argument = std::make_index_sequence<arguments>;
  using every_result = std::make_index_sequence<results>;

  const operation& op_;
  std::array<shape, arguments> x_shapes_;
  typename Rule::shapes y_shapes_;
  std::array<placed, arguments> x_;
  std::array<placed, results> y_;
  Index prepared_;

  template <std::size_t... R>
  bool is_used(const double* adjoints, std::index_sequence<R...>) const {
    return (!y_[R].is_zero(adjoints, 0) || ...);  // an infinite derivative of an unused result must not become nan
  }

  template <std::size_t... I, std::size_t... R>
  void forward(double* values, std::index_sequence<I...>, std::index_sequence<R...>) const {
    const reading x[] = {reading(x_[I], values)...};
    filling_room room(values + prepared_);
    const auto prepared = Rule{}.prepare(room, x[I].get()...);
    if (all_empty(y_shapes_)) return;
    writing y[] = {writing(y_[R], values)...};
    Rule{}.value(prepared, x[I].get()..., block(y[R].get())...);
  }

  template <std::size_t... I, std::size_t... R>
  void reverse(const double* values, double* adjoints, std::index_sequence<I...> i, std::index_sequence<R...> r) const {
    const reading x[] = {reading(x_[I], values)...}, y[] = {reading(y_[R], values)...};
    filled_room room(values + prepared_);
    pull_back(Rule{}.prepare(room, x[I].get()...), x, y, adjoints, 1, 0, i, r);
  }

  template <std::size_t... I, std::size_t... R>
  void tangent(const double* values, double* tangents, Index width, std::index_sequence<I...>,
               std::index_sequence<R...>) const {
    const reading x[] = {reading(x_[I], values)...};
    const auto d = std::make_tuple(dual_argument<MatrixXd>(x[I].get(), x_[I].apart(width), tangents, width)...);
    if ((is_constant(std::get<I>(d)) && ...)) return (y_[R].apart(width).zero(tangents), ...);
    filled_room room(values + prepared_);
    const auto prepared = Rule{}.prepare(room, x[I].get()...);
    const auto y = algebra<dual_matrix<MatrixXd, most>>::apply(Rule{}, prepared, y_shapes_, std::get<I>(d)...);
    (write_tangents(y_[R].apart(width), y[R], tangents, width), ...);
  }

  /// Propagates tangents by the rule's own formulas, one direction after the other.
  void propagate(const double* values, double* tangents, Index width) const {
    const placed from = x_[0].apart(width), to = y_[0].apart(width);
    const reading y(y_[0], values);
    to.zero(tangents);
    for (Index k = 0; k < width; ++k) {
      if (from.is_zero(tangents, k)) continue;
      MatrixXd d = from.read(tangents, k);
      Rule{}.propagate(y.get(), d);
      to.write(d, tangents, k);
    }
  }
  void propagate_second(const second_spaces& w, Index width) const {
    if (!op_.operands[0].active) return;
    const reading y(y_[0], w.values);
    const arriving y_bar(y_[0], w.adjoints, 0);
    MatrixXd h = MatrixXd::Zero(y_[0].s.rows, y_[0].s.cols);
    if (y_bar.get() != nullptr) {
      h = Rule{}.reversed(y.get(), *y_bar.get());
      adding x_bar(x_[0], w.adjoints, 0, true);
      Rule{}.add(h, *x_bar.get());
    }
    const placed from = y_[0].apart(width);
    for (Index k = 0; k < width; ++k) {
      if (from.is_zero(w.adjoint_tangents, k) && (y_bar.get() == nullptr || from.is_zero(w.tangents, k))) continue;
      MatrixXd d = from.read(w.adjoint_tangents, k);
      Rule{}.propagate_reversed(y.get(), from.read(w.tangents, k), h, d);
      adding x_bar(x_[0].apart(width), w.adjoint_tangents, k, true);
      Rule{}.add(d, *x_bar.get());
    }
  }

  void add_second(const second_spaces& w, Index width) const {
    const reading x(x_[0], w.values), y(y_[0], w.values);
    const std::index_sequence<0> only{};
    filled_room room(w.values + prepared_);
    const auto prepared = Rule{}.prepare(room, x.get());
    if (y_[0].size() == 0 || !op_.operands[0].active) return;
    pull_back(prepared, &x, &y, w.adjoints, 1, 0, only, only);
    for (Index k = 0; k < width; ++k) {
      const placed bars = y_[0].apart(width), from = x_[0].apart(width);
      if (from.is_zero(w.tangents, k)) {
        pull_back(prepared, &x, &y, w.adjoint_tangents, width, k, only, only);
        continue;
      }
      adding x_bar(from, w.adjoint_tangents, k, true);
      Rule{}.add_second(prepared, x.get(), y_[0].read(w.adjoints, 0), bars.read(w.adjoint_tangents, k),
                        from.read(w.tangents, k), second_is_partial, x_bar.get());
    }
  }

  void map_tangents(double* tangents, Index width) const {
    const placed from = x_[0].apart(width), to = y_[0].apart(width);
    for (Index k = 0; k < width && from.size() > 0; ++k) {
      MatrixXd d = MatrixXd::Zero(y_[0].s.rows, y_[0].s.cols);
      if (!from.is_zero(tangents, k)) Rule{}.value(nothing{}, const_block(from.read(tangents, k)), block(d));
      to.write(d, tangents, k);
    }
  }
  /// Propagates adjoints and their tangents in the same way, because the Jacobian has no tangent.
  void pull_back_linear(const second_spaces& w, Index width) const {
    const reading x(x_[0], w.values), y(y_[0], w.values);
    const std::index_sequence<0> only{};
    pull_back(nothing{}, &x, &y, w.adjoints, 1, 0, only, only);
    for (Index k = 0; k < width; ++k) pull_back(nothing{}, &x, &y, w.adjoint_tangents, width, k, only, only);
  }

  template <class M>
  static bool is_constant(const dual_matrix<M, most>& d) {
    for (const auto& t : d.tangent)
      if (t) return false;
    return true;
  }

  /// Returns the argument as a dual number with the tangents that are not zero.
  template <class M, class Value>
  static dual_matrix<M, most> dual_argument(const Value& value, const placed& x, const double* tangents, Index width) {
    dual_matrix<M, most> d{M(value)};
    for (Index k = 0; k < width; ++k)
      if (!x.is_zero(tangents, k)) d.tangent[static_cast<std::size_t>(k)].emplace(x.read(tangents, k));
    return d;
  }

  static void write_tangents(const placed& y, const dual_matrix<MatrixXd, most>& d, double* tangents, Index width) {
    y.zero(tangents);
    for (Index k = 0; k < width; ++k)
      if (const auto& t = d.tangent[static_cast<std::size_t>(k)]) y.write(*t, tangents, k);
  }

  /// Adds the transposed Jacobian times the results' adjoint, for one of `width` parts, by the rule's formula.
  template <class Prepared, std::size_t... I, std::size_t... R>
  void pull_back(const Prepared& prepared, const reading* x, const reading* y, double* adjoints, Index width, Index part,
                 std::index_sequence<I...>, std::index_sequence<R...>) const {
    if ((y_[R].apart(width).is_zero(adjoints, part) && ...)) return;
    const arriving y_bar[] = {arriving(y_[R].apart(width), adjoints, part)...};
    adding x_bar[] = {adding(x_[I].apart(width), adjoints, part, op_.operands[I].active)...};
    Rule{}.adjoint(prepared, x[I].get()..., y[R].get()..., y_bar[R].get()..., x_bar[I].get()...);
  }

  template <std::size_t... I, std::size_t... R>
  void second(const second_spaces& w, Index width, std::index_sequence<I...> i, std::index_sequence<R...> r) const {
    const reading x[] = {reading(x_[I], w.values)...}, y[] = {reading(y_[R], w.values)...};
    filled_room room(w.values + prepared_);
    const auto prepared = Rule{}.prepare(room, x[I].get()...);
    const bool has_value = is_used(w.adjoints, r);
    if (has_value) pull_back(prepared, x, y, w.adjoints, 1, 0, i, r);
    std::array<bool, most> curved{};
    bool any = false;
    for (Index k = 0; k < width; ++k) {
      const bool is = has_value && (!x_[I].apart(width).is_zero(w.tangents, k) || ...);
      if (!is) pull_back(prepared, x, y, w.adjoint_tangents, width, k, i, r);
      curved[static_cast<std::size_t>(k)] = is;
      any = any || is;
    }
    if (any) propagate_curved(prepared, x, w, width, curved, i, r);
  }

  /// Adds the tangents of the adjoints in the `curved` parts: (dJ)' y_bar + J' dy_bar, the gradient of <y_bar, J dx> + <dy_bar,
  /// y>.
  template <class Prepared, std::size_t... I, std::size_t... R>
  void propagate_curved(const Prepared& prepared, const reading* x, const second_spaces& w, Index width,
                        const std::array<bool, most>& curved, std::index_sequence<I...>, std::index_sequence<R...> r) const {
    tape& own = second_order_tape();
    const active_tape active(own);
    const scope inner(own);
    const auto d = std::make_tuple(dual_argument<matrix<var>>(x[I].get(), x_[I].apart(width), w.tangents, width)...);
    const auto y = algebra<dual_matrix<matrix<var>, most>>::apply(Rule{}, prepared, y_shapes_, std::get<I>(d)...);
    for (Index k = 0; k < width; ++k) {
      if (!curved[static_cast<std::size_t>(k)]) continue;
      own.clear_adjoints();
      (seed(own, y[R], y_[R], w, width, k), ...);
      own.reverse();
      (collect(own, std::get<I>(d).value, I, w, width, k), ...);
      if constexpr (checks_second<Rule>) check_second(w, width, k, adjoint_of(own, std::get<0>(d).value), r);
    }
  }

  /// Calls the check of a rule with one argument, whose tangents divide by values that may be small.
  template <class Adjoint, std::size_t... R>
  void check_second(const second_spaces& w, Index width, Index k, const Adjoint& x_bar_tangent,
                    std::index_sequence<R...>) const {
    const reading y[] = {reading(y_[R], w.values)...};
    const arriving y_bar[] = {arriving(y_[R], w.adjoints, 0)...};
    Rule{}.check_second(y[R].get()..., y_bar[R].get()..., x_[0].apart(width).read(w.tangents, k), MatrixXd(x_bar_tangent),
                        second_is_partial);
  }

  static void seed(tape& own, const dual_matrix<matrix<var>, most>& y, const placed& place, const second_spaces& w, Index width,
                   Index k) {
    if (place.size() == 0) return;
    adjoint_of(own, y.value) += place.apart(width).read(w.adjoint_tangents, k);
    if (const auto& t = y.tangent[static_cast<std::size_t>(k)]) adjoint_of(own, *t) += place.read(w.adjoints, 0);
  }
  void collect(tape& own, const matrix<var>& x, std::size_t i, const second_spaces& w, Index width, Index k) const {
    if (op_.operands[i].active) x_[i].apart(width).add(adjoint_of(own, x), w.adjoint_tangents, k);
  }
};

/// The kernel's loops, in the form of program/machine/operation.hpp. Linear rules need no formulas.
template <class Rule>
struct program_loops {
  static constexpr recorded_formulas formulas = formulas_of_rule<Rule, is_linear<Rule>>();
  /// Returns whether the arguments have the shapes in the integers, the rule accepts these shapes, and the result has the slots
  /// that the rule needs.
  static bool fits(const operation_view& v) {
    constexpr auto arguments = static_cast<std::size_t>(Rule::arguments);
    if (!v.has(arguments, 2 * arguments)) return false;
    std::array<shape, arguments> x;
    bool is_active = false;  // an operation without an active operand is a constant, for which rules have no adjoint
    for (std::size_t i = 0; i < arguments; ++i) {
      is_active = is_active || v.op.operands[i].active;
      const std::uint32_t rows = v.integers[2 * i], cols = v.integers[2 * i + 1], entries = v.op.operands[i].count;
      if (!v.is_product(entries, rows, cols) || !v.is_dense(i, entries)) return false;
      x[i] = {static_cast<Index>(rows), static_cast<Index>(cols)};
    }
    try {
      std::size_t slots = 0;
      for (const shape& y : std::apply([](const auto&... s) { return Rule{}.results_of(s...); }, x))
        slots += static_cast<std::size_t>(y.rows * y.cols);
      return is_active && slots + prepared_slots<Rule>(x) == v.op.count;
    } catch (const ShapeError&) {
      return false;
    }
  }
  static void forward(const operation& op, const run_context& context, double* values) {
    under_python_name<Rule>([&] { on(op, context).forward(values); });
  }
  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    under_python_name<Rule>([&] { on(op, context).reverse(values, adjoints); });
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double* values, double* tangents) {
    under_python_name<Rule>([&] { on(op, context).tangent(values, tangents, Width); });
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& spaces) {
    under_python_name<Rule>([&] { on(op, context).second(spaces, Width); });
  }

 private:
  static program_operation<Rule> on(const operation& op, const run_context& context) {
    return program_operation<Rule>(op, context.integers + op.data);
  }
};

}  // namespace linalg

template <class Rule>
inline constexpr kernel linalg_kernel = kernels::make_of<linalg::program_loops<Rule>>(Rule::name, {dependence::on_everything,
                                                                                                   linalg::is_linear<Rule>});

template <class Rule>
const kernel& linalg::kernel_of_linalg() {
  return linalg_kernel<Rule>;
}

}  // namespace agrad
