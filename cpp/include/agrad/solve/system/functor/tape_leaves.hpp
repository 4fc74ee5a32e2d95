// Tape leaves: the inputs of a callable on dual variables, and the reverse passes that give second derivatives.
//
// The callable is evaluated with one direction as tangent. A reverse pass from values and tangents gives the tangent of the
// adjoint product along that direction; a reverse pass from the values alone gives the product.
// Read next: solve/system/functor/second.hpp and solve/system/functor/event.hpp, the users.
#pragma once

#include <vector>

#include <agrad/functionals/hessian.hpp>
#include <agrad/solve/system/function.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/scope.hpp>

namespace agrad::detail {

/// Adjoints of outputs with tangents, and the index of the direction.
struct moving_seeds {
  int directions, k;
  const double *adjoints, *tangents;
};

class tape_leaves {
 public:
  void clear() { leaves_.clear(); }

  /// Makes a new variable and keeps it for its adjoint.
  const var& operator()(double value) {
    leaves_.push_back(var(value));
    return leaves_.back();
  }
  static var constant(double value) { return constant_var(value); }

  /// Adds the outputs' adjoints, propagated to the leaves; outputs(use) calls use(e, value, tangent) for output e. The leaves
  /// are time, if has_time, n states and the parameters.
  template <class Outputs>
  void reverse(const moving_seeds& w, bool has_time, Eigen::Index n, const Outputs& outputs, const ode_adjoints& to) const {
    tape& t = tape::current();
    t.clear_adjoints();
    outputs([&](Eigen::Index e, const var& value, const var& tangent) {
      seed(value, w.tangents[e * w.directions + w.k]);
      seed(tangent, w.adjoints[e]);
    });
    t.reverse_within_function();
    add(w.directions, w.k, has_time, n, {to.t_tangents, to.y_tangents, to.parameter_tangents});
    if (w.k > 0) return;
    t.clear_adjoints();
    outputs([&](Eigen::Index e, const var& value, const var&) { seed(value, w.adjoints[e]); });
    t.reverse_within_function();
    add(1, 0, has_time, n, {to.t, to.y, to.parameters});
  }

 private:
  struct parts {
    double *t, *y, *parameters;
  };

  static void seed(const var& x, double adjoint) { tape::current().seed(x.index(), adjoint); }

  void add(int directions, int k, bool has_time, Eigen::Index n, const parts& to) const {
    auto leaf = leaves_.begin();
    if (has_time && to.t != nullptr) to.t[k] += leaf->adj();
    if (has_time) ++leaf;
    for (Eigen::Index i = 0; i < n; ++i) to.y[i * directions + k] += (leaf++)->adj();
    for (Eigen::Index j = 0; leaf != leaves_.end(); ++j) to.parameters[j * directions + k] += (leaf++)->adj();
  }

  std::vector<var> leaves_;
};

}  // namespace agrad::detail
