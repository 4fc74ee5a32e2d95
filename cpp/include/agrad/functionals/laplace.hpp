// Laplace: the marginal likelihood of a latent Gaussian model, by a normal density at the mode of the latent vector.
//
//     const auto counts = [](const auto& theta, const auto& y) { return agrad::poisson_log_lpmf(y, theta); };
//     agrad::var log_marginal = agrad::laplace_marginal(counts, std::make_tuple(y), 1, kernel, std::make_tuple(scale));
//
// With the covariance K = L L' the latent vector is theta = L z, and the mode of z is the minimum of z'z / 2 - log p(y | L z),
// whose Hessian is I + L' W L with W that of -log p(y | theta). The search runs on numbers. From its result, steps of Newton's
// method of the arguments' scalar, with the Hessian fixed, make one order of derivatives exact each, as in roots.hpp.
// Read next: functionals/laplace_counts.hpp, likelihoods of counts; laplace_draws.hpp, draws of the latent vector.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <agrad/base/check.hpp>
#include <agrad/dual/dual.hpp>
#include <agrad/dual/matrix.hpp>
#include <agrad/functionals/callable.hpp>
#include <agrad/functionals/latent_mode.hpp>
#include <agrad/functionals/values.hpp>
#include <agrad/rules/linalg/forms.hpp>
#include <agrad/rules/linalg/spd.hpp>
#include <agrad/rules/promote.hpp>
#include <agrad/tape/matrix/linalg.hpp>

namespace agrad {

namespace detail {

/// A log likelihood as a function of theta and of further arguments, with derivatives with respect to theta by duals.
/// A likelihood of another kind must have the same members (value, gradient, curvature, of_numbers, two checks).
template <class F, class Args>
class likelihood_of_function {
 public:
  using scalar = promoted_t<Args>;
  likelihood_of_function(std::string_view function, const F& f, const Args& args, Eigen::Index block)
      : function_(function), f_(f), args_(args), block_(block) {}

  /// Returns the likelihood of the arguments' values.
  auto of_numbers() const {
    using plain = std::decay_t<decltype(values_of(args_))>;
    return likelihood_of_function<F, plain>(function_, f_, values_of(args_), block_);
  }

  template <class T>
  T value(const vector_of<T>& theta) const {
    return as_scalar<T>(std::apply([&](const auto&... each) { return f_(theta, each...); }, args_));
  }
  template <class T>
  vector_of<T> gradient(const vector_of<T>& theta) const {
    return lanes<T, dual<T, width>>(
        theta, [](auto&, Eigen::Index) {}, [](const auto& y, std::size_t k) { return y.tangent[k]; });
  }
  /// Returns W, the negative Hessian, by one product for each column of a block.
  template <class T>
  matrix_of<T> curvature(const vector_of<T>& theta) const {
    const Eigen::Index n = theta.size();
    matrix_of<T> w = matrix_of<T>::Constant(n, n, T(0.0));
    for (Eigen::Index column = 0; column < block_; ++column) {
      const vector_of<T> product = times(theta, [&](Eigen::Index j) { return j % block_ == column ? 1.0 : 0.0; });
      for (Eigen::Index i = 0; i < n; ++i) w(i, i / block_ * block_ + column) = -product[i];
    }
    return w;
  }

