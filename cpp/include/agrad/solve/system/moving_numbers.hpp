// Moving numbers: numbers and vectors with tangents, and states that move with their times.
//
// Read next: solve/solver/moving_state.hpp.
#pragma once

#include <Eigen/Core>

namespace agrad {

/// Tangents of several numbers: a row for each number, with the directions side by side.
using tangent_rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A number, or a vector, with tangents.
struct moving_number {
  double value = 0;
  Eigen::RowVectorXd tangents;

  moving_number& operator+=(const moving_number& other) {
    value += other.value, tangents += other.tangents;
    return *this;
  }
};
struct moving_vector {
  Eigen::VectorXd value;
  tangent_rows tangents;

  static moving_vector zero(Eigen::Index n, Eigen::Index width) {
    return {Eigen::VectorXd::Zero(n), tangent_rows::Zero(n, width)};
  }
  bool is_zero() const { return value.isZero(0) && tangents.isZero(0); }
  moving_vector& operator+=(const moving_vector& other) {
    value += other.value, tangents += other.tangents;
    return *this;
  }
};

/// Products by the product rule.
inline moving_number operator*(const moving_number& a, const moving_number& x) {
  return {a.value * x.value, x.value * a.tangents + a.value * x.tangents};
}
inline moving_vector operator*(const moving_number& a, const moving_vector& x) {
  return {a.value * x.value, x.value * a.tangents + a.value * x.tangents};
}

/// A state that moves with its time: to a moving time (sign 1), or from a moving time (-1).
struct moving_place {
  int sign;
  double t;
  const Eigen::VectorXd& y;
  const tangent_rows& tangents;  // of the moved state
  const Eigen::RowVectorXd& by;  // of the time
};

}  // namespace agrad
