// Program DAE: a recorded residual as a `dae_system`.
//
// The program's inputs are t, the n states, their n derivatives and the m parameters, in this order; its outputs are the n
// residuals. A forward pass with tangents along (of_y e_j, of_yp e_j) computes eight columns of the weighted sum of both
// Jacobians; if an operation has no tangents, reverse passes compute the rows.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/sparse.hpp>
#include <agrad/solve/system/dae.hpp>
#include <agrad/solve/system/program/function.hpp>

namespace agrad {

class program_dae final : public dae_system {
 public:
  /// n states. Without `differentiated` no parameter is active: their values are constants of the solve.
  program_dae(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated);

  void set_parameters(const double* p) override { f_.set_parameters(p); }

  Eigen::Index states() const override { return n_; }
  Eigen::Index parameters() const override { return f_.parameters(); }

  AGRAD_INLINE void residual(const dae_point& at, double* r) override;

  AGRAD_INLINE void jacobian(const dae_point& at, double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) override;

  AGRAD_INLINE void vjp(const dae_point& at, const double* lambda, const dae_adjoints& to) override;

  AGRAD_INLINE void tangent(const dae_point& at, const dae_directions& along, double* r) override;

  AGRAD_INLINE std::optional<std::vector<bool>> known_derivatives() override;

  void parameter_values(double* p) const override { std::copy_n(f_.parameter_values(), parameters(), p); }

 private:
  const double* both(const dae_point& at);

  void jacobian_by_rows(double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J);

  program_function f_;  // its state is (y, y')
  Eigen::Index n_;
  std::optional<std::vector<bool>> derivatives_;
  std::vector<double> both_, out_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/program/dae.ipp>
#endif
