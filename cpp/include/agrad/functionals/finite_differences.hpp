// Finite differences: derivatives from values alone, to order 6, with an estimate of their error. For tests.
//
// The difference quotients over three pairs of points, h, 2h and 3h on either side, combine to an error of order h^6 (Fornberg
// 1988, "Generation of finite difference formulas on arbitrarily spaced grids", table 1). A difference is divided by the
// rounded distance of its points. h starts near an eighth of the coordinate's magnitude and is divided by four until rounding
// prevails; each result keeps the h with the smallest estimated error: large where the function is smooth, small near the end
// of its domain or a kink. The error is estimated from order 4 on the same points, and from the noise of the values, which
// their sixth difference shows (Hamming 1973, "Numerical Methods for Scientists and Engineers", section 10.6).
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <agrad/functionals/gradient.hpp>

namespace agrad {

namespace detail {

/// Returns the values of f at x: f is called with doubles, or with variables if f does not accept doubles.
template <class F, class X>
Eigen::VectorXd values_of(F&& f, const Eigen::MatrixBase<X>& x) {
  if constexpr (accepts<F, X, double>) {
    return as_vector<double>("finite_difference", f(constants<F, double>(x)));
  } else {
    const isolated_scope own;
    const vector_of<var> y = as_vector<var>("finite_difference", f(constants<F, var>(x)));
    Eigen::VectorXd values(y.size());
    for (Eigen::Index i = 0; i < y.size(); ++i) values[i] = y[i].val();
    return values;
  }
}

/// Derivatives of the entries of a vector, and estimates of their errors; `rounding` is the part that grows as h falls.
struct difference {
  Eigen::VectorXd value, error, rounding{};
};

/// Returns the difference quotient of a curve t -> vector with points h, 2h and 3h on either side of t.
template <class Curve>
difference difference_quotient(const Curve& curve, double t, const Eigen::VectorXd& centre, double h) {
  Eigen::VectorXd largest = centre.cwiseAbs(), sixth = -20 * centre;
  const auto slope = [&](double steps, double binomial) -> Eigen::VectorXd {
    const double right = t + steps * h, left = t - steps * h;
    const Eigen::VectorXd above = curve(right), below = curve(left);
    largest = largest.cwiseMax(above.cwiseAbs()).cwiseMax(below.cwiseAbs());
    sixth += binomial * (above + below);
    return (above - below) / (right - left);
  };
  const Eigen::VectorXd one = slope(1, 15), two = slope(2, -6), three = slope(3, 1);
  const Eigen::VectorXd order_4 = (4 * one - two) / 3;
  difference result;
  result.value = 1.5 * one - 0.6 * two + 0.1 * three;
  result.rounding = 2 / h * std::numeric_limits<double>::epsilon() * largest;
  const Eigen::VectorXd noise = 2 / h / std::sqrt(924.0) * sixth.cwiseAbs();  // 924: the sum of the squared binomials
  result.error = (result.value - order_4).cwiseAbs() + result.rounding.cwiseMax(noise);
  return result;
}

/// Keeps the better of two estimates of a number. Where both agree, the better one has the smaller estimated error. Where they
/// contradict each other, an estimate of error is too small by chance: rounding, which grows as h falls, speaks for the larger
/// h, unless the difference is more than rounding explains; then the larger h has missed a feature of the curve, such as a
/// whole period.
inline void store_better(difference& best, const difference& shorter, Eigen::Index i) {
  // The noise is not used: errors of values may be some hundred roundings, and the sixth difference small by chance.
  const double apart = std::abs(shorter.value[i] - best.value[i]), errors = 3 * (shorter.error[i] + best.error[i]);
  const bool agrees = !(apart > errors), misses = apart > errors + 100 * shorter.rounding[i];
  if (!(misses || (agrees && shorter.error[i] < best.error[i]))) return;
  best.value[i] = shorter.value[i];
  best.error[i] = shorter.error[i];
}

/// Returns whether all errors are small beside the largest derivative and value; no derivative at all may be a missed feature.
inline bool are_usable(const difference& found, const Eigen::VectorXd& centre) {
  if (centre.size() == 0) return true;
  const double largest = found.value.cwiseAbs().maxCoeff();
  return largest > 0 && found.error.maxCoeff() <= 1e-6 * (largest + centre.cwiseAbs().maxCoeff());
}

/// Returns the derivative at t of a curve t -> vector with the value `centre` at t; nan where no h gives numbers. h falls until
/// rounding prevails in all entries twice in succession, because the first time may be chance. Very short h are only tried
/// where longer ones do not suffice: the more noise is seen, the more of it looks small by chance.
template <class Curve>
difference differentiate(const Curve& curve, double t, const Eigen::VectorXd& centre) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  difference best{Eigen::VectorXd::Constant(centre.size(), nan), Eigen::VectorXd::Constant(centre.size(), infinity)};
  constexpr double no_fraction = 0.8862269254527580;  // a step and a period of the curve have no ratio of whole numbers
  const double size = t == 0 ? 1 : std::abs(t), short_enough = size * (t == 0 ? 0x1p-40 : 0x1p-16);
  const double shortest = size * (t == 0 ? 0x1p-60 : 0x1p-30);
  double h = no_fraction * std::exp2(std::floor(std::log2(std::max(std::abs(t), 1.0))) - 3);
  for (int settled = 0; settled < 2 && h >= shortest && std::isfinite(h); h /= 4) {
    if (h < short_enough && are_usable(best, centre)) break;
    difference next;
    try {
      next = difference_quotient(curve, t, centre, h);
    } catch (const std::domain_error&) {
      continue;  // a point is outside of the domain: h falls
    }
    bool rounding_prevails = true;
    for (Eigen::Index i = 0; i < centre.size(); ++i) {
      store_better(best, next, i);
      rounding_prevails = rounding_prevails && next.error[i] <= 2 * next.rounding[i];
    }
    settled = rounding_prevails ? settled + 1 : 0;
  }
  return best;
}

}  // namespace detail

