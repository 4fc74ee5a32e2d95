// Definitions of functionals/hidden_markov.hpp.
#pragma once

#include <cmath>
#include <string>

#include <agrad/base/error.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/functionals/hidden_markov.hpp>

namespace agrad::detail {

[[noreturn]] AGRAD_COLD AGRAD_INLINE void fail_model_shape(std::string_view function, const char* name, Eigen::Index rows,
                                                           Eigen::Index cols, const std::string& condition) {
  throw ShapeError(std::string(function) + ": " + name + " is of shape (" + std::to_string(rows) + ", " + std::to_string(cols) +
                   "), but must " + condition);
}

/// Raises for `what` of rho, or of gamma's entries; row and col are -1 where the name has no such index.
[[noreturn]] AGRAD_COLD AGRAD_INLINE void fail_model_value(std::string_view function, const char* what, Eigen::Index row,
                                                           Eigen::Index col, double value, const char* condition) {
  std::string index = row < 0 ? "" : std::to_string(row);
  if (col >= 0) index += (row < 0 ? "" : ", ") + std::to_string(col);
  throw DomainError(std::string(function) + ": " + what + (index.empty() ? "" : "[" + index + "]") + " is " + to_text(value) +
                    ", but must " + condition);
}

AGRAD_INLINE void check_hidden_markov(std::string_view function, const Eigen::MatrixXd& log_omega, const Eigen::MatrixXd& gamma,
                                      const Eigen::VectorXd& rho) {
  const Eigen::Index k = log_omega.rows();
  if (log_omega.size() == 0) fail_model_shape(function, "log_omega", k, log_omega.cols(), "have a state and an observation");
  if (gamma.rows() != k || gamma.cols() != k)
    fail_model_shape(function, "gamma", gamma.rows(), gamma.cols(),
                     "be of shape (" + std::to_string(k) + ", " + std::to_string(k) + "), as log_omega says");
  if (rho.size() != k)
    throw ShapeError(std::string(function) + ": rho is of length " + std::to_string(rho.size()) + ", but must be of length " +
                     std::to_string(k) + ", as log_omega says");
  for (Eigen::Index j = 0; j < log_omega.cols(); ++j)
    for (Eigen::Index i = 0; i < k; ++i)
      if (!(log_omega(i, j) < -minus_infinity))
        fail_model_value(function, "log_omega", i, j, log_omega(i, j), "be a number or -inf");
  for (Eigen::Index row = -1; row < k; ++row) {  // -1 is rho
    const Eigen::VectorXd shares = row < 0 ? rho : Eigen::VectorXd(gamma.row(row));
    for (Eigen::Index j = 0; j < k; ++j)
      if (!(shares[j] >= 0)) fail_model_value(function, row < 0 ? "rho" : "gamma", row, j, shares[j], "not be negative");
    if (!(std::abs(shares.sum() - 1) <= 1e-8))
      fail_model_value(function, row < 0 ? "sum of rho" : "sum of gamma", row, -1, shares.sum(), "be 1");
  }
}

}  // namespace agrad::detail
