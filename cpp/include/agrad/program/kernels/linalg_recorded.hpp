// Linear algebra recorded: the words of rules/linalg/algebra.hpp as operations of a recording, so that tangents of rules have
// derivatives of any order.
//
// A traced matrix has consecutive slots in the order of rows. Words that move entries are gathers; other rules are operations
// of their own kernel. Read first: program/kernels/linalg_slots.hpp; program/kernels/linalg_formulas.hpp uses this file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <agrad/program/kernels/linalg_slots.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/recording/tracing.hpp>
#include <agrad/rules/linalg/algebra.hpp>
#include <agrad/rules/linalg/structure.hpp>
#include <agrad/rules/spectra/spectrum.hpp>

namespace agrad::linalg {

/// Returns the kernel of a rule, and the number of slots after the results of its operation (program/kernels/linalg.hpp).
template <class Rule>
const kernel& kernel_of_linalg();
template <class Rule, class Shapes>
std::size_t prepared_slots(const Shapes& shapes);

class traced_matrix {
 public:
  traced_matrix(recorder& in, const shape& s, slot first) : in_(&in), shape_(s), first_(first) {}

  Index rows() const { return shape_.rows; }
  Index cols() const { return shape_.cols; }
  std::size_t size() const { return static_cast<std::size_t>(rows() * cols()); }
  recorder& in() const { return *in_; }
  slot at(Index i, Index j) const { return first_ + static_cast<slot>(i * cols() + j); }
  span slots() const { return in_->consecutive(first_, size()); }
  traced entries() const { return agrad::detail::number_of(*in_, slots()); }
  Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> values() const {
    return {in_->values().data() + first_, rows(), cols()};
  }

  /// Returns the matrix with the slots place(i, j).
  template <class Place>
  static traced_matrix gathered(recorder& in, const shape& s, const Place& place) {
    std::vector<slot> slots;
    for (Index i = 0; i < s.rows; ++i)
      for (Index j = 0; j < s.cols; ++j) slots.push_back(place(i, j));
    return {in, s, in.dense(slots.data(), slots.size()).first};
  }
  static traced_matrix of_entries(recorder& in, const shape& s, const traced& entries) {
    const span x = entries.slots_in(in);
    return gathered(in, s, [&](Index i, Index j) { return x.first + (x.stride == 0 ? 0 : static_cast<slot>(i * s.cols + j)); });
  }
  static traced_matrix constant(recorder& in, const const_block& m) {
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = m;
    return {in, {m.rows(), m.cols()}, in.constant(rows.data(), static_cast<std::size_t>(rows.size()))};
  }
  traced_matrix transposed() const {
    return gathered(*in_, {cols(), rows()}, [&](Index i, Index j) { return at(j, i); });
  }

 private:
  recorder* in_;
  shape shape_;
  slot first_;
};

[[noreturn]] AGRAD_COLD inline void fail_close_in_recording(Index i, Index j, double gap) {
  throw LinAlgError(agrad::detail::sentence(
      "recorded", "a", -1, "degenerate or nearly so", "with values further apart for derivatives of third and higher order",
      "values " + std::to_string(i) + " and " + std::to_string(j) + " differ by " + agrad::detail::to_text(gap)));
}

/// Throws unless values, one in each row, are apart: the derivatives of a single value are then one of many, or lose digits.
inline void check_apart(const MatrixXd& values) {
  double largest = 0;
  const auto each = [&](const auto& use) {
    for (Index j = 0; j < values.rows(); ++j)
      for (Index i = 0; i < j; ++i) use(i, j, (values.row(i) - values.row(j)).norm());
  };
  each([&](Index, Index, double gap) { largest = std::max(largest, gap); });
  each([&](Index i, Index j, double gap) {
    if (AGRAD_UNLIKELY(gap <= close_values * largest)) fail_close_in_recording(i, j, gap);
  });
}

template <>
struct algebra<traced_matrix> {
  static constexpr int rank = 1;
  using room_type = heap_room;
  using scalar = traced;
  using M = traced_matrix;

  static auto primal(const M& a) { return a.values(); }

