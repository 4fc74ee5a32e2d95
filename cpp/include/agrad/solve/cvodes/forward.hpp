// CVODES forward: integrates an `ode_system` together with the sensitivities of its states.
//
// For n states there are n sensitivities to each wanted initial value and each active parameter, under error control. The
// solver stores the sensitivities at each output time, so a reverse pass is one product with them and all rows of a Jacobian
// cost one integration. Without a wanted derivative, no sensitivities are integrated.
// The right-hand side of a sensitivity is s' = J s + df/dp. Where the system has tangents, a call of `tangent` gives both terms
// for eight sensitivities at once. Otherwise J is the system's Jacobian, and the rows of df/dp are vjps with unit adjoints.
// Source: Hindmarsh and Serban, User Documentation for CVODES, section 2.6.
// Read next: solve/cvodes/session.hpp; solve/cvodes/adjoint.hpp, for few outputs of many parameters.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/solve/cvodes/forward_options.hpp>
#include <agrad/solve/cvodes/session.hpp>

namespace agrad {

class cvodes_forward final : public cvodes_session {
 public:
  /// `function` is the name that messages begin with. Throws ShapeError or DomainError for options that do not fit.
  cvodes_forward(const std::string& function, ode_system& system, const ode_forward_options& options, ode_required required)
      : cvodes_forward(function, system, options, required, initial_values(system, required),
                       initial_values(system, required) + system.parameters()) {}

  /// Makes a solver for sensitivities along `directions` directions, set by `follow` before `integrate`; the solver has no
  /// reverse pass.
  static std::unique_ptr<cvodes_forward> along(const std::string& function, ode_system& system,
                                               const ode_forward_options& options, Eigen::Index directions);

  /// Sets the directions: sensitivity c is along column c of both, for the initial state and the parameters.
  void follow(Eigen::MatrixXd initial_state, Eigen::MatrixXd parameters);
  Eigen::Index directions() const { return static_cast<Eigen::Index>(columns_.size()); }
  /// Returns, after `integrate`, the sensitivities: column c is sensitivity c of all states at all times.
  const Eigen::MatrixXd& sensitivities() const { return stored_; }

  AGRAD_INLINE const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0,
                                                const std::vector<double>& times) override;

  /// Computes the gradient, and tangents, as products with the sensitivities.
  AGRAD_INLINE ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override;
  AGRAD_INLINE void tangent(const ode_directions& along, double* states) override;

 private:
  cvodes_forward(const std::string& function, ode_system& system, const ode_forward_options& options, ode_required required,
                 Eigen::Index initial, Eigen::Index count);

  static Eigen::Index initial_values(const ode_system& system, ode_required required);
  static const ode_forward_options& checked(const std::string& function, const ode_system& system,
                                            const ode_forward_options& options);

  AGRAD_INLINE void attach(void* memory, bool is_new) override;
  AGRAD_INLINE void output(std::size_t k) override;

  // Sensitivities to initial values start as the identity; a sensitivity to t0 alone starts as the derivative of the state at
  // the old t0.
  void start_sensitivities();

  // A sensitivity to x is controlled as x dy/dx, in the units of y; where x is zero, as dy/dx. An x that is near zero by
  // accident would leave dy/dx without control, so the size of x counts as at least absolute / relative tolerance. A
  // sensitivity along a direction is controlled like the sensitivity to the argument with the largest relative move.
  void set_tolerances(void* memory);

  // Returns the largest relative move of an argument along direction c, for each state's smallest size.
  Eigen::ArrayXd largest_part(Eigen::Index c, const Eigen::VectorXd& sizes, const Eigen::ArrayXd& smallest) const;

  Eigen::VectorXd sizes_of_arguments() const;

  /// Computes the derivatives of all sensitivities.
  static int rhs_of_all(int count, double t, N_Vector y, N_Vector, N_Vector* s, N_Vector* ds, void* data, N_Vector, N_Vector);
  void by_tangents(int count, double t, const double* y, N_Vector* s, N_Vector* ds);
  void by_products(int count, double t, const double* y, N_Vector* s, N_Vector* ds);

  static constexpr int lanes = lane_count;  // most directions of one call of `ode_system::tangent`

  Eigen::Map<Eigen::VectorXd> map(N_Vector v) const { return {N_VGetArrayPointer(v), callbacks_.states()}; }
  /// Returns the entries of direction k, where the entries of `width` directions are interleaved.
  static Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>> across(std::vector<double>& of, int width, int k);

  Eigen::Index initial_;  // number of sensitivities to initial values, which precede the sensitivities to parameters
  long evaluations_ = 0;  // of the derivatives of all sensitivities together
  std::vector<sundials::vector_handle> sensitivities_;
  std::vector<N_Vector> columns_;  // the same vectors, as CVODES takes them

  bool follows_ = false;  // along directions
  Eigen::MatrixXd along_initial_, along_parameters_;
  Eigen::VectorXd first_slope_;
  std::vector<double> of_states_, of_parameters_, of_slopes_;
  Eigen::MatrixXd J_, by_parameters_;
  Eigen::MatrixXd stored_;  // column c: derivatives of the states with respect to argument c, in the order of states_
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/forward.ipp>
#endif
