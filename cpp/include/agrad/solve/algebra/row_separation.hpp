// Row separation: combinations of the rows of a singular matrix M, of which some are zero.
//
// Where nonzero rows of M are dependent, as those of a capacitor between two nodes are, the constraints are combinations of
// equations. The rows of T M are independent or zero up to rounding.
#pragma once

#include <Eigen/Core>

namespace agrad::detail {

struct row_separation {
  Eigen::MatrixXd combinations;  // T, regular; empty where the nonzero rows of M are independent
  Eigen::Index rank = 0;         // how many rows of T M are independent: the first ones; the others are zero
};

/// Separates the rows of a square matrix, with rows and columns scaled to one size.
row_separation separate_rows(const Eigen::MatrixXd& m);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/algebra/row_separation.ipp>
#endif
