// Table entries of the multivariate rules: their recordings, in the vocabulary that records.
//
// Each argument with a condition passes through an operation that copies the argument after a check, because values may change
// from run to run. What depends on no input is checked and computed once.
#include <agrad/families/multivariate/distributions.hpp>
#include <agrad/program/machine/custom.hpp>

#include "multivariate_rows.hpp"
#include "recorded_words.hpp"

namespace agrad {

namespace {

/// Copies operand 0. integers = {argument, rows, columns, the limit of the argument's condition, the shorthand that was given}.
struct copied_argument {
  static void reverse(const operation& op, const run_context&, const double*, double* adjoints) { add<1>(op, adjoints); }
  template <int Width>
  static void tangent(const operation& op, const run_context&, const double*, double* tangents) {
    std::copy_n(tangents + std::size_t{op.operands[0].first} * Width, std::size_t{op.count} * Width,
                tangents + std::size_t{op.result} * Width);
  }
  template <int Width>
  static void second(const operation& op, const run_context&, const second_spaces& w) {
    add<1>(op, w.adjoints);
    add<Width>(op, w.adjoint_tangents);
  }

 private:
  template <std::size_t Width>
  static void add(const operation& op, double* space) {
    double* x = space + op.operands[0].first * Width;
    const double* y = space + op.result * Width;
    for (std::size_t i = 0; i < op.count * Width; ++i) x[i] += y[i];
  }
};

void check_and_copy(std::string_view function, const matrix_argument* arguments, const operation& op,
                    const run_context& context, double* values) {
  const std::uint32_t* of = context.integers + op.data;
  const double* x = values + op.operands[0].first;
  const auto rows = static_cast<std::ptrdiff_t>(of[1]), cols = static_cast<std::ptrdiff_t>(of[2]);
  const auto form = static_cast<shorthand>(of[4]);
  arguments[of[0]].must.check(function, arguments[of[0]].name, {x, rows, cols, cols, 1, form}, of[3]);
  std::copy_n(x, op.count, values + op.result);
}

/// Returns whether a matrix has as many rows as columns or one row or column, where the argument's letters say so.
bool has_form(const matrix_argument& argument, std::uint32_t rows, std::uint32_t cols) {
  return (argument.rows != argument.cols || rows == cols) && (argument.rows != '1' || rows == 1) &&
         (argument.cols != '1' || cols == 1);
}

template <class Rule>
struct checked_argument : copied_argument {
  static bool fits(const operation_view& v) {
    return v.has(1, 5) && v.integers[0] < std::uint32_t{Rule::arity} &&
           (v.integers[4] == 0 || v.integers[4] == static_cast<std::uint32_t>(Rule::arguments[v.integers[0]].may_be)) &&
           has_form(Rule::arguments[v.integers[0]], v.integers[1], v.integers[2]) &&
           v.is_product(v.op.count, v.integers[1], v.integers[2]) && v.is_dense(0, v.op.count);
  }
  static void forward(const operation& op, const run_context& context, double* values) {
    check_and_copy(Rule::name, Rule::arguments, op, context, values);
  }
};

template <class Rule>
inline constexpr kernel multivariate_kernel = kernels::make_of<checked_argument<Rule>>(Rule::name,
                                                                                       {dependence::entrywise, true});

/// Returns the slots of the matrix for which a shorthand stands; slot 0 is the constant zero.
span slots_of(recorder& in, const span& x, const detail::given_shape& shape, shorthand form) {
  if (form == shorthand::none) return x;
  const auto n = static_cast<std::size_t>(shape.rows * shape.cols);
  if (n == 0) return {x.first, 0, 1, x.active};
  std::vector<slot> slots(n, form == shorthand::number ? x.first : slot{0});
  if (form == shorthand::diagonal)
    for (std::uint32_t i = 0; i < x.count; ++i) slots[i * (x.count + std::size_t{1})] = x.first + i;
  return in.dense(slots.data(), n);
}

template <class Rule>
recorded_matrix checked(recorder& in, std::size_t k, const span& given, const detail::given_shape& shape, shorthand form,
                        const detail::bound_sizes& sizes) {
  const matrix_argument& argument = Rule::arguments[k];
  const span x = slots_of(in, given, shape, form);
  const auto rows = static_cast<std::uint32_t>(shape.rows), cols = static_cast<std::uint32_t>(shape.cols);
  const auto limit = static_cast<std::uint32_t>(sizes.of(argument.limit));
  slot first = in.apply(multivariate_kernel<Rule>, x.count, &x, 1,
                        {static_cast<std::uint32_t>(k), rows, cols, limit, static_cast<std::uint32_t>(form)});
  const span copied{first, x.count, 1, x.active};
  if (x.active && argument.must.each.whole) first = in.apply(kernels::stop_gradient, x.count, &copied, 1);
  return {in, shape.rows, shape.cols, {first, x.count, static_cast<std::uint16_t>(x.count == 1 ? 0 : 1), x.active}};
}

/// Returns the kernel of the matrix that a rule factors at each time, if there is one.
template <class Rule>
const kernel* factor_of() {
  if constexpr (std::is_same_v<Rule, gaussian_dlm_obs_lpdf_rule>)
    return &cholesky_at_time_kernel<Rule>;
  else
    return nullptr;
}

template <class Rule, std::size_t... K>
slot record(recorder& in, const span* x, const detail::given_shape* given, bool propto, std::index_sequence<K...>) {
  detail::bound_sizes sizes;
  const auto shapes = detail::matrix_shapes<sizeof...(K)>(Rule::name, Rule::arguments, {given[K]...}, sizes);
  const recorded_matrix arguments[] = {
      checked<Rule>(in, K, x[K], shapes[K], detail::shorthand_of(Rule::arguments[K], given[K]), sizes)...};
  if (sizes.of('n') == 0) return in.constant(0.0);
  typename Rule::parts included;  // the same ones for each recording: values do not depend on which derivatives are wanted
  included.propto = propto;
  included.active = {!Rule::arguments[K].must.each.whole...};
  return Rule::template log_density<recorded_words>(included, arguments[K]...).slots().first;
}

template <class Rule>
slot record(recorder& in, const span* x, const detail::given_shape* given, bool propto) {
  return record<Rule>(in, x, given, propto, std::make_index_sequence<std::size_t{Rule::arity}>{});
}

}  // namespace

const std::vector<multivariate_row>& multivariate_rows() {
  static const auto all = [] {
    std::vector<multivariate_row> rows;
    for_each(rules::multivariate{}, [&](auto tag) {
      using Rule = typename decltype(tag)::type;
      rows.push_back({Rule::name, Rule::text, Rule::source, Rule::arity, Rule::arguments, &multivariate_kernel<Rule>,
                      &record<Rule>, factor_of<Rule>()});
    });
    return rows;
  }();
  return all;
}

}  // namespace agrad
