// Recorded words: the vocabulary of whole matrices (families/multivariate/words.hpp) that records operations.
//
// A recorded matrix is a span of slots in the order of rows, or one slot. Functions of entries are called once with traced
// numbers that stand for all entries; sums, products and linear algebra are one operation each.
#pragma once

#include <Eigen/Core>
#include <agrad/families/multivariate/words.hpp>
#include <agrad/program/kernels/log_shares.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/recording/tracing.hpp>
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "linalg_rows.hpp"

namespace agrad {

class recorded_matrix {
 public:
  using Index = Eigen::Index;

  recorded_matrix(recorder& in, Index rows, Index cols, const span& slots) : in_(&in), rows_(rows), cols_(cols), x_(slots) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  recorder* in() const { return in_; }
  /// Returns the slots in the order of rows; for a single number one slot with stride 0.
  const span& slots() const { return x_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(rows_ * cols_); }
  slot at(Index i, Index j) const { return x_.first + static_cast<slot>((rows_ == 1 ? 0 : i) * cols_ + (cols_ == 1 ? 0 : j)); }
  /// Returns the slots as an operand of an operation that does not take one slot for all entries.
  span dense() const {
    span s = x_;
    s.stride = 1;
    return s;
  }

 private:
  recorder* in_;
  Index rows_, cols_;
  span x_;
};

/// Returns the row of an operation of linear algebra.
inline const linalg_row& linalg_row_of(std::string_view name, unsigned options) {
  const auto& table = linalg_rows();
  return *std::find_if(table.begin(), table.end(),
                       [&](const linalg_row& each) { return each.name == name && each.options == options; });
}

/// The Cholesky factor of the matrix that a multivariate rule has at a time, which messages name. integers = {rows, columns,
/// time}; the first two and the loops are those of the factorisation.
template <class Rule>
struct cholesky_at_time {
  static bool fits(const operation_view& v) {
    if (v.op.data_count != 3) return false;
    operation plain = v.op;
    plain.data_count = 2;
    return base().fits({plain, v.integers, v.instructions, v.externals, v.fixed, v.slots});
  }
  static void forward(const operation& op, const run_context& context, double* values) {
    try {
      base().forward(op, context, values);
    } catch (const LinAlgError& error) {
      linalg::fail_factor(Rule::name, Rule::factored(context.integers[op.data + 2]), error);
    }
  }
  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    base().reverse(op, context, values, adjoints);
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double* values, double* tangents) {
    base().tangent.template at<Width>()(op, context, values, tangents);
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    base().second.template at<Width>()(op, context, w);
  }
  static std::vector<slot> recorded_tangent(recorder& in, const std::uint32_t* integers, const span* operands, const span& y,
                                            const span* tangents) {
    return base().formulas->tangent(in, integers, operands, y, tangents);
  }
  static constexpr recorded_formulas formulas{nullptr, recorded_tangent};

 private:
  static const kernel& base() {
    static const kernel& found = *linalg_row_of("cholesky", 0).loops;
    return found;
  }
};
template <class Rule>
inline constexpr kernel cholesky_at_time_kernel = kernels::make_of<cholesky_at_time<Rule>>("cholesky_at_time");

struct recorded_words {
  using Index = Eigen::Index;

