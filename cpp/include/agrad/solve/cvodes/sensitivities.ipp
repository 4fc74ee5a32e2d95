// Definitions of solve/cvodes/sensitivities.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/sensitivities.hpp>

namespace agrad::detail {

AGRAD_INLINE int cvodes_sensitivities::rhs_of_all(int count, double t, N_Vector y, N_Vector, N_Vector* s, N_Vector* ds,
                                                  void* data, N_Vector, N_Vector) {
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

AGRAD_INLINE void cvodes_sensitivities::by_tangents(int count, double t, const double* y, N_Vector* s, N_Vector* ds) {
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

AGRAD_INLINE void cvodes_sensitivities::by_products(int count, double t, const double* y, N_Vector* s, N_Vector* ds) {
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

AGRAD_INLINE Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>> cvodes_sensitivities::across(std::vector<double>& of,
                                                                                               int width, int k) {
  return {of.data() + k, static_cast<Eigen::Index>(of.size()) / width, Eigen::InnerStride<>(width)};
}

}  // namespace agrad::detail
