// Testing: checks derivatives of a user's function, above all of a function with an adjoint written by the user.
//
//     const agrad::gradient_report report = agrad::check_gradient(f, x);
//     if (!report.ok) std::cerr << report.message;       // names the coordinate and both values
//     agrad::expect_gradient(f, x);                      // or throws GradientError with that message
//
// Three independent results must agree: reverse mode, forward mode and finite differences; second derivatives must also be
// symmetric. Modes for which f does not compile are left out, and the report says so.
// Read next: functionals/finite_differences.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <agrad/functionals/finite_differences.hpp>
#include <agrad/functionals/jacobian.hpp>
#include <agrad/functionals/products.hpp>

namespace agrad {

/// Tolerances and directions of `check_gradient`.
struct check_options {
  /// Tolerance of <w, Jv> = <J'w, v>, of <u, Hv> = <Hu, v> and of f's values, relative to the size of both sides' vectors.
  double product_tolerance = 1e-12;
  /// A derivative may differ from finite differences by this many times their estimated error.
  double difference_factor = 10;
  /// Finite differences with an estimated error above this, relative to derivatives and values, prove nothing and fail.
  double largest_difference_error = 1e-4;
  /// Number of pseudo-random directions, and the seed of their sequence: the same directions on every machine.
  int directions = 2;
  std::uint64_t seed = 1;
  bool second_order = true;
};

/// The results of `check_gradient`.
struct gradient_report {
  bool ok = true;
  bool forward_checked = false;       ///< whether f takes `dual<double>`
  bool second_order_checked = false;  ///< whether f takes `dual<var>`
  double value_error = 0;             ///< worst difference of f's values by mode, relative
  double difference_error = 0;        ///< worst |J - finite differences|, relative to the row's largest entry or the value
  double product_error = 0;           ///< worst |<w, Jv> - <J'w, v>|, relative
  double symmetry_error = 0;          ///< worst |<u, Hv> - <Hu, v>|, relative
  double curvature_error = 0;         ///< worst |Hv - differences of gradients|, relative to the largest entry or the gradient
  std::string where;                  ///< the comparison closest to its tolerance, or farthest beyond: "gradient[2]"
  std::string message;                ///< empty when ok, else a sentence about `where` with both values
};

/// Thrown by `expect_gradient`, with the report's message.
struct GradientError : std::runtime_error {
  explicit GradientError(gradient_report found) : std::runtime_error(found.message), report(std::move(found)) {}
  gradient_report report;
};

namespace detail {

/// Stores the worst of all comparisons: the comparison farthest beyond its tolerance, or closest to it.
class verdict {
 public:
  /// `actual` must be `expected` to within `tolerance`. Returns the error relative to `scale`.
  double compare(double actual, double expected, double tolerance, double scale, const std::string& what,
                 const std::string& hint) {
    if (actual == expected) return 0;
    const double error = std::abs(actual - expected);
    if (error <= tolerance)
      note(error / tolerance, what);
    else
      fail(error > tolerance ? error / tolerance : infinity, what, actual,
           to_text(expected) + " to within " + to_text(rounded(tolerance)), hint);
    return std::isnan(error / scale) ? infinity : error / scale;
  }

  /// Reports a failure that is `ratio` times the tolerance.
  void fail(double ratio, const std::string& what, double actual, const std::string& condition, const std::string& hint) {
    report.ok = false;
    if (note(ratio, what)) report.message = sentence("check_gradient", what, -1, actual, condition, hint);
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  gradient_report report;

 private:
  bool note(double ratio, const std::string& what) {
    if (ratio <= worst_) return false;
    worst_ = ratio;
    report.where = what;
    return true;
  }
  static double rounded(double x) {
    std::ostringstream out;
    out.precision(2);
    out << x;
    return std::stod(out.str());
  }
  double worst_ = 0;
};

/// f with its results weighted and summed: a scalar function of the same arguments.
template <class F>
struct weighted_sum {
  const F& f;
  const Eigen::VectorXd& weights;
  template <class Vector, class = std::enable_if_t<accepts_vector<F, Vector>>>
  typename Vector::Scalar operator()(const Vector& x) const {
    using T = typename Vector::Scalar;
    const vector_of<T> y = as_vector<T>("check_gradient", f(x));
    T sum = 0;
    for (Eigen::Index i = 0; i < y.size(); ++i) sum += weights[i] * y[i];
    return sum;
  }
};

template <class F, class X>
class gradient_check {
 public:
  gradient_check(const F& f, const Eigen::MatrixBase<X>& x, const check_options& options)
      : f_(f), x_(point(x)), options_(options), random_(options.seed) {}

