// What somebody writes for CVODES: value and gradient by the adjoint method, with kernels and Jacobian by hand.
//
// It allocates once, has a checkpoint every 250 steps as ode_adjoint_tol has, and restarts the backward problem at each output
// time, as the adjoint method has to. Newton's method with a dense or a banded matrix, or Adams with functional iteration.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "problems.hpp"

namespace ode_bench {

inline constexpr long steps_between_checkpoints = 250;

enum class variant { dense, banded, adams };

template <class System>
class by_hand {
 public:
  by_hand(System system, const problem& q, variant kind, double tolerance)
      : system_(std::move(system)), q_(q), kind_(kind), tolerance_(tolerance), states_(q.states, q.data.cols()) {
    SUNContext_Create(SUN_COMM_NULL, &context_);
    y_ = N_VNew_Serial(q.states, context_);
    lambda_ = N_VNew_Serial(q.states, context_);
    quadrature_ = N_VNew_Serial(q.parameters, context_);
    std::copy(q.y0.begin(), q.y0.end(), values(y_));
    memory_ = CVodeCreate(method(), context_);
    check(CVodeInit(memory_, rhs, 0, y_));
    check(CVodeSStolerances(memory_, tolerance, q.absolute_tolerance(tolerance)));
    check(CVodeSetUserData(memory_, this));
    check(CVodeSetMaxNumSteps(memory_, most_steps));
    if (kind == variant::adams) {
      check(CVodeSetNonlinearSolver(memory_, SUNNonlinSol_FixedPoint(y_, 0, context_)));
    } else {
      const SUNMatrix matrix = new_matrix();
      check(CVodeSetLinearSolver(memory_, new_solver(matrix), matrix));
      check(CVodeSetJacFn(memory_, jacobian));
    }
    check(CVodeAdjInit(memory_, steps_between_checkpoints, CV_HERMITE));
  }
  by_hand(const by_hand&) = delete;
  by_hand& operator=(const by_hand&) = delete;
  // One solver a process: what SUNDIALS holds goes with it.

  /// The loss, and its gradient with respect to p, then y0 where the problem has it.
  double operator()(Eigen::VectorXd& gradient) {
    std::copy(q_.y0.begin(), q_.y0.end(), values(y_));
    check(CVodeReInit(memory_, 0, y_));
    check(CVodeAdjReInit(memory_));
    for (Eigen::Index k = 0; k < states_.cols(); ++k) {
      double reached = 0;
      int checkpoints = 0;
      check(CVodeF(memory_, q_.times[static_cast<std::size_t>(k)], y_, &reached, CV_NORMAL, &checkpoints));
      states_.col(k) = Eigen::Map<Eigen::VectorXd>(values(y_), q_.states);
    }
    N_VConst(0, lambda_);
    N_VConst(0, quadrature_);
    const Eigen::MatrixXd residual = q_.scale.asDiagonal() * (states_ - q_.data);
    for (Eigen::Index k = states_.cols(); k-- > 0;) {
      Eigen::Map<Eigen::VectorXd>(values(lambda_), q_.states) += 2 * q_.scale.cwiseProduct(residual.col(k));
      start_backwards(q_.times[static_cast<std::size_t>(k)]);
      check(CVodeB(memory_, k > 0 ? q_.times[static_cast<std::size_t>(k - 1)] : 0, CV_NORMAL));
      double reached = 0;
      check(CVodeGetB(memory_, which_, &reached, lambda_));
      check(CVodeGetQuadB(memory_, which_, &reached, quadrature_));
    }
    gradient.head(q_.parameters) = Eigen::Map<Eigen::VectorXd>(values(quadrature_), q_.parameters);
    if (q_.with_initial_state) gradient.tail(q_.states) = Eigen::Map<Eigen::VectorXd>(values(lambda_), q_.states);
    return residual.squaredNorm();
  }

 private:
  static constexpr long most_steps = 2000000;

  int method() const { return kind_ == variant::adams ? CV_ADAMS : CV_BDF; }

