// Inverse of a symmetric positive definite matrix from its Cholesky factor, with a third of the work of solving for the
// identity: W = L^-1 and then W' W, both by halves, so that nearly all of it is products of blocks and no zero is multiplied.
#pragma once

#include <Eigen/Core>

namespace bench {

class spd_inverse {
 public:
  explicit spd_inverse(Eigen::Index n) : w_(n, n), room_(n, n) {}

  /// `factor` holds L in its lower triangle. `inverse`: n x n, all of it is written.
  template <class Inverse>
  void compute(const Eigen::MatrixXd& factor, Inverse& inverse) {
    if (factor.rows() <= small) {
      const auto l = factor.triangularView<Eigen::Lower>();
      inverse.setIdentity();
      l.solveInPlace(inverse);
      l.transpose().solveInPlace(inverse);
      return;
    }
    w_ = factor;
    invert(w_);
    multiply(w_, inverse);
    inverse.template triangularView<Eigen::StrictlyUpper>() = inverse.transpose();
  }

 private:
  using block = Eigen::Ref<Eigen::MatrixXd>;
  static constexpr Eigen::Index small = 32;

  /// [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1 C^-1]
  void invert(block w) {
    const Eigen::Index n = w.rows(), head = n / 2, tail = n - head;
    if (n <= small) {
      auto inverse = room_.topLeftCorner(n, n);
      inverse.setIdentity();
      w.triangularView<Eigen::Lower>().solveInPlace(inverse);
      w.triangularView<Eigen::Lower>() = inverse;
      return;
    }
    invert(w.topLeftCorner(head, head));
    invert(w.bottomRightCorner(tail, tail));
    auto corner = w.bottomLeftCorner(tail, head);
    auto product = room_.topLeftCorner(tail, head);
    product.noalias() = w.bottomRightCorner(tail, tail).triangularView<Eigen::Lower>() * corner;
    corner.noalias() = -product * w.topLeftCorner(head, head).triangularView<Eigen::Lower>();
  }

  /// Lower triangle of W' W: [A 0; B C]' [A 0; B C] = [A'A + B'B .; C'B C'C]
  void multiply(const Eigen::Ref<const Eigen::MatrixXd>& w, block g) {
    const Eigen::Index n = w.rows(), head = n / 2, tail = n - head;
    if (n <= small) {
      auto lower = room_.topLeftCorner(n, n);
      lower = w.triangularView<Eigen::Lower>();
      g.triangularView<Eigen::Lower>() = lower.transpose() * lower;
      return;
    }
    multiply(w.topLeftCorner(head, head), g.topLeftCorner(head, head));
    multiply(w.bottomRightCorner(tail, tail), g.bottomRightCorner(tail, tail));
    const auto corner = w.bottomLeftCorner(tail, head);
    g.topLeftCorner(head, head).selfadjointView<Eigen::Lower>().rankUpdate(corner.transpose());
    g.bottomLeftCorner(tail, head).noalias() =
        w.bottomRightCorner(tail, tail).transpose().triangularView<Eigen::Upper>() * corner;
  }

  Eigen::MatrixXd w_, room_;
};

}  // namespace bench
