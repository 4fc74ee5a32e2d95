// Functor second: second derivatives of a C++ callable f(t, y, args...), from f on dual variables.
//
// f is evaluated on dual<var>, with a single direction as tangent, in a separate scope (solve/system/functor/tape_leaves.hpp).
// Read first: solve/system/functor/tangents.hpp. Read next: solve/system/functor/jacobians.hpp, solve/record/dual_node.hpp.
#pragma once

#include <algorithm>

#include <agrad/solve/system/functor/tangents.hpp>
#include <agrad/solve/system/functor/tape_leaves.hpp>

namespace agrad::detail {

/// A functor system with second derivatives.
template <class F, class... Args>
class functor_second : public functor_tangents<F, Args...> {
  using base = functor_tangents<F, Args...>;

 public:
  using base::base;

  bool has_tangents() const override { return true; }

  void second(const ode_point& at, const double* lambda, const double* lambda_tangents, const ode_adjoints& to) override {
    this->clear(at.width, to);
    this->set_state(at.y);
    for (int k = 0; k < at.width; ++k) {
      const isolated_scope own;
      const auto slope = this->template slope_along<dual<var>>(at, k, leaves_, [](Eigen::Index, const auto&) {});
      const auto outputs = [&](const auto& use) {
        for (Eigen::Index i = 0; i < this->states(); ++i) {
          const dual<var> x(slope[i]);
          use(i, x.value, x.tangent[0]);
        }
      };
      leaves_.reverse({at.width, k, lambda, lambda_tangents}, false, this->states(), outputs, to);
    }
  }

 protected:
  template <class Scalar>
  static constexpr bool takes = has_own_call<F, vector_of<Scalar>, dual_argument_t<Args, Scalar>...>();
  static_assert(base::takes_duals && takes<dual<var>>,
                "second derivatives through a solve call f with y and args of dual<double, 4> and of dual<var>: write f for "
                "scalars of any "
                "type, with y by const& and args by const& or by value, or pass agrad::recorded(f)");

  /// Calls f on duals of leaf(value) with tangents of direction k for states and parameters; lift(i, x) may modify state or
  /// parameter i.
  template <class D, class Leaf, class Lift>
  auto slope_along(const ode_point& at, int k, Leaf&& leaf, const Lift& lift) {
    const Eigen::Index n = this->states();
    Eigen::Index i = 0;
    leaves_.clear();
    const auto next = [&](double value) {
      const double along = i < n ? at.y_tangents[i * at.width + k] : at.parameter_tangents[(i - n) * at.width + k];
      D x(leaf(value));
      if (along != 0) x.tangent[0] = leaf.constant(along);
      lift(i++, x);
      return x;
    };
    vector_of<D> y(n);
    for (D& each : y) each = next(this->y_[i]);
    return with_duals<D, Args...>(this->values_, next, [&](const auto&... p) { return this->evaluated(at.t, y, p...); });
  }

  void clear(int directions, const ode_adjoints& to) const {
    std::fill_n(to.y, this->states(), 0.0), std::fill_n(to.parameters, this->parameters(), 0.0);
    std::fill_n(to.y_tangents, this->states() * directions, 0.0);
    std::fill_n(to.parameter_tangents, this->parameters() * directions, 0.0);
  }

  tape_leaves leaves_;  // states and parameters on the tape
};

}  // namespace agrad::detail