  template <class Rule, class Prepared, class... A>
  static std::array<M, Rule::results> apply(const Rule& rule, const Prepared&, const typename Rule::shapes& shapes,
                                            const A&... a) {
    recorder& in = recorder_of(a...);
    return word(rule, shapes, recorded(in, a)...);
  }

 private:
  template <class A, class... Rest>
  static recorder& recorder_of(const A& a, const Rest&... rest) {
    if constexpr (std::is_same_v<A, M>)
      return a.in();
    else
      return recorder_of(rest...);
  }
  static const M& recorded(recorder&, const M& a) { return a; }
  template <class A>
  static M recorded(recorder& in, const A& a) {
    return M::constant(in, a);
  }
  template <std::size_t N>
  static std::array<M, 1> of_entries(const std::array<shape, N>& shapes, const M& a, const traced& entries) {
    return {M::of_entries(a.in(), shapes[0], entries)};
  }
  using one_shape = std::array<shape, 1>;

  // ---- arithmetic

  template <bool TransposeA, bool TransposeB>
  static std::array<M, 1> word(const product_rule<TransposeA, TransposeB>&, const one_shape& s, const M& a, const M& b) {
    const M left = TransposeA ? a.transposed() : a, right = TransposeB ? b.transposed() : b;
    const span factors[] = {left.slots(), right.slots()};
    const auto size = [](Index n) { return static_cast<std::uint32_t>(n); };
    return {M(a.in(), s[0],
              a.in().apply(kernels::product, static_cast<std::size_t>(s[0].rows * s[0].cols), factors, 2,
                           {size(left.rows()), size(left.cols()), size(right.cols())}))};
  }
  static std::array<M, 1> word(const sum_rule& rule, const one_shape& s, const M& a, const M& b) {
    const traced x = a.entries(), y = b.entries();
    return of_entries(s, a, rule.factor == 1 ? x + y : rule.factor == -1 ? x - y : x + rule.factor * y);
  }
  static std::array<M, 1> word(const scaled_rule& rule, const one_shape& s, const M& a) {
    return rule.factor == 1 ? std::array<M, 1>{a} : of_entries(s, a, rule.factor * a.entries());
  }
  static std::array<M, 1> word(const entrywise_rule&, const one_shape& s, const M& a, const M& b) {
    return of_entries(s, a, a.entries() * b.entries());
  }
  static std::array<M, 1> word(const dot_rule&, const one_shape& s, const M& a, const M& b) {
    const span products = M::of_entries(a.in(), {a.rows(), a.cols()}, a.entries() * b.entries()).slots();
    return {M(a.in(), s[0], a.in().apply(kernels::sum, 1, &products, 1, {static_cast<std::uint32_t>(a.size())}))};
  }

  /// 1 / x, and 0 on the diagonal of gaps. Derivatives of high order lose their digits where values are close.
  static std::array<M, 1> word(const reciprocal_rule& rule, const one_shape& s, const M& a) {
    const MatrixXd x = a.values();
    MatrixXd is_zero = (x.array().abs() <= rule.zero).cast<double>();
    const double least = x.size() == 0 ? 0 : rule.closest * x.cwiseAbs().maxCoeff();
    for (Index j = 0; j < x.cols(); ++j)
      for (Index i = 0; i < x.rows(); ++i)
        if (AGRAD_UNLIKELY((i != j || x.rows() != x.cols()) && (is_zero(i, j) != 0 || std::abs(x(i, j)) < least)))
          fail_close_in_recording(i, j, x(i, j));
    const traced mask = M::constant(a.in(), is_zero).entries();
    return of_entries(s, a, (1.0 - mask) / (a.entries() + mask));
  }

  // ---- words that move entries

