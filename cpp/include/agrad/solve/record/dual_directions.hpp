// Dual directions: the arguments of a solve without their tangents, and the tangents as directions of a solver.
//
// Without tangents a dual is a variable, of its value or, where that is a number, a constant one: so a system needs to know of
// variables only. Variables beside duals have tangents of zero.
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

/// The argument with variables in the place of its duals.
template <class T>
auto primal_argument(const T& x) {
  return active_scalars<T>::template make<var>(x, without_tangents{});
}
template <class T>
using primal_argument_t = decltype(primal_argument(std::declval<const T&>()));

/// The tangents of n states and of all active scalars of the other arguments, S being double or var.
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

  /// Of the states, then of the parameters.
  const std::vector<tangents>& all() const { return all_; }
  /// The directions in which anything moves.
  const std::vector<std::size_t>& moving() const { return moving_; }

  /// `count` of them from one on, one alone or lane_count side by side.
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
