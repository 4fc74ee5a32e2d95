// Generalised linear models as one operation of a program: the log likelihood of all rows, for any number of rows.
//
// integers = {rows, columns}; operands = {y, x, alpha, beta}; x is row-major, y and alpha may be one number for all rows. The
// slots behind the value store the derivatives with respect to beta and to each row's predictor; the forward pass fills these
// slots if `with_adjoint` is set. So value and gradient read x once; second derivatives read x once more for all directions.
// Outcomes have no derivatives. Only the file that builds the table of rules includes this header.
#pragma once

#include <vector>

#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/product_loops.hpp>
#include <agrad/program/recording/tracing.hpp>
#include <agrad/rules/density/bernoulli_logit_glm.hpp>

namespace agrad {

namespace detail {

/// An operation with the rule bernoulli_logit_glm, for one run.
class bernoulli_logit_glm_operation {
 public:
  using Index = Eigen::Index;
  using rows = product_loops::rows;
  template <class S>
  using matrix_of = Eigen::Map<std::conditional_t<std::is_const_v<S>, const rows, rows>>;
  template <class S>
  using vector_of_slots = Eigen::Map<std::conditional_t<std::is_const_v<S>, const Eigen::VectorXd, Eigen::VectorXd>>;

  bernoulli_logit_glm_operation(const operation& op, const run_context& context)
      : op_(op), n_(context.integers[op.data]), p_(context.integers[op.data + 1]) {}

  static bool fits(const operation_view& v) {
    if (!v.has(4, 2)) return false;
    const std::uint32_t n = v.integers[0], p = v.integers[1];
    const std::uint64_t entries = v.op.operands[x].count;
    return v.is_product(entries, n, p) && v.op.count == size(n, p) && v.is_entrywise(y, n) && v.is_dense(x, entries) &&
           v.is_entrywise(alpha, n) && v.is_dense(coefficients, p);
  }

  /// Returns the number of slots of the operation's result.
  static std::size_t size(std::size_t n, std::size_t p) { return 1 + p + n; }

  /// Records the predictors, the terms and their sum; the outcomes are data.
  static std::vector<slot> record(recorder& in, const operation&, const std::uint32_t* integers, const span* operands) {
    const std::uint32_t n = integers[0], p = integers[1];
    std::vector<slot> result(1, 0);
    if (n == 0) return result;
    std::vector<double> signs(n);
    for (std::uint32_t i = 0; i < n; ++i) signs[i] = 2 * in.value(slot_at(operands[y], i)) - 1;
    const span sign = in.consecutive(in.constant(signs.data(), n), n);
    const span factors[] = {operands[x], operands[coefficients]};
    const slot product = in.apply(kernels::product, n, factors, 2, {n, p, 1U});
    const traced predictor = number_of(in, in.consecutive(product, n)) + number_of(in, operands[alpha]);
    const span terms = in.consecutive(log_inv_logit(number_of(in, sign) * predictor).slots_in(in).first, n);
    result[0] = in.apply(kernels::sum, 1, &terms, 1, {n});
    return result;
  }

  void forward(double* values, bool with_adjoint) const {
    const auto model = checked(values);
    auto gradient = partials(values);
    auto slopes = slopes_of(values);
    if (with_adjoint) gradient.setZero();
    values[op_.result] = each_block(model, values, [&](Index first, const auto& part, const bernoulli_logit_block& block) {
      if (!with_adjoint) return;
      gradient.noalias() += part.transpose() * block.slope.matrix();
      slopes.segment(first, block.slope.size()) = block.slope;
    });
  }

  void reverse(const double* values, double* adjoints) const {
    const double adjoint = adjoints[op_.result];
    if (adjoint == 0) return;  // an infinite entry of an unused density must not become nan
    propagate<1>(values, &adjoint, adjoints);
  }

  template <int Width>
  void tangent(const double* values, double* tangents) const {
    double* to = tangents + op_.result * std::size_t{Width};
    std::fill_n(to, op_.count * std::size_t{Width}, 0.0);
    Eigen::Map<Eigen::Matrix<double, 1, Width>> sum(to);
    const auto slopes = slopes_of(values);
    if (op_.operands[coefficients].active) sum += partials(values).transpose() * matrix(tangents, coefficients, p_, Width);
    if (op_.operands[alpha].active) {
      const auto along = matrix(tangents, alpha, alpha_size(), Width);
      if (is_one(alpha))
        sum += slopes.sum() * along.row(0);
      else
        sum += slopes.transpose() * along;
    }
    if (!op_.operands[x].active) return;
    for (Index i = 0; i < n_; ++i)
      sum += slopes[i] * (vector(values, coefficients).transpose() * matrix(tangents, x, p_, Width, i * p_));
  }

  template <int Width>
  void second(const second_spaces& w) const {
    const double adjoint = w.adjoints[op_.result];
    propagate<Width>(w.values, w.adjoint_tangents + op_.result * std::size_t{Width}, w.adjoint_tangents);
    if (adjoint == 0) return;
    propagate<1>(w.values, &adjoint, w.adjoints);
    rows curved, bend = rows::Zero(p_, Width);
    each_block(model(w.values), w.values, [&](Index first, const auto& part, const bernoulli_logit_block& block) {
      const Index m = block.slope.size();
      curved.setZero(m, Width);
      add_predictor_tangents<Width>(w, first, part, curved);
      curved.array().colwise() *= -adjoint * block.curvature();
      product_loops::add_product(bend, part.transpose(), curved);
      if (op_.operands[alpha].active) add_to_alpha<Width>(w.adjoint_tangents, first, curved);
      if (op_.operands[x].active) bend_x<Width>(w, first, adjoint * block.slope.matrix(), curved, bend);
    });
    if (op_.operands[coefficients].active) matrix(w.adjoint_tangents, coefficients, p_, Width) += bend;
  }