/// Computes the value and the Jacobian of a vector function by central differences of order 6, with estimates of the errors.
///
/// f: callable with a column vector of double (or only of var), returns a vector of length m or a scalar. f may throw
/// std::domain_error, or return nan, outside of its domain. x: of length n. fx: resized to m. jacobian and error: resized to m
/// x n; an entry without a number for any h is nan and has an infinite error. About 30 calls of f per coordinate. For tests:
/// gradients by `gradient` and `jacobian` are exact, and cheaper.
template <class F, class X, class Fx, class J, class E>
void finite_difference_jacobian(F&& f, const Eigen::MatrixBase<X>& x, Eigen::PlainObjectBase<Fx>& fx,
                                Eigen::PlainObjectBase<J>& jacobian, Eigen::PlainObjectBase<E>& error) {
  const detail::as_long_as<X, double> at = detail::point(x);
  const Eigen::VectorXd centre = detail::values_of(f, at);
  detail::resize("finite_difference_jacobian", "fx", fx, centre.size());
  detail::resize("finite_difference_jacobian", "J", jacobian, centre.size(), at.size());
  detail::resize("finite_difference_jacobian", "error", error, centre.size(), at.size());
  fx = centre;
  for (Eigen::Index j = 0; j < at.size(); ++j) {
    const auto curve = [&](double t) {
      detail::as_long_as<X, double> shifted = at;
      shifted[j] = t;
      return detail::values_of(f, shifted);
    };
    const detail::difference column = detail::differentiate(curve, at[j], centre);
    jacobian.col(j) = column.value;
    error.col(j) = column.error;
  }
}

/// Does the same without the errors.
template <class F, class X, class Fx, class J>
void finite_difference_jacobian(F&& f, const Eigen::MatrixBase<X>& x, Eigen::PlainObjectBase<Fx>& fx,
                                Eigen::PlainObjectBase<J>& jacobian) {
  Eigen::MatrixXd error;
  finite_difference_jacobian(f, x, fx, jacobian, error);
}

/// Computes the value and the gradient of a scalar function in the same way. g: resized to n.
template <class F, class X, class G>
void finite_difference_gradient(F&& f, const Eigen::MatrixBase<X>& x, double& fx, Eigen::PlainObjectBase<G>& g) {
  Eigen::Matrix<double, 1, 1> value;
  Eigen::Matrix<double, 1, Eigen::Dynamic> row;
  finite_difference_jacobian(f, x, value, row);
  detail::resize("finite_difference_gradient", "g", g, x.size());
  fx = value[0];
  g = row.transpose();
}

/// Computes the value and the Hessian of a scalar function: differences of order 6 of the gradient, which is by reverse mode;
/// symmetric to the last bit, because the result is the mean of the differences and their transpose.
///
/// f: callable with a column vector of var. x: of length n. H: resized to n x n.
template <class F, class X, class H>
void finite_difference_hessian(F&& f, const Eigen::MatrixBase<X>& x, double& fx, Eigen::PlainObjectBase<H>& hessian) {
  Eigen::VectorXd g;
  gradient(f, x, fx, g);
  const auto gradient_of = [&](const detail::as_long_as<X, double>& at) {
    double value = 0;
    Eigen::VectorXd slope;
    gradient(f, at, value, slope);
    return slope;
  };
  Eigen::MatrixXd rows;
  finite_difference_jacobian(gradient_of, x, g, rows);
  detail::resize("finite_difference_hessian", "H", hessian, x.size(), x.size());
  for (Eigen::Index j = 0; j < x.size(); ++j)
    for (Eigen::Index i = j; i < x.size(); ++i) hessian(i, j) = hessian(j, i) = 0.5 * (rows(i, j) + rows(j, i));
}

}  // namespace agrad
