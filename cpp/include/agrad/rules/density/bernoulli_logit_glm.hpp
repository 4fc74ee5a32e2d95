// Bernoulli regression with logit link: the log likelihood of a whole generalised linear model as one function.
//
// With s = 2 y - 1 and m = s (alpha + x beta) a term is log logistic(m), with the derivative y - logistic(alpha + x beta) =
// s logistic(-m) with respect to the predictor. Rows are processed in blocks, so that x is read from memory once for the
// products of value and gradient, and nothing of x is stored.
// Read next: tape/density.hpp, one statement or closure; program/kernels/density_glm.hpp, one operation.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>

#include <agrad/rules/density/apply.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/values.hpp>

namespace agrad {

/// The description of the function, for tables (cpp/rows/rows.hpp).
struct bernoulli_logit_glm_rule {
  static constexpr std::string_view
      name = "bernoulli_logit_glm_lpmf",
      text = "Log likelihood of a logistic regression: outcomes y, predictors x, intercept alpha, coefficients beta.",
      source =
          "McCullagh, Nelder (1989), Generalized Linear Models, section 4.4: sum of log Bernoulli(y; logistic(alpha + x beta))";
  static constexpr density_argument arguments[] = {{"y", {"0 or 1", [](double y) { return y == 0 || y == 1; }}},
                                                   {"x", must_be::finite},
                                                   {"alpha", must_be::finite},
                                                   {"beta", must_be::finite}};
};

namespace rules {
using generalised_linear_models = typelist<bernoulli_logit_glm_rule>;
}

namespace detail {

/// The outcomes, of type Y, and the shape of x.
template <class Y>
struct bernoulli_logit_glm : bernoulli_logit_glm_rule {
  density_input<Y> y;
  Eigen::Index rows, cols;

  bernoulli_logit_glm(const density_input<Y>& outcomes, Eigen::Index rows_of_x, Eigen::Index cols_of_x)
      : y(outcomes), rows(rows_of_x), cols(cols_of_x) {}

  Y at(Eigen::Index i) const { return y.values[static_cast<std::size_t>(i) * y.stride]; }

  void check_outcomes() const { check_each<0>(y, rows); }
  template <class S>
  void check_parameters(const density_input<S>& alpha, const density_input<S>& beta) const {
    check_each<2>(alpha, rows);
    check_each<3>(beta, cols);
  }
  template <std::size_t K, class S>
  static void check_each(const density_input<S>& in, Eigen::Index n) {
    constexpr density_argument argument = arguments[K];
    const std::size_t size = in.stride == 0 && n > 0 ? 1 : static_cast<std::size_t>(n);
    const std::size_t i = first_outside<argument.must.holds>(in.values, size);
    if (AGRAD_UNLIKELY(i != size))
      fail_check(name, argument.name, in.stride == 0 ? -1 : static_cast<long>(i), primal_value(in.values[i]), argument.must,
                 {});
  }

  /// Throws DomainError for an entry of x that is not finite. A predictor that is not finite has such an entry or an overflow.
  template <class X>
  AGRAD_COLD static void check_predictors(const X& x, Eigen::Index first, Eigen::Index n) {
    for (Eigen::Index i = first; i < first + n; ++i)
      for (Eigen::Index j = 0; j < x.cols(); ++j)
        check(name, "x[" + std::to_string(i) + ", " + std::to_string(j) + "]", x(i, j), must_be::finite);
  }

  /// Returns the sum of the terms; calls use(first, part, block) for each block of rows, which has their values and slopes.
  template <class X, class Use>
  double each_block(const X& x, const density_input<double>& alpha, const density_input<double>& beta, const Use& use) const;

  /// Returns the value, and writes partial derivatives unless the pointers are null; alpha's may overwrite the values of alpha.
  template <class X>
  double partials(const X& x, const density_input<double>& alpha, const density_input<double>& beta, double* alpha_partial,
                  double* beta_partial) const;