 private:
  enum operand : std::size_t { y, x, alpha, coefficients };
  const operation& op_;
  Index n_, p_;

  bool is_one(operand k) const { return op_.operands[k].stride == 0; }
  Index alpha_size() const { return is_one(alpha) ? 1 : n_; }

  /// Returns the slots of an operand as a matrix with one row per slot, in an array of `width` numbers per slot.
  template <class S>
  matrix_of<S> matrix(S* space, operand k, Index slots, Index width, Index from = 0) const {
    return {space + (op_.operands[k].first + from) * width, slots, width};
  }
  vector_of_slots<const double> vector(const double* values, operand k) const { return {values + op_.operands[k].first, p_}; }
  template <class S>
  vector_of_slots<S> partials(S* values) const {
    return {values + op_.result + 1, p_};
  }
  template <class S>
  vector_of_slots<S> slopes_of(S* values) const {
    return {values + op_.result + 1 + p_, n_};
  }
  density_input<double> input(const double* values, operand k) const {
    return {values + op_.operands[k].first, op_.operands[k].stride, op_.operands[k].active};
  }
  bernoulli_logit_glm<double> model(const double* values) const { return {input(values, y), n_, p_}; }
  bernoulli_logit_glm<double> checked(const double* values) const {
    const auto m = model(values);
    m.check_outcomes();
    m.check_parameters(input(values, alpha), input(values, coefficients));
    return m;
  }
  template <class Use>
  double each_block(const bernoulli_logit_glm<double>& m, const double* values, const Use& use) const {
    return m.each_block(matrix_of<const double>(values + op_.operands[x].first, n_, p_), input(values, alpha),
                        input(values, coefficients), use);
  }

  /// Adds the derivatives times `Width` adjoints of the value.
  template <int Width>
  void propagate(const double* values, const double* adjoints, double* to) const {
    const Eigen::Map<const Eigen::Matrix<double, 1, Width>> adjoint(adjoints);
    if ((adjoint.array() == 0).all()) return;
    const auto slopes = slopes_of(values);
    if (op_.operands[coefficients].active) matrix(to, coefficients, p_, Width) += partials(values) * adjoint;
    if (op_.operands[alpha].active) {
      if (is_one(alpha))
        matrix(to, alpha, 1, Width) += slopes.sum() * adjoint;
      else
        matrix(to, alpha, n_, Width) += slopes * adjoint;
    }
    if (!op_.operands[x].active) return;
    for (Index i = 0; i < n_; ++i) matrix(to, x, p_, Width, i * p_) += vector(values, coefficients) * (slopes[i] * adjoint);
  }

  /// Adds the tangents of the predictors of the rows from `first` on.
  template <int Width, class Part>
  void add_predictor_tangents(const second_spaces& w, Index first, const Part& part, rows& to) const {
    if (op_.operands[coefficients].active) product_loops::add_product(to, part, matrix(w.tangents, coefficients, p_, Width));
    if (op_.operands[alpha].active) {
      if (is_one(alpha))
        to.rowwise() += matrix(w.tangents, alpha, 1, Width).row(0);
      else
        to += matrix(w.tangents, alpha, to.rows(), Width, first);
    }
    if (!op_.operands[x].active) return;
    for (Index i = 0; i < to.rows(); ++i)
      to.row(i) += vector(w.values, coefficients).transpose() * matrix(w.tangents, x, p_, Width, (first + i) * p_);
  }

  template <int Width>
  void add_to_alpha(double* to, Index first, const rows& curved) const {
    if (is_one(alpha))
      matrix(to, alpha, 1, Width) += curved.colwise().sum();
    else
      matrix(to, alpha, curved.rows(), Width, first) += curved;
  }

  /// Adds the part of the products of x and beta: to x, and to `bend`, which is for beta. slopes: times the adjoint.
  template <int Width>
  void bend_x(const second_spaces& w, Index first, const Eigen::VectorXd& slopes, const rows& curved, rows& bend) const {
    for (Index i = 0; i < slopes.size(); ++i) {
      auto to = matrix(w.adjoint_tangents, x, p_, Width, (first + i) * p_);
      to += vector(w.values, coefficients) * curved.row(i);
      if (op_.operands[coefficients].active) to += slopes[i] * matrix(w.tangents, coefficients, p_, Width);
      bend += slopes[i] * matrix(w.tangents, x, p_, Width, (first + i) * p_);
    }
  }
};

/// The operation class of each rule.
template <class Rule>
struct glm_operation;
template <>
struct glm_operation<bernoulli_logit_glm_rule> {
  using type = bernoulli_logit_glm_operation;
};

template <class Rule>
struct glm_loops {
  using on = typename glm_operation<Rule>::type;
  static constexpr recorded_formulas formulas{on::record};
  static bool fits(const operation_view& v) { return on::fits(v); }
  static void forward(const operation& op, const run_context& context, double* values) {
    on(op, context).forward(values, context.with_adjoint);
  }
  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    on(op, context).reverse(values, adjoints);
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double* values, double* tangents) {
    on(op, context).template tangent<Width>(values, tangents);
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& spaces) {
    on(op, context).template second<Width>(spaces);
  }
};

}  // namespace detail

template <class Rule>
inline constexpr kernel glm_kernel = kernels::make_of<detail::glm_loops<Rule>>(Rule::name);

/// Returns the number of slots of the operation's result. width: the number of columns of x.
template <class Rule>
std::size_t glm_slots(std::size_t rows, std::size_t width) {
  return detail::glm_operation<Rule>::type::size(rows, width);
}

}  // namespace agrad