  gradient_report run() {
    finite_difference_jacobian(f_, x_, fx_, differences_, errors_);
    for (Eigen::Index i = 0; i < fx_.size(); ++i)
      if (!std::isfinite(fx_[i]))
        verdict_.fail(verdict::infinity, entry("f(x)", i), fx_[i], "finite", "derivatives are checked where f is smooth");
    if (!verdict_.report.ok) return verdict_.report;
    against_differences();
    for (int k = 0; k < options_.directions && x_.size() > 0; ++k) {
      const Eigen::VectorXd u = step(), v = step(), w = direction(fx_.size());
      if constexpr (accepts<F, X, dual<double>>) against_forward_mode(v, w);
      if constexpr (accepts<F, X, dual<var>>)
        if (options_.second_order) second_order(u, v, w);
    }
    return verdict_.report;
  }

 private:
  static std::string entry(const std::string& name, Eigen::Index i) { return name + "[" + std::to_string(i) + "]"; }
  /// The largest magnitude among the finite entries.
  static double largest(const Eigen::VectorXd& x) {
    double size = 0;
    for (Eigen::Index i = 0; i < x.size(); ++i)
      if (std::isfinite(x[i])) size = std::max(size, std::abs(x[i]));
    return size;
  }
  /// Rounding error that may remain of a derivative that is zero because its terms cancel, relative to the terms.
  static constexpr double unit_rounding = 64 * std::numeric_limits<double>::epsilon();
  static void store_worst(double& worst, double error) { worst = std::max(worst, error); }

  // Computed here, because the standard does not specify how its distributions use the generator's bits.
  Eigen::VectorXd direction(Eigen::Index n) {
    Eigen::VectorXd v(n);
    for (Eigen::Index i = 0; i < n; ++i) v[i] = static_cast<double>(random_() >> 11) * 0x1p-52 - 1;
    return v;
  }

  /// A direction that changes each coordinate in proportion to its magnitude.
  Eigen::VectorXd step() {
    Eigen::VectorXd v = direction(x_.size());
    for (Eigen::Index i = 0; i < v.size(); ++i)
      if (x_[i] != 0) v[i] *= std::abs(x_[i]);
    return v;
  }

  /// Whether a mode returns as many values as the others; the verdict records whether the values are the same.
  bool compare_values(const Eigen::VectorXd& fx, const char* mode) {
    if (fx.size() != fx_.size()) {
      verdict_.fail(verdict::infinity, "length of f(x)", static_cast<double>(fx.size()), std::to_string(fx_.size()),
                    std::string("f(x) of plain numbers has that length, but not in ") + mode);
      return false;
    }
    const double scale = largest(fx_);
    for (Eigen::Index i = 0; i < fx.size(); ++i)
      store_worst(verdict_.report.value_error,
                  verdict_.compare(fx[i], fx_[i], options_.product_tolerance * scale, scale, entry("f(x)", i),
                                   std::string("f(x) of plain numbers has that value, but not in ") + mode));
    return true;
  }

  void against_differences() {
    Eigen::VectorXd fx;
    Eigen::MatrixXd J;
    reverse_jacobian(f_, x_, fx, J);
    if (!compare_values(fx, "reverse mode")) return;
    for (Eigen::Index i = 0; i < J.rows(); ++i) {
      const std::string row = J.rows() == 1 ? "gradient" : "jacobian.row(" + std::to_string(i) + ")";
      store_worst(verdict_.report.difference_error, compare_row(J.row(i), {differences_.row(i), errors_.row(i)},
                                                                std::abs(fx_[i]), row, "as by finite differences of f"));
    }
  }

  /// Compares derivatives of one function with finite differences; returns the largest relative error.
  double compare_row(const Eigen::VectorXd& row, const difference& expected, double value, const std::string& name,
                     const std::string& hint) {
    double worst = 0;
    for (Eigen::Index j = 0; j < row.size(); ++j) {
      const double scale = std::max(largest(expected.value), value / std::max(1.0, std::abs(x_[j])));
      const double rounding = unit_rounding * value / (x_[j] == 0 ? 1.0 : std::abs(x_[j]));
      const double tolerance =
          options_.difference_factor * expected.error[j] + options_.product_tolerance * largest(expected.value) + rounding;
      if (expected.error[j] <= options_.largest_difference_error * scale)  // false for nan
        worst = std::max(worst, verdict_.compare(row[j], expected.value[j], tolerance, scale, entry(name, j), hint));
      else
        verdict_.fail(1, entry(name, j), row[j],
                      "comparable with finite differences, which are " + to_text(expected.value[j]) + " with an error of " +
                          to_text(expected.error[j]),
                      "choose a point around which f is smooth");
    }
    return worst;
  }

