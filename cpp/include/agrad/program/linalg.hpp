// Linear algebra kernels: every rule of rules/linalg as one operation of a program, values, tangents, adjoints, adjoints' tangents.
//
// integers = {rows, columns of each argument}. A matrix is stored row after row, and the rules' columns are contiguous, so that
// matrices are transposed on the way in and out unless the rule may have them transposed. The slots after the results keep what the
// rule has prepared, so that the sweep back factors nothing. Tangents of lanes are the rule's; those of adjoints are the gradient
// of a tangent, swept on a tape of the kernel's own: (dJ)' y_bar is the gradient of <y_bar, J dx>. All loops run on doubles that
// are `width` apart, so that they are compiled once, not for each number of lanes.
// Only the file that builds the table of rows includes this header. Read next: rules/linalg/rule.hpp; program/linalg_slots.hpp.
#pragma once

#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include <agrad/dual/matrix.hpp>
#include <agrad/program/linalg_slots.hpp>
#include <agrad/program/structure.hpp>
#include <agrad/tape/matrix/linalg.hpp>
#include <agrad/tape/scope.hpp>

namespace agrad {

namespace linalg {

/// Slots that an operation of the rule has after its results.
template <class Rule, class Shapes>
std::size_t kept_slots(const Shapes& shapes) {
  counting_room room;
  std::apply(
      [&](const auto&... s) { Rule{}.prepare(room, const_block(Eigen::Map<const MatrixXd>(nullptr, s.rows, s.cols))...); },
      shapes);
  return room.size();
}

/// What `run` throws is thrown under the name that Python knows.
template <class Rule, class Run>
void under_python_name(const Run& run) {
  if constexpr (Rule::numpy.empty()) {
    run();
  } else {
    try {
      run();
    } catch (const DomainError& e) {
      throw DomainError(renamed(e.what(), Rule::numpy));
    }
  }
}

template <class Rule>
class program_operation {
 public:
  // Not inlined, so that numbers and lanes share them: that halves the code.
  [[gnu::noinline]] static void forward(const operation& op, const std::uint32_t* integers, double* values, Index width) {
    program_operation(op, integers, width).forward(values, arguments_of{}, results_of{});
  }
  [[gnu::noinline]] static void reverse(const operation& op, const std::uint32_t* integers, const double* values,
                                        double* adjoints, Index width) {
    program_operation(op, integers, width).reverse(values, adjoints, arguments_of{}, results_of{});
  }

 private:
  static constexpr std::size_t arguments = Rule::arguments, results = Rule::results;
  using arguments_of = std::make_index_sequence<arguments>;
  using results_of = std::make_index_sequence<results>;
  /// Lanes that one pass carries; a wider scalar takes more passes, and lanes without tangents cost nothing.
  static constexpr int pass = 8;

  const operation& op_;
  Index width_;
  std::array<shape, arguments> x_shapes_;
  typename Rule::shapes y_shapes_;
  std::array<placed, arguments> x_;
  std::array<placed, results> y_;
  Index kept_;

  program_operation(const operation& op, const std::uint32_t* integers, Index width) : op_(op), width_(width) {
    for (std::size_t i = 0; i < arguments; ++i) {
      x_shapes_[i] = {static_cast<Index>(integers[2 * i]), static_cast<Index>(integers[2 * i + 1])};
      x_[i] = {op.operands[i].first * width, x_shapes_[i], width, (Rule::transposed_arguments >> i & 1U) != 0};
    }
    y_shapes_ = std::apply([](const auto&... s) { return Rule{}.results_of(s...); }, x_shapes_);
    kept_ = op.result * width;
    for (std::size_t r = 0; r < results; ++r) {
      y_[r] = {kept_, y_shapes_[r], width, (Rule::transposed_results >> r & 1U) != 0};
      kept_ += y_shapes_[r].rows * y_shapes_[r].cols * width;
    }
  }

  // ---- values and tangents -------------------------------------------------------------------------------------------

  template <std::size_t... I, std::size_t... R>
  void forward(double* values, std::index_sequence<I...>, std::index_sequence<R...>) const {
    const reading x[] = {reading(x_[I], values)...};
    filling_room room(values + kept_);
    const auto kept = Rule{}.prepare(room, x[I].get()...);
    if (all_empty(y_shapes_)) return;
    bool is_done = false;
    for (Index lane = 1; lane < width_; lane += pass) {
      const auto d = std::make_tuple(dual_argument<MatrixXd>(x[I].get(), x_[I], values, lane)...);
      if (((count(std::get<I>(d)) == 0) && ...)) {
        (y_[R].zero(values, lane, pass), ...);
        continue;
      }
      const auto y = algebra<dual_matrix<MatrixXd, pass>>::apply(Rule{}, kept, y_shapes_, std::get<I>(d)...);
      (y_[R].write(y[R].value, values, 0), ...);
      (write_tangents(y_[R], y[R], values, lane), ...);
      is_done = true;
    }
    if (is_done) return;
    writing y[] = {writing(y_[R], values)...};
    Rule{}.value(kept, x[I].get()..., block(y[R].get())...);
  }

  template <class M>
  static std::size_t count(const dual_matrix<M, pass>& d) {
    std::size_t n = 0;
    for (const auto& t : d.tangent) n += t ? 1 : 0;
    return n;
  }

