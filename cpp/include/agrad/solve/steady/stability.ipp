// Definitions of solve/steady/stability.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/steady/stability.hpp>

namespace agrad::detail {

AGRAD_INLINE Eigen::VectorXd balancing(const Eigen::MatrixXd& J) {
  const Eigen::Index n = J.rows();
  Eigen::VectorXd factors = Eigen::VectorXd::Ones(n);
  bool goes_on = true;
  for (int round = 0; goes_on && round < 20; ++round) {
    goes_on = false;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double diagonal = std::abs(J(i, i));
      const double column = J.col(i).cwiseAbs().cwiseQuotient(factors).sum() * factors[i] - diagonal;
      const double row = J.row(i).transpose().cwiseAbs().cwiseProduct(factors).sum() / factors[i] - diagonal;
      if (!(column > 0 && row > 0)) continue;
      const double factor = std::exp2(std::round(std::log2(row / column) / 2));
      if (factor == 1) continue;
      factors[i] *= factor;
      goes_on = true;
    }
  }
  return factors;
}

}  // namespace agrad::detail