  void against_forward_mode(const Eigen::VectorXd& v, const Eigen::VectorXd& w) {
    Eigen::VectorXd fx, forward, backward;
    jvp(f_, x_, v, fx, forward);
    if (!compare_values(fx, "forward mode")) return;
    vjp(f_, x_, w, fx, backward);
    verdict_.report.forward_checked = true;
    store_worst(verdict_.report.product_error,
                compare_products(backward.dot(v), w.dot(forward), backward.norm() * v.norm(), w.norm() * forward.norm(),
                                 w.norm() * fx.norm(), "<J'w, v>", "that is <w, Jv>; reverse and forward mode disagree"));
  }

  /// Compares products with directions relative to x. `before`: the size of the differentiated function, whose rounding errors
  /// remain where derivatives cancel.
  double compare_products(double actual, double expected, double size, double other_size, double before, const char* what,
                          const char* hint) {
    const double scale = std::max(size, other_size), rounding = unit_rounding * before;
    return verdict_.compare(actual, expected, options_.product_tolerance * scale + rounding, std::max(scale, before), what,
                            hint);
  }

  void second_order(const Eigen::VectorXd& u, const Eigen::VectorXd& v, const Eigen::VectorXd& w) {
    const weighted_sum<F> sum{f_, w};
    double value = 0;
    Eigen::VectorXd Hu, Hv, fx, g;
    vjp(f_, x_, w, fx, g);
    hessian_times_vector(sum, x_, u, value, Hu);
    hessian_times_vector(sum, x_, v, value, Hv);
    verdict_.report.second_order_checked = true;
    store_worst(verdict_.report.symmetry_error,
                compare_products(Hu.dot(v), u.dot(Hv), Hu.norm() * v.norm(), u.norm() * Hv.norm(),
                                 g.norm() * std::max(u.norm(), v.norm()), "<Hu, v>",
                                 "that is <u, Hv>; second derivatives are not symmetric"));
    const auto gradients = [&](double t) {
      Eigen::VectorXd values, slope;
      const as_long_as<X, double> moved = x_ + t * v;
      vjp(f_, moved, w, values, slope);
      return slope;
    };
    store_worst(verdict_.report.curvature_error,
                compare_row(Hv, differentiate(gradients, 0.0, g), largest(g), "(Hv)", "as by finite differences of gradients"));
  }

  const F& f_;
  const as_long_as<X, double> x_;
  const check_options options_;
  std::mt19937_64 random_;
  verdict verdict_;
  Eigen::VectorXd fx_;
  Eigen::MatrixXd differences_, errors_;
};

}  // namespace detail

/// Checks the derivatives of f at x, of first and second order.
///
/// f: callable with a column vector of var and, for the other checks, of double, dual<double> and dual<var>; returns a scalar
/// or a vector. x: a point around which f is smooth. The function checks
///   - every entry of the Jacobian by reverse mode against finite differences of order 6, to a tolerance that follows from
///     their estimated error,
///   - the dot-product test <w, Jv> = <J'w, v> of forward against reverse mode in pseudo-random directions,
///   - for second derivatives of w'f: <u, Hv> = <Hu, v>, and Hv against finite differences of gradients,
///   - that all modes give the same values.
/// Throws the exceptions of f at x. Cost: about 30 calls of f for each entry of x. Pitfall: a lambda with `const auto&` claims
/// to accept every scalar; if the lambda does not compile with duals, name the accepted types.
template <class F, class X>
gradient_report check_gradient(const F& f, const Eigen::MatrixBase<X>& x, const check_options& options = {}) {
  static_assert(detail::accepts<F, X, var>, "f cannot be called with an Eigen column vector of agrad::var");
  return detail::gradient_check<F, X>(f, x, options).run();
}

/// Calls `check_gradient` and throws GradientError with the report's message if a check fails.
template <class F, class X>
void expect_gradient(const F& f, const Eigen::MatrixBase<X>& x, const check_options& options = {}) {
  gradient_report report = check_gradient(f, x, options);
  if (!report.ok) throw GradientError(std::move(report));
}

}  // namespace agrad
