// CVODES sensitivities: the right-hand side s' = J s + df/dp of all sensitivities at once, from an `ode_system`.
//
// Where the system has tangents, a call of `tangent` gives both terms for eight sensitivities at once. Otherwise J is the
// system's Jacobian, and the rows of df/dp are vjps with unit adjoints.
// Read next: solve/cvodes/forward.hpp.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <agrad/solve/cvodes/callbacks.hpp>

namespace agrad::detail {

/// User data of a CVODES problem with sensitivities: `initial` sensitivities to initial values, then a sensitivity to each
/// parameter; or each sensitivity along a direction of the parameters.
class cvodes_sensitivities : public cvodes_callbacks {
 public:
  cvodes_sensitivities(ode_system& of, Eigen::Index initial) : cvodes_callbacks(of), initial_(initial) {}

  long evaluations = 0;  // of the derivatives of all sensitivities together

  /// Sets the directions: sensitivity c is along column c of `parameters`.
  void follow(Eigen::MatrixXd parameters) { along_ = std::move(parameters), follows_ = true; }

  /// Pointer that CVODES passes to the callbacks, which expect the base class.
  void* user_data() { return static_cast<cvodes_callbacks*>(this); }

  static int rhs_of_all(int count, double t, N_Vector y, N_Vector, N_Vector* s, N_Vector* ds, void* data, N_Vector, N_Vector);

 private:
  static constexpr int lanes = 8;  // most directions of one call of `ode_system::tangent`

  Eigen::Map<Eigen::VectorXd> map(N_Vector v) const { return {N_VGetArrayPointer(v), system().states()}; }

  void by_tangents(int count, double t, const double* y, N_Vector* s, N_Vector* ds);

  void by_products(int count, double t, const double* y, N_Vector* s, N_Vector* ds);

  /// Entries of direction k, where the entries of `width` directions are interleaved.
  static Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>> across(std::vector<double>& of, int width, int k);

  Eigen::Index initial_;
  std::vector<double> states_, parameters_, slopes_;
  Eigen::MatrixXd J_, by_parameters_;
  Eigen::MatrixXd along_;  // the directions of the parameters, where follows_ is true
  bool follows_ = false;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/sensitivities.ipp>
#endif
