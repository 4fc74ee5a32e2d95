// Functor lanes: a functor system of few states and parameters, with adjoints from dual numbers.
//
// All directions of states and parameters side by side need one or two calls of f and no tape, so an adjoint product costs
// little more than a few evaluations of f.
// Read first: solve/system/functor/ode.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <agrad/solve/system/functor/lane_arguments.hpp>
#include <agrad/solve/system/functor/ode.hpp>

namespace agrad::detail {

template <class F, class... Args>
class functor_lanes : public functor_system<F, Args...> {
  using base = functor_system<F, Args...>;

 public:
  functor_lanes(std::string function, const F& f, Eigen::Index states, const Args&... args)
      : base(std::move(function), f, states, args...) {
    if constexpr (takes_duals) {
      const Eigen::Index directions = states + base::parameters();
      if (directions <= most) {
        for (Eigen::Index first = 0; first < directions; first += wide)
          passes_.emplace_back(states, this->values_, [first](Eigen::Index k) { return k - first; });
      }
    }
  }

  void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) override {
    if constexpr (takes_duals) {
      if (!passes_.empty()) return vjp_by_lanes(t, y, lambda, y_adjoint, parameter_adjoint);
    }
    base::vjp(t, y, lambda, y_adjoint, parameter_adjoint);
  }

 private:
  static constexpr int wide = 8;
  static constexpr Eigen::Index most = 2 * wide;  // directions; more of these are cheaper on the tape
  using pass = lane_arguments<wide, F, Args...>;  // of `wide` directions of states and parameters
  static constexpr bool takes_duals = pass::are_taken;

  void vjp_by_lanes(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) {
    const Eigen::Index n = this->states(), end = parameter_adjoint != nullptr ? n + this->parameters() : n;
    const auto evaluate = [&](const auto& states, const auto&... args) { return this->evaluated(t, states, args...); };
    for (Eigen::Index first = 0; first < end; first += wide) {
      const auto slope = passes_[static_cast<std::size_t>(first / wide)](y, evaluate);
      std::array<double, wide> sum{};
      for (Eigen::Index i = 0; i < n; ++i) {
        if (lambda[i] != 0) add(lambda[i], slope[i], sum);  // as on the tape: a zero adjoint cancels an infinite derivative
      }
      for (Eigen::Index j = first; j < std::min(first + wide, end); ++j) {
        double* to = j < n ? y_adjoint : parameter_adjoint - n;
        if (j >= n || y_adjoint != nullptr) to[j] = sum[static_cast<std::size_t>(j - first)];
      }
    }
  }
  static void add(double factor, const typename pass::scalar& x, std::array<double, wide>& sum) {
    for (std::size_t k = 0; k < wide; ++k) sum[k] += factor * x.tangent[k];
  }
  static void add(double, double, std::array<double, wide>&) {}

  std::vector<pass> passes_;  // empty: too many directions, or a callable that accepts no duals
};

}  // namespace agrad::detail