  /// The tangents of lanes lane, ..., lane + pass - 1 that are not zero.
  template <class M, class Value>
  dual_matrix<M, pass> dual_argument(const Value& value, const placed& x, const double* values, Index lane) const {
    dual_matrix<M, pass> d{M(value)};
    for (Index k = 0; k < pass && lane + k < width_; ++k)
      if (!x.is_zero(values, lane + k)) d.tangent[static_cast<std::size_t>(k)].emplace(x.read(values, lane + k));
    return d;
  }

  void write_tangents(const placed& y, const dual_matrix<MatrixXd, pass>& d, double* values, Index lane) const {
    for (Index k = 0; k < pass && lane + k < width_; ++k) {
      const auto& t = d.tangent[static_cast<std::size_t>(k)];
      t ? y.write(*t, values, lane + k) : y.zero(values, lane + k, 1);
    }
  }

  // ---- adjoints and their tangents -----------------------------------------------------------------------------------

  template <std::size_t... I, std::size_t... R>
  void reverse(const double* values, double* adjoints, std::index_sequence<I...> i, std::index_sequence<R...> r) const {
    bool is_used = false;
    for (Index lane = 0; lane < width_ && !is_used; ++lane) is_used = (!y_[R].is_zero(adjoints, lane) || ...);
    if (!is_used) return;  // an infinite derivative of what nobody used must not become nan
    const reading x[] = {reading(x_[I], values)...}, y[] = {reading(y_[R], values)...};
    filled_room room(values + kept_);
    const auto kept = Rule{}.prepare(room, x[I].get()...);
    pull_back(kept, x, y, adjoints, 0, i, r);
    const bool has_value = (!y_[R].is_zero(adjoints, 0) || ...);
    for (Index lane = 1; lane < width_; lane += pass) {
      bool curved[pass] = {};
      for (Index k = 0; k < pass && lane + k < width_; ++k) {
        curved[k] = has_value && (!x_[I].is_zero(values, lane + k) || ...);
        if (!curved[k]) pull_back(kept, x, y, adjoints, lane + k, i, r);
      }
      sweep(kept, x, values, adjoints, lane, curved, i, r);
    }
  }

  /// The transposed Jacobian times what has arrived in one lane, by the rule's own formula.
  template <class Kept, std::size_t... I, std::size_t... R>
  void pull_back(const Kept& kept, const reading* x, const reading* y, double* adjoints, Index lane, std::index_sequence<I...>,
                 std::index_sequence<R...>) const {
    if ((y_[R].is_zero(adjoints, lane) && ...)) return;
    const arriving y_bar[] = {arriving(y_[R], adjoints, lane)...};
    adding x_bar[] = {adding(x_[I], adjoints, lane, op_.operands[I].active)...};
    Rule{}.adjoint(kept, x[I].get()..., y[R].get()..., y_bar[R].get()..., x_bar[I].get()...);
  }

  /// The tangents of the adjoints in the lanes that are curved: (dJ)' y_bar + J' dy_bar, the gradient of <y_bar, J dx> + <dy_bar, y>.
  template <class Kept, std::size_t... I, std::size_t... R>
  void sweep(const Kept& kept, const reading* x, const double* values, double* adjoints, Index lane, const bool (&curved)[pass],
             std::index_sequence<I...>, std::index_sequence<R...>) const {
    bool any = false;
    for (const bool c : curved) any = any || c;
    if (!any) return;
    tape& own = second_order_tape();
    const active_tape active(own);
    const scope inner(own);
    const auto d = std::make_tuple(dual_argument<matrix<var>>(x[I].get(), x_[I], values, lane)...);
    const auto y = algebra<dual_matrix<matrix<var>, pass>>::apply(Rule{}, kept, y_shapes_, std::get<I>(d)...);
    for (std::size_t k = 0; k < pass; ++k) {
      if (!curved[k]) continue;
      own.clear_adjoints();
      (seed(own, y[R], y_[R], adjoints, k, lane), ...);
      own.sweep();
      ((op_.operands[I].active ? x_[I].add(adjoint_of(own, std::get<I>(d).value), adjoints, lane + static_cast<Index>(k))
                               : void()),
       ...);
    }
  }

  void seed(tape& own, const dual_matrix<matrix<var>, pass>& y, const placed& place, const double* adjoints, std::size_t k,
            Index lane) const {
    if (y.value.size() == 0) return;
    adjoint_of(own, y.value) += place.read(adjoints, lane + static_cast<Index>(k));
    if (y.tangent[k]) adjoint_of(own, *y.tangent[k]) += place.read(adjoints, 0);
  }
};

/// The kernel's loops, in the form that program/operation.hpp asks for.
template <class Rule>
struct program_loops {
  template <class S>
  struct loops {
    static constexpr Index width = sizeof(S) / sizeof(double);
    static_assert(std::is_standard_layout_v<S>, "a scalar of programs is a number with its tangents behind it");

    static void forward(const operation& op, const run_context& context, S* values) {
      under_python_name<Rule>(
          [&] { program_operation<Rule>::forward(op, context.integers + op.data, reinterpret_cast<double*>(values), width); });
    }
    static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
      under_python_name<Rule>([&] {
        program_operation<Rule>::reverse(op, context.integers + op.data, reinterpret_cast<const double*>(values),
                                         reinterpret_cast<double*>(adjoints), width);
      });
    }
  };
};

}  // namespace linalg

template <class Rule>
inline constexpr kernel linalg_kernel = kernels::make<linalg::program_loops<Rule>::template loops>(Rule::name);

}  // namespace agrad