  void check_length(Eigen::Index) const {}
  /// Throws where the Hessian has entries outside of the blocks, by its product with a vector of different entries. The Hessian
  /// is that at a point beside theta, because entries that are 0 at the mode alone make derivatives wrong.
  void check_blocks(const Eigen::VectorXd& theta, const Eigen::VectorXd& variances) const {
    const Eigen::Index n = theta.size();
    if (block_ == n) return;
    const auto along = [](Eigen::Index j) { return 1 + 0.5 * std::cos(2.4 * static_cast<double>(j)); };
    const Eigen::VectorXd v = Eigen::VectorXd::NullaryExpr(n, along);
    const Eigen::ArrayXd precisions = variances.array().inverse() + curvature(theta).diagonal().array().abs();
    const Eigen::VectorXd beside = theta.array() + 0.1 * v.array() / precisions.sqrt();
    const Eigen::VectorXd whole = -times(beside, along);
    const Eigen::MatrixXd w = curvature(beside);
    if (!whole.allFinite() || !w.allFinite()) return;
    const double difference = (whole - w * v).cwiseAbs().maxCoeff();
    if (difference <= 1e-8 * ((w.cwiseAbs() * v).maxCoeff() + whole.cwiseAbs().maxCoeff())) return;
    throw DomainError(std::string(function_) + ": the Hessian's entries outside of blocks of " + std::to_string(block_) +
                      " are up to " + to_text(difference) +
                      ", but must be 0; each entry of theta's block may occur only in terms without entries of others; raise "
                      "hessian_block_size");
  }

 private:
  static constexpr int width = 8;  // directions at once

  /// Returns the Hessian times the vector of entries seed(j).
  template <class T, class Seed>
  vector_of<T> times(const vector_of<T>& theta, const Seed& seed) const {
    using inner = dual<T, width>;
    const auto sow = [&](dual<inner>& x, Eigen::Index j) { x.tangent[0] = inner(seed(j)); };
    return lanes<T, dual<inner>>(theta, sow, [](const auto& y, std::size_t k) { return y.tangent[0].tangent[k]; });
  }
  /// Returns a number for each entry of theta, read from the results of passes in which a few entries have directions.
  template <class T, class D, class Sow, class Read>
  vector_of<T> lanes(const vector_of<T>& theta, const Sow& sow, const Read& read) const {
    const Eigen::Index n = theta.size();
    vector_of<T> result(n);
    for (Eigen::Index first = 0; first < n; first += width) {
      const Eigen::Index count = std::min<Eigen::Index>(width, n - first);
      vector_of<D> x(n);
      for (Eigen::Index j = 0; j < n; ++j) x[j] = D(theta[j]), sow(x[j], j);
      for (Eigen::Index k = 0; k < count; ++k) direction(x[first + k], static_cast<std::size_t>(k)) = T(1.0);
      const D y = as_scalar<D>(std::apply([&](const auto&... each) { return f_(std::as_const(x), each...); }, args_));
      for (Eigen::Index k = 0; k < count; ++k) result[first + k] = read(y, static_cast<std::size_t>(k));
    }
    return result;
  }
  template <class T>
  static T& direction(dual<T, width>& x, std::size_t k) {
    return x.tangent[k];
  }
  template <class T>
  static T& direction(dual<dual<T, width>>& x, std::size_t k) {
    return x.value.tangent[k];
  }

  std::string_view function_;
  const F& f_;
  Args args_;
  Eigen::Index block_;
};

/// The mode of a latent vector theta = L z, of the scalar T; the factor L is a matrix of the engine of the covariance.
template <class T, class Factor>
struct latent_gaussian {
  Factor factor;
  vector_of<T> z;
  Eigen::MatrixXd hessian;  // I + L' W L at the mode, of numbers

