// Kernels: covariance matrices of Gaussian processes under Stan's names, of one set of points or between two.
//
// Points are the rows of a matrix, or the entries of a vector. All arguments may be double, var or duals. Kernels are functions
// of squared distances, because a distance has a kink where points coincide: derivatives to second order are finite and right
// there, except those of the exponential kernel, which has the kink itself and the derivative 0 at it.
// Source: Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, chapter 4.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <string_view>

#include <agrad/base/check.hpp>
#include <agrad/constraints/entries.hpp>
#include <agrad/rules/density/density.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/promote.hpp>
#include <agrad/rules/special/matern.hpp>
#include <agrad/rules/trigonometric.hpp>

namespace agrad {

namespace detail {

template <class T>
using covariance_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// Points as rows; throws DomainError unless they are finite.
template <class X>
covariance_matrix<promoted_t<X>> points_of(std::string_view function, std::string_view argument, const X& x) {
  covariance_matrix<promoted_t<X>> points = x;
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    for (Eigen::Index j = 0; j < points.cols(); ++j) {
      const double value = primal_value(points(i, j));
      if (AGRAD_UNLIKELY(!std::isfinite(value)))
        fail_entry(function, argument, entry_place{i, points.cols() == 1 ? -1 : j}, value, "finite", quiet_nan);
    }
  return points;
}

/// Returns a parameter of the kernel: one number, or one for each dimension; throws DomainError unless all are positive.
template <class L>
Eigen::Matrix<promoted_t<L>, Eigen::Dynamic, 1> scales_of(std::string_view function, const L& scale, Eigen::Index dimensions) {
  Eigen::Matrix<promoted_t<L>, Eigen::Dynamic, 1> scales(dimensions);
  if constexpr (has_storage_kind<L>) {
    check_size(function, "length_scale", static_cast<std::size_t>(scale.size()), static_cast<std::size_t>(dimensions),
               "one for each dimension of the points");
    scales = scale;
    for (Eigen::Index d = 0; d < dimensions; ++d)
      check(function, "length_scale", primal_value(scales[d]), must_be::positive_finite, d);
  } else {
    check(function, "length_scale", primal_value(scale), must_be::positive_finite);
    scales.setConstant(promoted_t<L>(scale));
  }
  return scales;
}

/// Computes variance * correlation(i, j), where rows of x1 and x2 are points; of one set, every pair once.
template <class T, class S, class F>
covariance_matrix<T> covariances(Eigen::Index rows, Eigen::Index columns, bool is_one_set, const S& variance,
                                 const F& correlation) {
  covariance_matrix<T> k(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < (is_one_set ? i + 1 : columns); ++j) {
      k(i, j) = is_one_set && i == j ? T(variance) : T(variance * correlation(i, j));
      if (is_one_set) k(j, i) = k(i, j);
    }
  return k;
}

template <class A, class B>
void check_dimensions(std::string_view function, const A& a, const B& b) {
  check_size(function, "a point of x2", static_cast<std::size_t>(b.cols()), static_cast<std::size_t>(a.cols()),
             "the length of those of x1");
}

/// Returns the covariances by a kernel of the squared distance in length scales.
template <class X1, class X2, class S, class L, class F>
auto covariances_of_square(std::string_view function, const X1& x1, const X2& x2, bool is_one_set, const S& sigma,
                           const L& scale, const F& correlation) {
  using T = promoted_t<X1, X2, S, L>;
  check(function, "sigma", primal_value(sigma), must_be::positive_finite);
  const auto a = points_of(function, is_one_set ? "x" : "x1", x1);
  const auto b = points_of(function, is_one_set ? "x" : "x2", x2);
  check_dimensions(function, a, b);
  const auto scales = scales_of(function, scale, a.cols());
  const promoted_t<S> variance = sigma * sigma;
  return covariances<T>(a.rows(), b.rows(), is_one_set, variance, [&](Eigen::Index i, Eigen::Index j) {
    T sum(0.0);
    for (Eigen::Index d = 0; d < a.cols(); ++d) sum += square((a(i, d) - b(j, d)) / scales[d]);
    return T(correlation(sum));
  });
}

struct exp_quad_correlation {
  template <class T>
  T operator()(const T& square) const {
    return exp(-0.5 * square);
  }
};
struct exponential_correlation {
  template <class T>
  T operator()(const T& square) const {
    return primal_value(square) > 0 ? T(exp(-sqrt(square))) : T(1.0);
  }
};
struct matern32_correlation {
  template <class T>
  T operator()(const T& square) const {
    return matern32(square);
  }
};
struct matern52_correlation {
  template <class T>
  T operator()(const T& square) const {
    return matern52(square);
  }
};

template <class X1, class X2, class S, class L, class P>
auto periodic_covariances(const X1& x1, const X2& x2, bool is_one_set, const S& sigma, const L& length_scale, const P& period) {
  using T = promoted_t<X1, X2, S, L, P>;
  constexpr std::string_view name = "gp_periodic_cov";
  check(name, "sigma", primal_value(sigma), must_be::positive_finite);
  check(name, "length_scale", primal_value(length_scale), must_be::positive_finite);
  check(name, "period", primal_value(period), must_be::positive_finite);
  const auto a = points_of(name, is_one_set ? "x" : "x1", x1);
  const auto b = points_of(name, is_one_set ? "x" : "x2", x2);
  check_dimensions(name, a, b);
  const promoted_t<S> variance = sigma * sigma;
  return covariances<T>(a.rows(), b.rows(), is_one_set, variance, [&](Eigen::Index i, Eigen::Index j) {
    T sum(0.0);
    for (Eigen::Index d = 0; d < a.cols(); ++d) sum += square(a(i, d) - b(j, d));
    const T rate = static_cast<double>(EIGEN_PI) / period;
    // Where points coincide, the square of the sine is that of its argument.
    const T sines = primal_value(sum) > 0 ? T(square(sin(rate * sqrt(sum)))) : T(square(rate) * sum);
    return T(exp(-2.0 * (sines / length_scale) / length_scale));
  });
}

}  // namespace detail

/// Returns the squared exponential kernel, sigma^2 exp(-r^2 / 2), where r is the distance in length scales.
///
/// x: points, n x d or of length n. sigma: positive. length_scale: positive, a number or one for each dimension. Returns n x n.
/// Throws DomainError if a parameter is not positive and finite, or a point not finite; ShapeError if sizes differ.
template <class X, class S, class L>
auto gp_exp_quad_cov(const X& x, const S& sigma, const L& length_scale) {
  return detail::covariances_of_square("gp_exp_quad_cov", x, x, true, sigma, length_scale, detail::exp_quad_correlation());
}
/// Does the same between two sets of points; n1 x n2.
template <class X1, class X2, class S, class L>
auto gp_exp_quad_cov(const X1& x1, const X2& x2, const S& sigma, const L& length_scale) {
  return detail::covariances_of_square("gp_exp_quad_cov", x1, x2, false, sigma, length_scale, detail::exp_quad_correlation());
}

/// Does the same as `gp_exp_quad_cov`, under its former name.
template <class... X>
auto cov_exp_quad(const X&... x) {
  return gp_exp_quad_cov(x...);
}

/// Returns the exponential kernel, sigma^2 exp(-r); see gp_exp_quad_cov.
template <class X, class S, class L>
auto gp_exponential_cov(const X& x, const S& sigma, const L& length_scale) {
  return detail::covariances_of_square("gp_exponential_cov", x, x, true, sigma, length_scale,
                                       detail::exponential_correlation());
}
template <class X1, class X2, class S, class L>
auto gp_exponential_cov(const X1& x1, const X2& x2, const S& sigma, const L& length_scale) {
  return detail::covariances_of_square("gp_exponential_cov", x1, x2, false, sigma, length_scale,
                                       detail::exponential_correlation());
}

/// Returns the Matern kernel of smoothness 3/2, sigma^2 (1 + sqrt(3) r) exp(-sqrt(3) r); see gp_exp_quad_cov.
template <class X, class S, class L>
auto gp_matern32_cov(const X& x, const S& sigma, const L& length_scale) {
  return detail::covariances_of_square("gp_matern32_cov", x, x, true, sigma, length_scale, detail::matern32_correlation());
}
template <class X1, class X2, class S, class L>
auto gp_matern32_cov(const X1& x1, const X2& x2, const S& sigma, const L& length_scale) {
  return detail::covariances_of_square("gp_matern32_cov", x1, x2, false, sigma, length_scale, detail::matern32_correlation());
}

/// Returns the Matern kernel of smoothness 5/2, sigma^2 (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r); see gp_exp_quad_cov.
template <class X, class S, class L>
auto gp_matern52_cov(const X& x, const S& sigma, const L& length_scale) {
  return detail::covariances_of_square("gp_matern52_cov", x, x, true, sigma, length_scale, detail::matern52_correlation());
}
template <class X1, class X2, class S, class L>
auto gp_matern52_cov(const X1& x1, const X2& x2, const S& sigma, const L& length_scale) {
  return detail::covariances_of_square("gp_matern52_cov", x1, x2, false, sigma, length_scale, detail::matern52_correlation());
}

/// Returns the periodic kernel, sigma^2 exp(-2 sin(pi d / period)^2 / length_scale^2), where d is the distance; all parameters
/// are numbers.
template <class X, class S, class L, class P>
auto gp_periodic_cov(const X& x, const S& sigma, const L& length_scale, const P& period) {
  return detail::periodic_covariances(x, x, true, sigma, length_scale, period);
}
template <class X1, class X2, class S, class L, class P>
auto gp_periodic_cov(const X1& x1, const X2& x2, const S& sigma, const L& length_scale, const P& period) {
  return detail::periodic_covariances(x1, x2, false, sigma, length_scale, period);
}

/// Returns the dot product kernel of a linear function between two sets of points, sigma^2 + x1 . x2; sigma is a number, and
/// positive.
template <class X1, class X2, class S>
auto gp_dot_prod_cov(const X1& x1, const X2& x2, const S& sigma) {
  using T = promoted_t<X1, X2, S>;
  constexpr std::string_view name = "gp_dot_prod_cov";
  check(name, "sigma", detail::primal_value(sigma), must_be::positive_finite);
  const auto a = detail::points_of(name, "x1", x1);
  const auto b = detail::points_of(name, "x2", x2);
  detail::check_dimensions(name, a, b);
  const promoted_t<S> variance = sigma * sigma;
  detail::covariance_matrix<T> k(a.rows(), b.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j < b.rows(); ++j) {
      T sum = variance;
      for (Eigen::Index d = 0; d < a.cols(); ++d) sum += a(i, d) * b(j, d);
      k(i, j) = sum;
    }
  return k;
}
/// Does the same for one set of points.
template <class X, class S>
auto gp_dot_prod_cov(const X& x, const S& sigma) {
  return gp_dot_prod_cov(x, x, sigma);
}

}  // namespace agrad