  template <class F, class... A>
  static recorded_matrix each(const F& f, const A&... a) {
    recorder& in = recorder_of(a...);
    const Index rows = common({a.rows()...}), cols = common({a.cols()...});
    return from_traced(in, rows, cols, traced(f(entries(in, a, rows, cols)...)));
  }
  static recorded_matrix sum(const recorded_matrix& a) { return sums(a, 1); }
  static recorded_matrix row_sums(const recorded_matrix& a) { return sums(a, a.rows()); }
  static recorded_matrix counts_of(const recorded_matrix& y, const recorded_matrix& odds) {
    if (!y.slots().active) {
      Eigen::MatrixXd outcomes(y.rows(), 1);
      for (Index i = 0; i < y.rows(); ++i) outcomes(i, 0) = y.in()->value(y.at(i, 0));
      return recorded(*y.in(), eigen_words::counts_of(outcomes, odds));
    }
    Eigen::MatrixXd places(1, odds.cols());
    for (Index j = 0; j < odds.cols(); ++j) places(0, j) = static_cast<double>(j);
    return each([](const auto& at, const auto& place) { return either(traced(at == place), traced(1.0), traced(0.0)); }, y,
                places);
  }
  static recorded_matrix log_shares(const recorded_matrix& counts, const recorded_matrix& odds) {
    const Index rows = odds.rows();
    const recorded_matrix each_row = rows == counts.rows() ? counts
                                     : rows == 1           ? transposed(row_sums(transposed(counts)))
                                                           : repeated(counts, rows);
    const auto length = static_cast<std::uint32_t>(odds.cols());
    return sum(apply(kernels::log_shares_along, rows, 1, {odds, each_row}, {length, 1U}));
  }
  template <class A, class B>
  static recorded_matrix product(const A& a, const B& b) {
    recorder& in = recorder_of(a, b);
    const recorded_matrix x = recorded(in, a), y = recorded(in, b);
    return apply(
        kernels::product, x.rows(), y.cols(), {x, y},
        {static_cast<std::uint32_t>(x.rows()), static_cast<std::uint32_t>(x.cols()), static_cast<std::uint32_t>(y.cols())});
  }
  static recorded_matrix transposed(const recorded_matrix& a) {
    if (a.rows() == 1 || a.cols() == 1) return {*a.in(), a.cols(), a.rows(), a.slots()};
    return gathered(a, a.cols(), a.rows(), [&](Index i, Index j) { return a.at(j, i); });
  }
  static recorded_matrix diagonal(const recorded_matrix& a) {
    return gathered(a, std::min(a.rows(), a.cols()), 1, [&](Index i, Index) { return a.at(i, i); });
  }
  static recorded_matrix row(const recorded_matrix& a, Index i) {
    return gathered(a, 1, a.cols(), [&](Index, Index j) { return a.at(i, j); });
  }
  static recorded_matrix cholesky(const recorded_matrix& a) { return linear("cholesky", 0, a.rows(), a.cols(), {a}); }
  template <class Rule>
  static recorded_matrix cholesky_at(const recorded_matrix& a, Index t) {
    const auto size = static_cast<std::uint32_t>(a.rows());
    linalg::shape given[most_matrices] = {{a.rows(), a.cols()}}, results[most_matrices];
    const std::size_t further = linalg_row_of("cholesky", 0).layout(given, results);
    return apply(cholesky_at_time_kernel<Rule>, a.rows(), a.cols(), {a}, {size, size, static_cast<std::uint32_t>(t)}, further);
  }
  template <class B>
  static recorded_matrix solve_lower(const recorded_matrix& l, const B& b) {
    // The rule reads a matrix in the order of rows as the transposed matrix.
    return linear("solve_triangular", transposed_solve, b.rows(), b.cols(), {l, recorded(*l.in(), b)});
  }
  template <class A>
  static recorded_matrix pick(const A& a, const recorded_matrix& k) {
    recorder& in = *k.in();
    const recorded_matrix x = recorded(in, a);
    if (!k.slots().active) {
      const auto place = [&](Index i, Index) { return x.at(i, static_cast<Index>(in.value(k.at(i, 0)))); };
      return gathered(x, std::max(x.rows(), k.rows()), 1, place);
    }
    Eigen::MatrixXd places(1, x.cols());
    for (Index j = 0; j < x.cols(); ++j) places(0, j) = static_cast<double>(j);
    const auto chosen = [](const auto& entry, const auto& at, const auto& place) {
      return either(traced(at == place), traced(entry), traced(0.0));
    };
    return row_sums(each(chosen, x, k, places));
  }
  template <class F, class Like>
  static recorded_matrix part(bool included, const F& compute, const Like& like) {
    if (included) return compute();
    return recorded(*like.in(), Eigen::MatrixXd(Eigen::MatrixXd::Zero(1, 1)));
  }
  template <class... Others>
  static recorded_matrix alike(const recorded_matrix& a, const Others&...) {
    return a;
  }

 private:
  static constexpr unsigned transposed_solve = 2;