  template <class S>
  vector_of<T> theta(const vector_of<S>& at) const {
    return linalg::lower<1, vector_of<T>>(linalg::product(factor, linalg::lift(at)));
  }
};

/// Returns what stores an argument, which may be an expression.
template <class X>
auto evaluated(const X& x) {
  if constexpr (is_eigen<X>)
    return typename X::PlainObject(x);
  else if constexpr (std::is_arithmetic_v<X>)
    return static_cast<double>(x);
  else if constexpr (rank_of<X> > 0 && rank_of<X> < array_rank)
    return stored_t<X>(x);
  else
    return x;
}

/// Returns the covariance; throws unless it is a square matrix, which the blocks divide.
template <class Covariance, class Args>
auto covariance_of(std::string_view function, const Covariance& covariance, const Args& args, Eigen::Index block) {
  auto k = evaluated(std::apply([&](const auto&... each) { return covariance(each...); }, args));
  if (k.rows() != k.cols() || k.rows() == 0)
    throw ShapeError(std::string(function) + ": covariance is of shape (" + std::to_string(k.rows()) + ", " +
                     std::to_string(k.cols()) + "), but must be a square matrix");
  check(function, "hessian_block_size", static_cast<double>(block), must_be::positive);
  if (k.rows() % block != 0)
    throw ShapeError(std::string(function) + ": hessian_block_size is " + std::to_string(block) +
                     ", but must divide the size of the covariance, " + std::to_string(k.rows()));
  return k;
}

template <class K>
auto covariance_factor(std::string_view function, const K& k) {
  try {
    return linalg::apply(linalg::cholesky_rule{}, linalg::lift(k));
  } catch (const LinAlgError&) {
    throw LinAlgError(std::string(function) +
                      ": covariance is singular or indefinite, but must be positive definite; add a small number to its "
                      "diagonal");
  }
}

template <class Likelihood>
minimum_search mode_of_numbers(std::string_view function, const Likelihood& likelihood, const Eigen::MatrixXd& factor,
                               const laplace_options& options) {
  const Eigen::Index n = factor.rows();
  check(function, "tolerance", options.tolerance, must_be::positive_finite);
  check(function, "max_num_steps", options.max_num_steps, must_be::positive);
  Eigen::VectorXd start = Eigen::VectorXd::Zero(n);
  if (options.theta_0.size() > 0) {
    check_size(function, "theta_0", static_cast<std::size_t>(options.theta_0.size()), static_cast<std::size_t>(n),
               "the size of the covariance");
    start = factor.triangularView<Eigen::Lower>().solve(options.theta_0);
  }
  const potential energy = [&](const Eigen::VectorXd& z, Eigen::VectorXd* gradient, Eigen::MatrixXd* hessian) {
    const Eigen::VectorXd theta = factor * z;
    if (gradient) *gradient = z - factor.transpose() * likelihood.gradient(theta);
    if (hessian) *hessian = Eigen::MatrixXd::Identity(n, n) + factor.transpose() * likelihood.curvature(theta) * factor;
    return 0.5 * z.squaredNorm() - likelihood.value(theta);
  };
  minimum_search found = find_mode(function, energy, start, options);
  likelihood.check_blocks(factor * found.x, factor.rowwise().squaredNorm());
  return found;
}

/// Returns the mode, with derivatives of every order of the common scalar of likelihood and covariance.
template <class Likelihood, class Covariance, class Args>
auto mode_of(std::string_view function, const Likelihood& likelihood, Eigen::Index block, const Covariance& covariance,
             const Args& args, const laplace_options& options) {
  const auto k = covariance_of(function, covariance, args, block);
  likelihood.check_length(k.rows());
  using K = std::decay_t<decltype(k)>;
  using T = promoted_t<typename Likelihood::scalar, K>;
  auto factor = covariance_factor(function, k);
  using Factor = std::decay_t<decltype(factor)>;
  const Eigen::MatrixXd of_numbers = linalg::algebra<Factor>::primal(factor);
  minimum_search found = mode_of_numbers(function, likelihood.of_numbers(), of_numbers, options);
  latent_gaussian<T, Factor> mode{std::move(factor), found.x.template cast<T>(), std::move(found.hessian)};
  for (int order = 0; order < order_of<T>::value; ++order) {
    const vector_of<T> slope = likelihood.template gradient<T>(mode.theta(mode.z));
    const vector_of<T> force = linalg::lower<1, vector_of<T>>(linalg::product<true>(mode.factor, linalg::lift(slope)));
    const vector_of<T> step = solve_spd(mode.hessian, vector_of<T>(mode.z - force));
    for (Eigen::Index i = 0; i < step.size(); ++i) mode.z[i] = mode.z[i] - step[i];
  }
  return mode;
}

/// Returns the logarithm of the approximate marginal likelihood.
template <class Likelihood, class T, class Factor>
T marginal_at(const Likelihood& likelihood, const latent_gaussian<T, Factor>& mode) {
  const vector_of<T> theta = mode.theta(mode.z);
  const matrix_of<T> w = likelihood.template curvature<T>(theta);
  matrix_of<T> hessian =
      linalg::lower<matrix_of<T>>(linalg::apply(linalg::quad_form_rule<true>{}, linalg::lift(w), mode.factor));
  T squares = 0.0;
  for (Eigen::Index i = 0; i < theta.size(); ++i) {
    hessian(i, i) = hessian(i, i) + 1.0;
    squares = squares + mode.z[i] * mode.z[i];
  }
  return likelihood.template value<T>(theta) - 0.5 * squares - 0.5 * log_determinant_spd(hessian);
}

template <class Likelihood, class Covariance, class Args>
auto laplace(std::string_view function, const Likelihood& likelihood, int block, const Covariance& covariance, const Args& args,
             const laplace_options& options) {
  return marginal_at(likelihood, mode_of(function, likelihood, block, covariance, args, options));
}

}  // namespace detail

/// Approximates the log marginal likelihood of a latent Gaussian model, with the latent vector theta integrated out.
///
/// theta is normal with mean 0 and the covariance matrix covariance_function(covariance_arguments...), which must be positive
/// definite. likelihood_function: callable as f(theta, likelihood_arguments...) with a column vector theta of any scalar,
/// returns the log likelihood. hessian_block_size: the size of the diagonal blocks of its Hessian with respect to theta: 1
/// where each term has one entry of theta; the length of theta always holds. The arguments are tuples of numbers, variables and
/// duals in Eigen's objects, matrix<var>, std::vector, std::array, std::tuple and std::pair; what the functions capture must be
/// numbers. tolerances: `laplace_options`, or Stan's tuple.
///
/// Returns the logarithm, which is exact for a normal likelihood, of the arguments' common scalar, with derivatives of every
/// order of that scalar; each takes two orders more of the likelihood. A gradient costs about n / 4 calls of it, n the length
/// of theta, with duals of eight directions.
/// Throws DomainError where the covariance is not positive definite or the Hessian has entries outside of the blocks,
/// SolverError where the mode is not found, ShapeError. Sources: Rasmussen and Williams (2006), Gaussian Processes for Machine
/// Learning, section 3.4; Margossian, Vehtari, Simpson and Agrawal (2020), NeurIPS 33.
template <class F, class... LikelihoodArgs, class Covariance, class... CovarianceArgs>
promoted_t<LikelihoodArgs..., std::invoke_result_t<const Covariance&, const CovarianceArgs&...>> laplace_marginal_tol(
    const F& likelihood_function, const std::tuple<LikelihoodArgs...>& likelihood_arguments, int hessian_block_size,
    const Covariance& covariance_function, const std::tuple<CovarianceArgs...>& covariance_arguments,
    const laplace_options& tolerances) {
  constexpr std::string_view name = "laplace_marginal_tol";
  const detail::likelihood_of_function likelihood(name, likelihood_function, likelihood_arguments, hessian_block_size);
  return detail::laplace(name, likelihood, hessian_block_size, covariance_function, covariance_arguments, tolerances);
}

/// Approximates the log marginal likelihood of a latent Gaussian model; see `laplace_marginal_tol`.
template <class F, class... LikelihoodArgs, class Covariance, class... CovarianceArgs>
promoted_t<LikelihoodArgs..., std::invoke_result_t<const Covariance&, const CovarianceArgs&...>> laplace_marginal(
    const F& likelihood_function, const std::tuple<LikelihoodArgs...>& likelihood_arguments, int hessian_block_size,
    const Covariance& covariance_function, const std::tuple<CovarianceArgs...>& covariance_arguments) {
  constexpr std::string_view name = "laplace_marginal";
  const detail::likelihood_of_function likelihood(name, likelihood_function, likelihood_arguments, hessian_block_size);
  return detail::laplace(name, likelihood, hessian_block_size, covariance_function, covariance_arguments, laplace_options());
}

}  // namespace agrad