  void start_backwards(double from) {
    if (which_ >= 0) {
      check(CVodeReInitB(memory_, which_, from, lambda_));
      check(CVodeQuadReInitB(memory_, which_, quadrature_));
      return;
    }
    check(CVodeCreateB(memory_, method(), &which_));
    check(CVodeInitB(memory_, which_, rhs_adjoint, from, lambda_));
    check(CVodeSStolerancesB(memory_, which_, tolerance_, tolerance_));
    check(CVodeSetUserDataB(memory_, which_, this));
    check(CVodeSetMaxNumStepsB(memory_, which_, most_steps));
    if (kind_ == variant::adams) {
      check(CVodeSetNonlinearSolverB(memory_, which_, SUNNonlinSol_FixedPoint(y_, 0, context_)));
    } else {
      const SUNMatrix matrix = new_matrix();
      check(CVodeSetLinearSolverB(memory_, which_, new_solver(matrix), matrix));
      check(CVodeSetJacFnB(memory_, which_, adjoint_jacobian));
    }
    check(CVodeQuadInitB(memory_, which_, quadrature_rhs, quadrature_));
    check(CVodeQuadSStolerancesB(memory_, which_, tolerance_, tolerance_));
    check(CVodeSetQuadErrConB(memory_, which_, SUNTRUE));
  }

  SUNMatrix new_matrix() {
    return kind_ == variant::banded ? SUNBandMatrix(q_.states, System::bandwidth, System::bandwidth, context_)
                                    : SUNDenseMatrix(q_.states, q_.states, context_);
  }
  SUNLinearSolver new_solver(SUNMatrix matrix) {
    return kind_ == variant::banded ? SUNLinSol_Band(y_, matrix, context_) : SUNLinSol_Dense(y_, matrix, context_);
  }

  static double* values(N_Vector v) { return N_VGetArrayPointer(v); }
  static by_hand& self(void* data) { return *static_cast<by_hand*>(data); }
  static void check(int code) {
    if (code < 0) throw std::runtime_error("CVODES stopped with code " + std::to_string(code));
  }

  static int rhs(double, N_Vector y, N_Vector to, void* data) {
    self(data).system_.kernel(values(y), self(data).q_.p.data(), values(to));
    return 0;
  }
  static int rhs_adjoint(double, N_Vector y, N_Vector lambda, N_Vector to, void* data) {
    self(data).system_.adjoint(values(y), self(data).q_.p.data(), values(lambda), values(to));
    N_VScale(-1, to, to);
    return 0;
  }
  static int quadrature_rhs(double, N_Vector y, N_Vector lambda, N_Vector to, void* data) {
    self(data).system_.parameters(values(y), self(data).q_.p.data(), values(lambda), values(to));
    N_VScale(-1, to, to);
    return 0;
  }
  /// Puts each entry of df/dy, or of its negative transpose.
  void put(const double* y, SUNMatrix to, bool back) {
    if (kind_ == variant::banded) {
      system_.jacobian(y, q_.p.data(), [&](Eigen::Index i, Eigen::Index j, double entry) {
        (back ? SM_ELEMENT_B(to, j, i) : SM_ELEMENT_B(to, i, j)) = back ? -entry : entry;
      });
    } else {
      system_.jacobian(y, q_.p.data(), [&](Eigen::Index i, Eigen::Index j, double entry) {
        (back ? SM_ELEMENT_D(to, j, i) : SM_ELEMENT_D(to, i, j)) = back ? -entry : entry;
      });
    }
  }
  static int jacobian(double, N_Vector y, N_Vector, SUNMatrix to, void* data, N_Vector, N_Vector, N_Vector) {
    self(data).put(values(y), to, false);
    return 0;
  }
  static int adjoint_jacobian(double, N_Vector y, N_Vector, N_Vector, SUNMatrix to, void* data, N_Vector, N_Vector, N_Vector) {
    self(data).put(values(y), to, true);
    return 0;
  }

  System system_;
  const problem& q_;
  variant kind_;
  double tolerance_;
  Eigen::MatrixXd states_;
  SUNContext context_ = nullptr;
  N_Vector y_ = nullptr, lambda_ = nullptr, quadrature_ = nullptr;
  void* memory_ = nullptr;
  int which_ = -1;
};

}  // namespace ode_bench