  static std::array<M, 1> word(const transpose_rule&, const one_shape&, const M& a) { return {a.transposed()}; }
  static std::array<M, 1> word(const symmetric_part_rule& rule, const one_shape& s, const M& a) {
    return of_entries(s, a, 0.5 * (a.entries() + rule.sign * a.transposed().entries()));
  }
  template <int Triangle>
  static std::array<M, 1> word(const triangle_rule<Triangle>& rule, const one_shape& s, const M& a) {
    const M part = moved(triangle_rule<Triangle>(1), s, a)[0];
    if (rule.diagonal == 1) return {part};
    MatrixXd factors(MatrixXd::Ones(a.rows(), a.cols()));
    factors.diagonal().setConstant(rule.diagonal);
    return of_entries(s, a, M::constant(a.in(), factors).entries() * part.entries());
  }
  static std::array<M, 1> word(const diagonal_rule& rule, const one_shape& s, const M& a) { return moved(rule, s, a); }
  static std::array<M, 1> word(const diagonal_matrix_rule& rule, const one_shape& s, const M& a) { return moved(rule, s, a); }
  static std::array<M, 1> word(const columns_rule& rule, const one_shape& s, const M& a) { return moved(rule, s, a); }
  static std::array<M, 1> word(const beside_rule& rule, const one_shape& s, const M& a, const M& b) {
    return moved(rule, s, a, b);
  }
  /// Applies a rule that moves entries to the numbers of slots; slot 0 is zero.
  template <class Rule, class... A>
  static std::array<M, 1> moved(const Rule& rule, const one_shape& s, const A&... a) {
    MatrixXd places(s[0].rows, s[0].cols);
    rule.value(nothing{}, const_block(numbers_of(a))..., block(places));
    return {M::gathered(recorder_of(a...), s[0], [&](Index i, Index j) { return static_cast<slot>(places(i, j)); })};
  }
  static MatrixXd numbers_of(const M& a) {
    return MatrixXd::NullaryExpr(a.rows(), a.cols(), [&](Index i, Index j) { return static_cast<double>(a.at(i, j)); });
  }

  // ---- other rules

  template <class Rule, class... A>
  static std::array<M, Rule::results> word(const Rule&, const typename Rule::shapes& shapes, const A&... a) {
    recorder& in = recorder_of(a...);
    std::array<span, sizeof...(A)> operands;
    std::size_t k = 0;
    ((operands[k] = ((Rule::transposed_arguments >> k & 1U) != 0 ? a.transposed() : a).slots(), ++k), ...);
    std::size_t count = prepared_slots<Rule>(std::array<shape, sizeof...(A)>{shape{a.rows(), a.cols()}...});
    for (const shape& s : shapes) count += static_cast<std::size_t>(s.rows * s.cols);
    std::array<std::uint32_t, 2 * sizeof...(A)> sizes;
    std::size_t n = 0;
    ((sizes[n++] = static_cast<std::uint32_t>(a.rows()), sizes[n++] = static_cast<std::uint32_t>(a.cols())), ...);
    const slot next =
        apply_kernel(in, kernel_of_linalg<Rule>(), count, operands, sizes, std::make_index_sequence<2 * sizeof...(A)>{});
    return results_of<Rule>(in, shapes, next, std::make_index_sequence<Rule::results>{});
  }
  template <std::size_t N, std::size_t... I>
  static slot apply_kernel(recorder& in, const kernel& what, std::size_t count, const std::array<span, N>& x,
                           const std::array<std::uint32_t, 2 * N>& sizes, std::index_sequence<I...>) {
    return in.apply(what, count, x.data(), N, {sizes[I]...});
  }

 public:
  /// Returns the results of an operation of a rule, whose slots begin with `next`.
  template <class Rule, std::size_t... R>
  static std::array<M, Rule::results> results_of(recorder& in, const typename Rule::shapes& shapes, slot next,
                                                 std::index_sequence<R...>) {
    const auto place = [&](std::size_t r) {
      const slot first = std::exchange(next, next + static_cast<slot>(shapes[r].rows * shapes[r].cols));
      return seen(in, shapes[r], first, (Rule::transposed_results >> r & 1U) != 0);
    };
    return {place(R)...};
  }
  /// Returns the matrix that a rule sees in slots, which may be in the order of columns.
  static M seen(recorder& in, const shape& s, slot first, bool by_columns) {
    if (!by_columns) return {in, s, first};
    return M::gathered(in, s, [&](Index i, Index j) { return first + static_cast<slot>(i + j * s.rows); });
  }
};

}  // namespace agrad::linalg