  template <class A, class... Rest>
  static recorder& recorder_of(const A& a, const Rest&... rest) {
    if constexpr (std::is_same_v<A, recorded_matrix>)
      return *a.in();
    else
      return recorder_of(rest...);
  }
  static Index common(std::initializer_list<Index> sizes) {
    Index size = 1;
    for (const Index each : sizes)
      if (each != 1) size = each;
    return size;
  }
  static const recorded_matrix& recorded(recorder&, const recorded_matrix& a) { return a; }
  static recorded_matrix recorded(recorder& in, const Eigen::MatrixXd& a) {
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = a;
    const slot first = in.constant(rows.data(), static_cast<std::size_t>(rows.size()));
    return of_slots(in, a.rows(), a.cols(), first);
  }
  static recorded_matrix of_slots(recorder& in, Index rows, Index cols, slot first) {
    const auto n = static_cast<std::uint32_t>(rows * cols);
    return {in, rows, cols, {first, n, static_cast<std::uint16_t>(n == 1 ? 0 : 1), n > 0 && in.is_active(first)}};
  }
  /// Returns the entries as a traced number: one slot for all, or one slot for each entry of the result.
  template <class A>
  static traced entries(recorder& in, const A& given, Index rows, Index cols) {
    if constexpr (!std::is_same_v<A, recorded_matrix>)
      if (given.size() == 1) return traced(given(0, 0));
    const recorded_matrix a = recorded(in, given);
    if (a.size() == 1 || (a.rows() == rows && a.cols() == cols)) return {in, a.slots()};
    return {in, gathered(a, rows, cols, [&](Index i, Index j) { return a.at(i, j); }).slots()};
  }
  static recorded_matrix from_traced(recorder& in, Index rows, Index cols, const traced& t) {
    const span s = t.slots_in(in);
    const auto n = static_cast<std::uint32_t>(rows * cols);
    if (s.count == n) return {in, rows, cols, {s.first, n, static_cast<std::uint16_t>(n == 1 ? 0 : 1), s.active}};
    const std::vector<slot> copies(n, s.first);
    return of_slots(in, rows, cols, in.copied(copies.data(), n));
  }
  template <class Place>
  static recorded_matrix gathered(const recorded_matrix& a, Index rows, Index cols, const Place& place) {
    std::vector<slot> from;
    from.reserve(static_cast<std::size_t>(rows * cols));
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) from.push_back(place(i, j));
    return with_activity(of_slots(*a.in(), rows, cols, a.in()->copied(from.data(), from.size())), a.slots().active);
  }
  /// Returns one row for all rows.
  static recorded_matrix repeated(const recorded_matrix& row, Index rows) {
    return gathered(row, rows, row.cols(), [&](Index, Index j) { return row.at(0, j); });
  }
  static recorded_matrix with_activity(const recorded_matrix& a, bool active) {
    span s = a.slots();
    s.active = active;
    return {*a.in(), a.rows(), a.cols(), s};
  }
  static recorded_matrix sums(const recorded_matrix& a, Index groups) {
    return apply(kernels::sum, groups, 1, {a}, {static_cast<std::uint32_t>(groups == 0 ? 0 : a.size() / groups)});
  }
  static recorded_matrix apply(const kernel& what, Index rows, Index cols, std::initializer_list<recorded_matrix> x,
                               std::initializer_list<std::uint32_t> integers, std::size_t further_slots = 0) {
    recorder& in = *x.begin()->in();
    span operands[operation::most_operands];
    std::transform(x.begin(), x.end(), operands, [](const recorded_matrix& each) { return each.dense(); });
    const auto count = static_cast<std::size_t>(rows * cols) + further_slots;
    return of_slots(in, rows, cols, in.apply(what, count, operands, x.size(), integers));
  }
  static recorded_matrix linear(std::string_view name, unsigned options, Index rows, Index cols,
                                std::initializer_list<recorded_matrix> x) {
    const linalg_row& row = linalg_row_of(name, options);
    linalg::shape given[most_matrices], results[most_matrices];
    std::transform(x.begin(), x.end(), given, [](const recorded_matrix& each) {
      return linalg::shape{each.rows(), each.cols()};
    });
    const std::size_t further = row.layout(given, results);
    const auto size = [](Index n) { return static_cast<std::uint32_t>(n); };
    if (x.size() == 1) return apply(*row.loops, rows, cols, x, {size(given[0].rows), size(given[0].cols)}, further);
    return apply(*row.loops, rows, cols, x,
                 {size(given[0].rows), size(given[0].cols), size(given[1].rows), size(given[1].cols)}, further);
  }
};

}  // namespace agrad
