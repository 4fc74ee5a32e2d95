// Rosenbrock, second order: tangents of the steps, and adjoints with tangents.
//
// Stages solve E U_s = r_s with E = I / (h g) - J (or M / (h g) - J), so their tangents solve E U_s' = r_s' + J' U_s, and the
// tangents of the adjoints solve E^T V_s' = v_s' + J'^T V_s. J' and the derivative of J's part of the adjoints come from the
// system, by the program of J's entries (program/derive/entries_program.hpp) or by duals of duals
// (solve/system/functor/jacobians.hpp). A system without derivatives of J's entries has first derivatives only.
// Read first: solve/one_step/rosenbrock.hpp; solve/one_step/explicit_runge_kutta_second.hpp does the same for explicit methods.
#pragma once

#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/rosenbrock.hpp>

namespace agrad {

class rosenbrock_second : public rosenbrock {
 public:
  using rosenbrock::rosenbrock;

  bool has_tangents() const override { return has_first_tangents() && system_.has_tangents(); }
  bool has_first_tangents() const override { return system_.has_first_tangents() && system_.has_jacobian_adjoint(); }

  AGRAD_INLINE void tangent(const ode_directions& along, double* states) override;

  AGRAD_INLINE ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                                   ode_directions& gradient_tangents) override;

 private:
  /// Numbers with tangents.
  struct pair {
    std::vector<double> value, tangents;
    pair() = default;
    pair(std::size_t n, std::size_t width) : value(n, 0.0), tangents(n * width, 0.0) {}
    void add(double factor, const pair& from);
    /// Adds vector `at` of several vectors, each as long as this vector.
    void add_vector(const pair& from, std::size_t at);
  };

  std::size_t width() const { return static_cast<std::size_t>(along_.width); }
  std::size_t count() const { return n_ * width(); }
  /// Returns the tangents of U_s.
  const double* solution_tangents(const double* directions, int s) const;

  /// Return the step's start, or a stage, as a point with directions.
  ode_point point(double t, const double* y, const double* directions) const;
  ode_point stage_point(int s, const one_step& at, const double* record, const double* directions);

  /// Computes J and J' at the step's start.
  void linearise_with_tangents(const one_step& at, const double* record, const double* directions);

  /// Adds J' u, or J'^T u, to `to`.
  void add_product(bool transposed, const double* u, double* to) const;

  /// Applies `solve` to the vector of each direction.
  template <class Solve>
  void each_direction(double* x, const Solve& solve) {
    one_.resize(n_);
    for (std::size_t k = 0; k < width(); ++k) {
      for (std::size_t i = 0; i < n_; ++i) one_[i] = x[i * width() + k];
      solve(one_.data());
      for (std::size_t i = 0; i < n_; ++i) x[i * width() + k] = one_[i];
    }
  }

  // ---- forward pass

  /// Propagates the tangents of a step's first state to the stages and to the step's last state.
  void propagate(const one_step& at, const double* record, double* directions, double* next);

  void propagate_time(const one_step& at, const double* record, const double* directions);

  // ---- reverse pass

  /// Propagates the adjoint of a step's end to the adjoint of its start, with tangents.
  void reverse_step_with_tangents(const one_step& at, const double* record, const double* directions);

  /// Does the same as `add_later`, with tangents.
  void add_later_with_tangents(int s, double h, pair& v);

  /// Computes to = (df/dy)' v with tangents; adds (df/dp)' v to the parameters' adjoint.
  void add_vjp_with_tangents(const ode_point& at, const pair& v, pair& to);

  void reverse_time_with_tangents(const one_step& at, const double* record, const double* directions, const pair& time,
                                  pair& begin);

  /// Adds the derivatives of sum_s V_s' J U_s; the factors of J's entries have tangents as well.
  void reverse_matrix_with_tangents(const one_step& at, const double* record, const double* directions, pair& begin);

  ode_directions along_;
  std::vector<double> step_tangents_;  // of each step: the tangents of its first state and of the U_s
  std::vector<double> moved_entries_, again_, by_time_tangents_, stage_tangents_, one_;
  pair l_, total_, of_record_;
  std::vector<pair> w_, v_;
};

/// A solver with a tableau as template argument, so that a type names the method: of first order for Base rosenbrock, of second
/// order for rosenbrock_second.
template <class Base, const rosenbrock_tableau& Tableau>
class rosenbrock_by final : public Base {
 public:
  rosenbrock_by(const std::string& function, ode_system& system, const step_options& options, ode_required required)
      : Base(Tableau, function, system, options, required) {}
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/one_step/rosenbrock_second.ipp>
#endif
