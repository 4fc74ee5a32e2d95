// Steady derivatives: the derivatives of a steady state with respect to y0 and the parameters.
//
// The steady state y solves g(y; p, y0) = 0, where L (y - y0) = 0 replaces, for each conserved total, one equation of f. With G
// the derivative of g, derivatives are
//     dy = G^-1 (L dy0 - dL (y - y0) in the replaced equations, -f_p dp in the others).
// The totals L change where their coefficients depend on parameters (solve/steady/moving_totals.hpp). Where G is singular, y is
// one of a line of steady states, of which the way from y0 chooses one, and G does not tell how that choice changes.
// Read next: solve/steady/solver.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/steady/conserved_totals.hpp>
#include <agrad/solve/steady/factors.hpp>
#include <agrad/solve/steady/moving_totals.hpp>
#include <agrad/solve/steady/options.hpp>

namespace agrad::detail {

/// A steady state, the factorised derivative of g there, and the totals; all of them have to outlive the derivatives.
template <class Real>
struct steady_solution {
  const std::string& function;
  ode_system& system;
  double time;
  const Eigen::VectorXd &y0, &y;
  const conserved_totals<Real>& totals;
  const steady_factors<Real>& factors;  // of G
  const std::vector<bool>& active;      // which parameters have derivatives; empty for all
};

/// A template, so that only its users compile the factorisations.
template <class Real>
class steady_derivatives {
 public:
  explicit steady_derivatives(const steady_solution<Real>& of)
      : of_(of), moving_(of.function, of.system, of.time, of.totals, of.y0, of.y - of.y0, of.active) {}

  /// Returns the gradient with respect to y0 and p of a scalar whose derivative with respect to the steady state is `adjoint`.
  ode_gradient reverse(const Eigen::VectorXd& adjoint) {
    Eigen::VectorXd w = of_.factors.solve_transposed(adjoint);
    const Eigen::VectorXd of_totals = of_.totals.extract(w);
    ode_gradient gradient{of_.totals.transposed(of_totals), 0, {}, Eigen::VectorXd(of_.system.parameters())};
    if (of_.system.parameters() > 0) of_.system.vjp(of_.time, of_.y.data(), w.data(), nullptr, gradient.parameters.data());
    gradient.parameters = -gradient.parameters;
    if (moving_.any()) gradient.parameters += moving_.transposed(of_totals);
    for (std::size_t j = 0; j < of_.active.size(); ++j)
      if (!of_.active[j]) gradient.parameters[static_cast<Eigen::Index>(j)] = 0;
    if (adjoint.allFinite() && gradient.parameters.hasNaN())
      fail_steady_derivative(of_.function, "the gradient with respect to a parameter is nan");
    return gradient;
  }

  /// Computes the steady state's derivatives along directions, `width` numbers for each state.
  void tangent(const ode_directions& along, double* states) {
    const int width = along.width;
    along_ = along;
    const std::vector<double> none(static_cast<std::size_t>(of_.y.size() * width), 0.0);
    tangents_.resize(none.size());
    of_.system.tangent(width, of_.time, of_.y.data(), none.data(), along.parameters.data(), tangents_.data());
    for (int k = 0; k < width; ++k) {
      auto column = across(tangents_.data(), width, k);
      Eigen::VectorXd right = -column;
      of_.totals.write(right, across(along_.initial_state.data(), width, k));
      if (moving_.any()) {
        const Eigen::Index m = of_.system.parameters();
        of_.totals.add(right, moving_.along(across(along_.parameters.data(), width, k, m)));
      }
      column = of_.factors.solve(right);
    }
    std::copy(tangents_.begin(), tangents_.end(), states);
  }

  /// After `tangent`: returns the gradient, with derivatives along the same directions in `back`, for an adjoint with tangents.
  ode_gradient second(const Eigen::VectorXd& adjoint, const double* adjoint_tangents, ode_directions& gradient_tangents) {
    if (moving_.any()) {
      throw DerivativeError(of_.function +
                            ": the coefficients of a conserved total depend on a parameter, and such steady states have first "
                            "derivatives only; write the right-hand side in amounts, whose totals are sums");
    }
    const int width = along_.width;
    const auto n = static_cast<std::size_t>(of_.y.size() * width);
    const auto m = static_cast<std::size_t>(of_.system.parameters() * width);
    Eigen::VectorXd w = of_.factors.solve_transposed(adjoint);
    const Eigen::VectorXd initial_state = of_.totals.transposed(of_.totals.extract(w));
    std::vector<double> w_tangents(n, 0.0), turned(n), ignored(static_cast<std::size_t>(of_.y.size()));
    gradient_tangents.width = width, gradient_tangents.initial_state.resize(n), gradient_tangents.parameters.resize(m);
    Eigen::VectorXd parameters(of_.system.parameters());
    const ode_point at{width, of_.time, of_.y.data(), tangents_.data(), along_.parameters.data()};
    const ode_adjoints to{ignored.data(), parameters.data(), turned.data(), gradient_tangents.parameters.data()};
    of_.system.second(at, w.data(), w_tangents.data(), to);  // turned: the change of J^T w along the directions
    for (int k = 0; k < width; ++k) {
      const Eigen::VectorXd changed = across(adjoint_tangents, width, k) - across(turned.data(), width, k);
      Eigen::VectorXd dw = of_.factors.solve_transposed(changed);
      across(gradient_tangents.initial_state.data(), width, k) = of_.totals.transposed(of_.totals.extract(dw));
      across(w_tangents.data(), width, k) = dw;
    }
    of_.system.second(at, w.data(), w_tangents.data(), to);
    for (double& x : gradient_tangents.parameters) x = -x;
    return {initial_state, 0, {}, -parameters};
  }

 private:
  /// Entries of direction k, where the entries of `width` directions are interleaved.
  template <class Number>
  static auto across(Number* of, int width, int k, Eigen::Index n) {
    using vector = std::conditional_t<std::is_const_v<Number>, const Eigen::VectorXd, Eigen::VectorXd>;
    return Eigen::Map<vector, 0, Eigen::InnerStride<>>(of + k, n, Eigen::InnerStride<>(width));
  }
  template <class Number>
  auto across(Number* of, int width, int k) const {
    return across(of, width, k, of_.y.size());
  }

  steady_solution<Real> of_;
  moving_totals<Real> moving_;
  ode_directions along_;
  std::vector<double> tangents_;
};

}  // namespace agrad::detail
