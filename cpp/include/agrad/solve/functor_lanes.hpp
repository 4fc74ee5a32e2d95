// Functor lanes: a functor system of few states and parameters, whose products with adjoints come from dual numbers.
//
// With all directions of states and parameters side by side in one or two calls of f, nothing has to be recorded, and a product
// costs little more than a few evaluations of f. The parameters' duals are made once, as they stay what they are in a solve.
// Read first: solve/functor_system.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/solve/dual_arguments.hpp>
#include <agrad/solve/functor_system.hpp>

namespace agrad::detail {

/// Whether a type is a matrix on the tape, which has operations of its own.
template <class T>
struct holds_matrix : std::is_same<T, matrix<var>> {};
template <class T>
struct holds_matrix<std::vector<T>> : holds_matrix<T> {};
template <class... T>
struct holds_matrix<std::tuple<T...>> : std::disjunction<holds_matrix<T>...> {};

template <class F, class... Args>
class functor_lanes : public functor_system<F, Args...> {
  using base = functor_system<F, Args...>;

 public:
  functor_lanes(std::string function, const F& f, Eigen::Index states, const Args&... args)
      : base(std::move(function), f, states, args...) {
    if constexpr (takes_duals) {
      const Eigen::Index directions = states + base::parameters();
      if (directions <= most) {
        for (Eigen::Index first = 0; first < directions; first += wide) passes_.push_back(new_pass(first));
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
  static constexpr Eigen::Index most = 2 * wide;  // directions; more of them are cheaper on the tape
  using wide_lanes = dual<double, wide>;
  static constexpr bool takes_duals = !std::disjunction_v<holds_matrix<Args>...> &&
                                      has_own_call<F, vector_of<wide_lanes>, dual_argument_t<Args, wide_lanes>...>();

  /// f's arguments with directions [first, first + wide) of the states, then the parameters.
  struct pass {
    vector_of<wide_lanes> y;
    std::tuple<dual_argument_t<Args, wide_lanes>...> args;
  };

  pass new_pass(Eigen::Index first) const {
    Eigen::Index at = 0;
    const auto next = [&](double value) {
      wide_lanes x(value);
      if (at >= first && at < first + wide) x.tangent[static_cast<std::size_t>(at - first)] = 1;
      ++at;
      return x;
    };
    vector_of<wide_lanes> y(this->states());
    for (wide_lanes& each : y) each = next(0);
    const auto kept = [](const auto&... args) { return std::tuple<std::decay_t<decltype(args)>...>(args...); };
    return {std::move(y), with_duals<wide_lanes, Args...>(this->values_, next, kept)};
  }

  void vjp_by_lanes(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) {
    const Eigen::Index n = this->states(), end = parameter_adjoint != nullptr ? n + this->parameters() : n;
    for (Eigen::Index first = 0; first < end; first += wide) {
      pass& p = passes_[static_cast<std::size_t>(first / wide)];
      for (Eigen::Index i = 0; i < n; ++i) p.y[i].value = y[i];
      const auto slope = std::apply([&](const auto&... args) { return this->checked(this->f_(t, p.y, args...)); }, p.args);
      std::array<double, wide> sum{};
      for (Eigen::Index i = 0; i < n; ++i) {
        if (lambda[i] != 0) add(lambda[i], slope[i], sum);  // as on the tape: nothing of an infinite derivative
      }
      for (Eigen::Index j = first; j < std::min(first + wide, end); ++j) {
        double* to = j < n ? y_adjoint : parameter_adjoint - n;
        if (j >= n || y_adjoint != nullptr) to[j] = sum[static_cast<std::size_t>(j - first)];
      }
    }
  }
  static void add(double factor, const wide_lanes& x, std::array<double, wide>& sum) {
    for (std::size_t k = 0; k < wide; ++k) sum[k] += factor * x.tangent[k];
  }
  static void add(double, double, std::array<double, wide>&) {}

  std::vector<pass> passes_;  // none: too many directions, or a callable that takes no duals
};

}  // namespace agrad::detail