  /// Computes the same terms on other scalars.
  template <class S, class X>
  S value(const X& x, const density_input<S>& alpha, const density_input<S>& beta) const {
    S sum(0);
    for (Eigen::Index i = 0; i < rows; ++i) {
      S predictor = alpha.values[static_cast<std::size_t>(i) * alpha.stride];
      for (Eigen::Index j = 0; j < cols; ++j) predictor += x(i, j) * beta.values[j];
      if (AGRAD_UNLIKELY(!std::isfinite(primal_value(predictor)))) check_predictors(x, i, 1);
      sum += log_inv_logit(at(i) != 0 ? predictor : S(-predictor));
    }
    return sum;
  }
};

/// Log likelihoods of up to `size` rows, and derivatives with respect to the predictors.
template <int Size>
class logit_block {
 public:
  static constexpr Eigen::Index size = Size;
  using array = Eigen::Array<double, Eigen::Dynamic, 1, 0, Size, 1>;

  array predictor, slope;

  template <class Y>
  double value(const bernoulli_logit_glm<Y>& model, Eigen::Index first) {
    const Eigen::Index n = predictor.size();
    array sign(n), towards(n), distance(n);
    odds_.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) sign[i] = 2.0 * model.at(first + i) - 1.0;
    towards = sign * predictor;
    distance = -towards.abs();
    values_into<exp_rule>(odds_.data(), n, distance.data());
    slope.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) slope[i] = sign[i] * (towards[i] < 0 ? 1 : odds_[i]) / (1 + odds_[i]);
    return (towards.min(0.0) - log1p_rule::values(odds_)).sum();  // odds are at most 1, where packets are accurate
  }
  /// Minus the second derivatives: p (1 - p).
  array curvature() const { return odds_ / (1 + odds_).square(); }

 private:
  array odds_;
};
using bernoulli_logit_block = logit_block<128>;

template <class Y>
template <class X, class Use>
double bernoulli_logit_glm<Y>::each_block(const X& x, const density_input<double>& alpha, const density_input<double>& beta,
                                          const Use& use) const {
  const Eigen::Map<const Eigen::VectorXd> coefficients(beta.values, cols);
  bernoulli_logit_block block;
  double sum = 0;
  for (Eigen::Index first = 0; first < rows; first += block.size) {
    const Eigen::Index n = std::min(block.size, rows - first);
    const auto part = x.middleRows(first, n);
    block.predictor.resize(n);
    block.predictor.matrix().noalias() = part * coefficients;
    if (alpha.stride == 0)
      block.predictor += *alpha.values;
    else
      block.predictor += const_array(alpha.values + first, n);
    if (AGRAD_UNLIKELY((0 * block.predictor).sum() != 0)) check_predictors(x, first, n);
    sum += block.value(*this, first);
    use(first, part, block);
  }
  return sum;
}

template <class Y>
template <class X>
double bernoulli_logit_glm<Y>::partials(const X& x, const density_input<double>& alpha, const density_input<double>& beta,
                                        double* alpha_partial, double* beta_partial) const {
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(beta_partial != nullptr ? cols : 0);
  double alpha_sum = 0;
  const double sum = each_block(x, alpha, beta, [&](Eigen::Index first, const auto& part, const bernoulli_logit_block& block) {
    if (beta_partial != nullptr) gradient.noalias() += part.transpose() * block.slope.matrix();
    if (alpha_partial == nullptr) return;
    if (alpha.stride == 0)
      alpha_sum += block.slope.sum();
    else
      array_map(alpha_partial + first, block.slope.size()) = block.slope;
  });
  if (beta_partial != nullptr) Eigen::Map<Eigen::VectorXd>(beta_partial, cols) = gradient;
  if (alpha_partial != nullptr && alpha.stride == 0) *alpha_partial = alpha_sum;
  return sum;
}

/// The engine on scalar S, specialised together with density_engine: `apply(model, x, alpha, beta)`.
template <class S>
struct bernoulli_logit_glm_engine;

