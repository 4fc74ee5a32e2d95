// Definitions of solve/algebra/row_separation.hpp.
#pragma once

#include <Eigen/QR>

#include <agrad/base/inline.hpp>
#include <agrad/solve/algebra/row_separation.hpp>

namespace agrad::detail {

AGRAD_INLINE row_separation separate_rows(const Eigen::MatrixXd& m) {
  const auto inverse = [](double largest) { return largest > 0 ? 1 / largest : 1.0; };
  const Eigen::VectorXd scale = m.cwiseAbs().rowwise().maxCoeff().unaryExpr(inverse);
  Eigen::MatrixXd scaled = scale.asDiagonal() * m;
  scaled *= scaled.cwiseAbs().colwise().maxCoeff().unaryExpr(inverse).asDiagonal();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  qr.setThreshold(1e-12);
  row_separation found;
  found.rank = qr.compute(scaled).rank();
  if (found.rank < (m.array() != 0).rowwise().any().count())
    found.combinations = Eigen::MatrixXd(qr.householderQ()).transpose() * scale.asDiagonal();
  return found;
}

}  // namespace agrad::detail
