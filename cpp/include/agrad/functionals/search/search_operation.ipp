// Definitions of functionals/search/search_operation.hpp.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/functionals/search/search_operation.hpp>

namespace agrad {

AGRAD_INLINE double* search_operation::write_end(detail::search_end end, int steps, const Eigen::VectorXd& x,
                                                 const Eigen::MatrixXd& inverse, double* y) {
  const Eigen::Index n = x.size();
  *y++ = end == detail::search_end::found ? 1 : 0;
  *y++ = static_cast<double>(end);
  *y++ = steps;
  y = std::copy_n(x.data(), n, y);
  Eigen::Map<Eigen::MatrixXd> to(y, n, n);
  if (inverse.size() == 0)
    to.setZero();
  else
    to = inverse.transpose();  // row by row, as arrays of programs are
  return y + n * n;
}

// ---- roots

AGRAD_INLINE void root_operation::compute(detail::body_function& f, const double* start, double* y) const {
  const auto n = static_cast<Eigen::Index>(unknowns());
  const detail::equations of = [&](const Eigen::VectorXd& x, Eigen::VectorXd& value, Eigen::MatrixXd* jacobian) {
    value.resize(n);
    if (jacobian == nullptr) return f.value(x.data(), value.data());
    jacobian->resize(n, n);
    f.jacobian(x.data(), value.data(), jacobian->data());
  };
  const Eigen::VectorXd from = Eigen::Map<const Eigen::VectorXd>(start, n);
  const detail::root_search found = detail::search_root(method_, of, from, options_);
  double* rest = write_end(found.end, found.steps, found.x, found.inverse, y);
  std::copy_n(found.value.data(), n, rest);
}

AGRAD_INLINE void root_operation::write(portable_writer& to) const {
  write_body(to);
  to(static_cast<int>(method_), options_.step_tolerance, options_.residual_tolerance, options_.absolute_tolerance,
     options_.max_steps);
}

AGRAD_INLINE std::shared_ptr<const external_operation> root_operation::read(portable_reader& from) {
  std::size_t captured = 0;
  int method = 0;
  root_options options;
  std::shared_ptr<body> of = read_body(from, captured);
  from(method, options.step_tolerance, options.residual_tolerance, options.absolute_tolerance, options.max_steps);
  const bool is_known =
      method == static_cast<int>(detail::root_method::newton) || method == static_cast<int>(detail::root_method::powell);
  from.expect(of->input_size() > 0 && of->output_size() == of->input_size() && is_known && options.step_tolerance > 0 &&
                  options.residual_tolerance >= 0 && options.absolute_tolerance >= 0 && options.max_steps > 0,
              "a root");
  return std::make_shared<const root_operation>(std::move(of), static_cast<detail::root_method>(method), options, captured);
}

// ---- minima

namespace detail {

/// Returns the inverse of a Hessian that is positive definite up to rounding.
AGRAD_INLINE Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& hessian) {
  if (hessian.size() == 0) return {};
  const Eigen::LLT<Eigen::MatrixXd> factor(hessian);
  const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(hessian.rows(), hessian.cols());
  return factor.info() == Eigen::Success ? Eigen::MatrixXd(factor.solve(unit)) : Eigen::MatrixXd(hessian.inverse());
}

}  // namespace detail

AGRAD_INLINE void minimum_operation::compute(detail::body_function& f, const double* start, double* y) const {
  const auto n = static_cast<Eigen::Index>(unknowns());
  const bool has_derivatives = values() > 1;
  Eigen::VectorXd all(values()), at;  // where the body gives the derivatives, its values at the last x
  const detail::potential of = [&](const Eigen::VectorXd& x, Eigen::VectorXd* gradient, Eigen::MatrixXd* hessian) {
    if (gradient != nullptr) gradient->resize(n), hessian->resize(n, n);
    if (!has_derivatives && gradient != nullptr)
      f.hessian(x.data(), all[0], gradient->data(), hessian->data());
    else if (at.size() == 0 || at != x)
      at.resize(0), f.value(x.data(), all.data());
    if (!has_derivatives) return all[0];
    at = x;
    if (gradient != nullptr) *gradient = all.segment(1, n), *hessian = Eigen::Map<const Eigen::MatrixXd>(&all[1 + n], n, n);
    return all[0];
  };
  const Eigen::VectorXd from = Eigen::Map<const Eigen::VectorXd>(start, n);
  const detail::minimum_search found = detail::search_minimum(of, from, options_);
  write_end(found.end, found.steps, found.x, detail::inverse_of(found.hessian), y);
}

AGRAD_INLINE void minimum_operation::write(portable_writer& to) const {
  write_body(to);
  to(options_.relative_tolerance, options_.absolute_tolerance, options_.deviations, options_.max_steps);
}

AGRAD_INLINE std::shared_ptr<const external_operation> minimum_operation::read(portable_reader& from) {
  std::size_t captured = 0;
  detail::minimum_options options;
  std::shared_ptr<body> of = read_body(from, captured);
  from(options.relative_tolerance, options.absolute_tolerance, options.deviations, options.max_steps);
  const std::size_t n = of->input_size(), results = of->output_size();
  from.expect(n > 0 && n < 65536 && (results == 1 || results == 1 + n * (1 + n)) && options.relative_tolerance >= 0 &&
                  options.absolute_tolerance >= 0 && options.deviations >= 0 && options.max_steps > 0,
              "a minimum");
  return std::make_shared<const minimum_operation>(std::move(of), options, captured);
}

}  // namespace agrad