/// The engine of scalars that record nothing.
template <class S>
struct direct_bernoulli_logit_glm_engine {
  template <class Y, class X, class Alpha, class Beta>
  static S apply(const bernoulli_logit_glm<Y>& model, const X& x, const Alpha& alpha, const Beta& beta) {
    const density_operand<S, Alpha> a(alpha);
    const density_operand<S, Beta> b(beta);
    model.check_parameters(a.input(true), b.input(true));
    if constexpr (std::is_same_v<S, double>)
      return model.partials(x, a.input(false), b.input(false), nullptr, nullptr);
    else
      return model.value(x, a.input(true), b.input(true));
  }
};
template <>
struct bernoulli_logit_glm_engine<double> : direct_bernoulli_logit_glm_engine<double> {};

template <class Y, class X, class Alpha, class Beta>
auto bernoulli_logit_glm_evaluated(const Y& y, const X& x, const Alpha& alpha, const Beta& beta) {
  using S = typename common_scalar<scalar_of_t<Alpha>, scalar_of_t<Beta>>::type;
  constexpr std::string_view name = bernoulli_logit_glm_rule::name, rows = "the number of rows of x";
  const auto n = static_cast<std::size_t>(x.rows()), p = static_cast<std::size_t>(x.cols());
  if (!sequence<Y>::is_scalar) check_size(name, "y", sequence<Y>::size(y), n, rows);
  if (!sequence<Alpha>::is_scalar) check_size(name, "alpha", sequence<Alpha>::size(alpha), n, rows);
  check_size(name, "beta", sequence<Beta>::size(beta), p, "the number of columns of x");
  const density_operand<int, Y> outcomes(y);
  const bernoulli_logit_glm<int> model(outcomes.input(false), x.rows(), x.cols());
  model.check_outcomes();
  return bernoulli_logit_glm_engine<S>::apply(model, x, alpha, beta);
}

}  // namespace detail

/// Returns the log likelihood of a logistic regression, the sum of log Bernoulli(y[i]; logistic(alpha[i] + x[i, :] beta)).
///
/// y: n whole numbers, each 0 or 1 (std::vector, Eigen's vectors and arrays), or one number for all rows. x: constant n x p
/// matrix of finite numbers. alpha: intercept, a finite number or n finite numbers. beta: p finite coefficients. alpha and beta
/// have entries of double, var or dual, or are a matrix<var>. Returns the sum, 0 for n = 0; the tape stores p + 1 numbers for
/// any n, p + n for a vector alpha. Throws ShapeError if lengths differ, DomainError for values that do not meet these
/// conditions. Exact in the tails: a predictor of -800 or 800 has value and derivative. Pitfall: x is read during the call
/// only, and a change of x before the reverse pass has no effect.
/// Source: McCullagh, Nelder (1989), Generalized Linear Models, section 4.4; gradient x'(y - p), Hessian -x' diag(p (1 - p)) x.
template <class Y, class X, class Alpha, class Beta>
auto bernoulli_logit_glm_lpmf(const Y& y, const Eigen::MatrixBase<X>& x, const Alpha& alpha, const Beta& beta) {
  static_assert(std::is_integral_v<std::decay_t<decltype(detail::sequence<Y>::at(y, 0))>>, "outcomes are whole numbers");
  static_assert(std::is_arithmetic_v<typename X::Scalar>, "x is constant");
  static_assert(!detail::sequence<Beta>::is_scalar, "beta is a vector, of length 1 for one predictor");
  using plain = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, X::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor>;
  const Eigen::Ref<const plain, 0, Eigen::OuterStride<>> rows(x.derived().template cast<double>());
  return detail::bernoulli_logit_glm_evaluated(detail::evaluated_argument(y), rows, detail::evaluated_argument(alpha),
                                               detail::evaluated_argument(beta));
}

}  // namespace agrad
