// Functor second: second derivatives of a C++ callable f(t, y, args...), from f on dual variables.
//
// f is evaluated on dual<var>, with a single direction as tangent. A reverse pass from values and tangents, in a separate
// scope, gives the tangent of the adjoint product along that direction; a reverse pass from the values alone gives the product.
// Read first: solve/system/functor/tangents.hpp. Read next: solve/system/functor/jacobians.hpp, solve/record/dual_node.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include <agrad/functionals/hessian.hpp>
#include <agrad/solve/system/functor/tangents.hpp>

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
      const auto slope = this->template slope_along<dual<var>>(at, k, on_tape{leaves_}, [](Eigen::Index, const auto&) {});
      const auto outputs = [&](const auto& use) {
        for (Eigen::Index i = 0; i < this->states(); ++i) {
          const dual<var> x(slope[i]);
          use(i, x.value, x.tangent[0]);
        }
      };
      this->reverse_outputs({at.width, k, lambda, lambda_tangents}, outputs, to);
    }
  }

 protected:
  template <class Scalar>
  static constexpr bool takes = has_own_call<F, vector_of<Scalar>, dual_argument_t<Args, Scalar>...>();
  static_assert(base::takes_duals && takes<dual<var>>,
                "second derivatives through a solve call f with y and args of dual<double, 4> and of dual<var>: write f for "
                "scalars of any "
                "type, with y by const& and args by const& or by value, or pass agrad::recorded(f)");

  /// Makes new variables and keeps them for their adjoints.
  struct on_tape {
    std::vector<var>& leaves;
    const var& operator()(double value) const {
      leaves.push_back(var(value));
      return leaves.back();
    }
    static var constant(double value) { return constant_var(value); }
  };

  /// f on duals of leaf(value) with tangents of direction k for states and parameters; lift(i, x) may modify state or parameter
  /// i.
  template <class D, class Leaf, class Lift>
  auto slope_along(const ode_point& at, int k, const Leaf& leaf, const Lift& lift) {
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

  /// Adjoints of outputs with tangents, and the index of the direction.
  struct seeds {
    int directions, k;
    const double *adjoints, *tangents;
  };

  /// Adds the outputs' adjoints, propagated to the leaves; outputs(use) calls use(e, value, tangent) for output e.
  template <class Outputs>
  void reverse_outputs(const seeds& w, const Outputs& outputs, const ode_adjoints& to) {
    tape& t = tape::current();
    t.clear_adjoints();
    outputs([&](Eigen::Index e, const var& value, const var& tangent) {
      seed(value, w.tangents[e * w.directions + w.k]);
      seed(tangent, w.adjoints[e]);
    });
    t.reverse();
    add_leaves(w.directions, w.k, to.y_tangents, to.parameter_tangents);
    if (w.k > 0) return;
    t.clear_adjoints();
    outputs([&](Eigen::Index e, const var& value, const var&) { seed(value, w.adjoints[e]); });
    t.reverse();
    add_leaves(1, 0, to.y, to.parameters);
  }

  void clear(int directions, const ode_adjoints& to) const {
    std::fill_n(to.y, this->states(), 0.0), std::fill_n(to.parameters, this->parameters(), 0.0);
    std::fill_n(to.y_tangents, this->states() * directions, 0.0);
    std::fill_n(to.parameter_tangents, this->parameters() * directions, 0.0);
  }

  std::vector<var> leaves_;  // states and parameters on the tape

 private:
  static void seed(const var& x, double adjoint) { tape::current().seed(x.index(), adjoint); }
  void add_leaves(int directions, int k, double* states, double* parameters) const {
    const Eigen::Index n = this->states();
    for (Eigen::Index i = 0; i < n; ++i) states[i * directions + k] += leaves_[static_cast<std::size_t>(i)].adj();
    for (Eigen::Index j = 0; j < this->parameters(); ++j)
      parameters[j * directions + k] += leaves_[static_cast<std::size_t>(n + j)].adj();
  }
};

}  // namespace agrad::detail
