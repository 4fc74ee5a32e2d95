// Dual directions: takes the tangents out of the arguments of a solve and passes them to a solver as directions.
//
// Without its tangents, a dual becomes a variable: its value or, where the value is a number, a constant variable. So systems
// need to support variables only. Variables beside duals have zero tangents.
// Read first: solve/system/arguments.hpp. Read next: solve/record/dual_node.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/functionals/hessian.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/arguments.hpp>

namespace agrad::detail {

struct without_tangents {
  const var& operator()(const var& x) const { return x; }
  template <int K>
  const var& operator()(const dual<var, K>& x) const {
    return x.value;
  }
  template <int K>
  var operator()(const dual<double, K>& x) const {
    return constant_var(x.value);
  }
};

/// Returns the argument with duals replaced by variables.
template <class T>
auto primal_argument(const T& x) {
  return active_scalars<T>::template make<var>(x, without_tangents{});
}
template <class T>
using primal_argument_t = decltype(primal_argument(std::declval<const T&>()));

/// The tangents of n states and of all active scalars of the other arguments; S is double or var.
template <class S, int K>
class dual_directions {
 public:
  using tangents = std::array<S, static_cast<std::size_t>(K)>;

  template <class Y0, class... Args>
  dual_directions(const Y0& y0, const Args&... args) : states_(static_cast<std::size_t>(y0.size())) {
    active_scalars<Y0>::each(collector{all_}, y0);
    all_.resize(states_);
    (active_scalars<Args>::each(collector{all_}, args), ...);
    for (std::size_t k = 0; k < static_cast<std::size_t>(K); ++k)
      for (const tangents& each : all_)
        if (!is_constant_zero(each[k])) {
          moving_.push_back(k);
          break;
        }
  }

  /// Tangents of the states, then of the parameters.
  const std::vector<tangents>& all() const { return all_; }
  /// Numbers of the directions in which any tangent is nonzero.
  const std::vector<std::size_t>& moving() const { return moving_; }

  /// Returns `count` nonzero directions from number `first`, with a width of 1 or, interleaved, of lane_count.
  ode_directions of(std::size_t first, std::size_t count) const {
    const std::size_t width = count == 1 ? 1 : lane_count;
    ode_directions d{static_cast<int>(width), std::vector<double>(states_ * width),
                     std::vector<double>((all_.size() - states_) * width)};
    for (std::size_t i = 0; i < all_.size(); ++i) {
      double* to = i < states_ ? d.initial_state.data() + i * width : d.parameters.data() + (i - states_) * width;
      for (std::size_t k = 0; k < count; ++k) to[k] = number(all_[i][moving_[first + k]]);
    }
    return d;
  }

 private:
  struct collector {
    std::vector<tangents>& all;
    void operator()(const var&) const { all.emplace_back(); }
    void operator()(const matrix<var>& x) const { all.resize(all.size() + static_cast<std::size_t>(x.size())); }
    void operator()(const dual<S, K>& x) const { all.push_back(x.tangent); }
  };
  static double number(double x) { return x; }
  static double number(const var& x) { return x.val(); }

  std::size_t states_;
  std::vector<tangents> all_;
  std::vector<std::size_t> moving_;
};

}  // namespace agrad::detail
