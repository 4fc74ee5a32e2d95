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

  static int rhs_of_all(int count, double t, N_Vector y, N_Vector, N_Vector* s, N_Vector* ds, void* data, N_Vector, N_Vector) {
    auto& self = static_cast<cvodes_sensitivities&>(*static_cast<cvodes_callbacks*>(data));
    return self.fault.guard([&] {
      ++self.evaluations;
      const double* at = N_VGetArrayPointer(y);
      if (self.system().has_first_tangents())
        self.by_tangents(count, self.time(t), at, s, ds);
      else
        self.by_products(count, self.time(t), at, s, ds);
      for (int c = 0; c < count; ++c) {
        const int code = self.fault.expect_finite("the derivative of the sensitivity of y", t, self.map(ds[c]));
        if (code != succeeded) return code;
      }
      return succeeded;
    });
  }

 private:
  static constexpr int lanes = 8;  // most directions of one call of `ode_system::tangent`

  Eigen::Map<Eigen::VectorXd> map(N_Vector v) const { return {N_VGetArrayPointer(v), system().states()}; }

  void by_tangents(int count, double t, const double* y, N_Vector* s, N_Vector* ds) {
    const auto n = static_cast<std::size_t>(system().states()), m = static_cast<std::size_t>(system().parameters());
    for (int first = 0; first < count; first += lanes) {
      const int columns = std::min(lanes, count - first), width = columns == 1 ? 1 : lanes;
      const auto w = static_cast<std::size_t>(width);
      states_.assign(n * w, 0.0), parameters_.assign(m * w, 0.0), slopes_.resize(n * w);
      for (int k = 0; k < columns; ++k) {
        across(states_, width, k) = map(s[first + k]);
        if (follows_)
          across(parameters_, width, k) = along_.col(first + k);
        else if (first + k >= initial_)
          across(parameters_, width, k)[first + k - initial_] = 1;
      }
      system().tangent(width, t, y, states_.data(), parameters_.data(), slopes_.data());
      for (int k = 0; k < columns; ++k) map(ds[first + k]) = across(slopes_, width, k);
    }
  }

  void by_products(int count, double t, const double* y, N_Vector* s, N_Vector* ds) {
    const Eigen::Index n = system().states(), m = system().parameters();
    J_.resize(n, n), by_parameters_.resize(m, n);
    system().jacobian(t, y, J_);
    Eigen::VectorXd lambda = Eigen::VectorXd::Zero(n);
    for (Eigen::Index i = 0; i < n && m > 0; ++i) {
      lambda[i] = 1;
      system().vjp(t, y, lambda.data(), nullptr, by_parameters_.col(i).data());
      lambda[i] = 0;
    }
    for (int c = 0; c < count; ++c) {
      map(ds[c]).noalias() = J_ * map(s[c]);
      if (follows_)
        map(ds[c]).noalias() += by_parameters_.transpose() * along_.col(c);
      else if (c >= initial_)
        map(ds[c]) += by_parameters_.row(c - initial_).transpose();
    }
  }

  /// Entries of direction k, where the entries of `width` directions are interleaved.
  static Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>> across(std::vector<double>& of, int width, int k) {
    return {of.data() + k, static_cast<Eigen::Index>(of.size()) / width, Eigen::InnerStride<>(width)};
  }

  Eigen::Index initial_;
  std::vector<double> states_, parameters_, slopes_;
  Eigen::MatrixXd J_, by_parameters_;
  Eigen::MatrixXd along_;  // the directions of the parameters, where follows_ is true
  bool follows_ = false;
};

}  // namespace agrad::detail
