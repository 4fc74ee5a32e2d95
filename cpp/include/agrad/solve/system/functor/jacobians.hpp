// Functor Jacobians: derivatives of the Jacobian of a C++ callable f(t, y, args...), from f on duals of duals.
//
// The inner duals hold a few columns of the Jacobian, the outer dual the direction of the tangents.
// Read first: solve/system/functor/second.hpp. Read next: solve/one_step/rosenbrock_second.hpp, the user of this class.
#pragma once

#include <algorithm>
#include <vector>

#include <agrad/solve/system/functor/second.hpp>

namespace agrad::detail {

/// A functor system with derivatives of its Jacobian.
template <class F, class... Args>
class functor_jacobians final : public functor_second<F, Args...> {
  using base = functor_second<F, Args...>;

 public:
  using base::base;

  bool has_jacobian_adjoint() override { return true; }

  void jacobian_adjoint(double t, const double* y, const double* factors, double* y_adjoint,
                        double* parameter_adjoint) override {
    const auto n = static_cast<std::size_t>(this->states()), m = static_cast<std::size_t>(this->parameters());
    const std::vector<double> none(std::max(n * n, n + m), 0.0);
    std::vector<double> to(2 * (n + m));
    jacobian_second({1, t, y, none.data(), none.data()}, factors, none.data(),
                    {to.data(), to.data() + n, to.data() + n + m, to.data() + 2 * n + m});
    std::copy_n(to.data(), n, y_adjoint);
    if (parameter_adjoint != nullptr) std::copy_n(to.data() + n, m, parameter_adjoint);
  }

  void jacobian_tangent(const ode_point& at, double* entry_tangents) override {
    this->set_state(at.y);
    for (int k = 0; k < at.width; ++k) {
      for (Eigen::Index first = 0; first < this->states(); first += columns) {
        const auto slope = columns_along<double>(at, k, first, plain{});
        each_entry(first, [&](Eigen::Index e, Eigen::Index i, std::size_t column) {
          entry_tangents[e * at.width + k] = moving<double>(slope[i]).tangent[0].tangent[column];
        });
      }
    }
  }

  void jacobian_second(const ode_point& at, const double* factors, const double* factor_tangents,
                       const ode_adjoints& to) override {
    this->clear(at.width, to);
    this->set_state(at.y);
    for (int k = 0; k < at.width; ++k) {
      for (Eigen::Index first = 0; first < this->states(); first += columns) {
        const isolated_scope own;
        const auto slope = columns_along<var>(at, k, first, this->leaves_);
        const auto outputs = [&](const auto& use) {
          each_entry(first, [&](Eigen::Index e, Eigen::Index i, std::size_t column) {
            const moving<var> x(slope[i]);
            use(e, x.value.tangent[column], x.tangent[0].tangent[column]);
          });
        };
        this->leaves_.reverse({at.width, k, factors, factor_tangents}, false, this->states(), outputs, to);
      }
    }
  }

 private:
  static constexpr int columns = 4;
  /// Columns of the Jacobian, with tangents.
  template <class T>
  using moving = dual<dual<T, columns>>;
  static_assert(base::template takes<moving<double>> && base::template takes<moving<var>>,
                "second derivatives through Rodas4 call f with duals of duals; write f for scalars of any type, or pass "
                "agrad::recorded(f)");

  struct plain {
    double operator()(double value) const { return value; }
    static double constant(double value) { return value; }
  };

  template <class T, class Leaf>
  auto columns_along(const ode_point& at, int k, Eigen::Index first, Leaf&& leaf) {
    return this->template slope_along<moving<T>>(at, k, leaf, [&](Eigen::Index i, moving<T>& x) {
      if (i >= first && i < std::min(first + columns, this->states()))
        x.value.tangent[static_cast<std::size_t>(i - first)] = leaf.constant(1);
    });
  }

  /// Calls use(e, i, column) for each entry e of `columns` columns from `first` on; i is the entry's row.
  template <class Use>
  void each_entry(Eigen::Index first, const Use& use) const {
    const Eigen::Index n = this->states(), end = std::min(first + columns, n);
    if (this->pattern_ == nullptr) {
      for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = first; j < end; ++j) use(i * n + j, i, static_cast<std::size_t>(j - first));
    } else {
      Eigen::Index e = 0;
      for (Eigen::Index i = 0; i < n; ++i) {
        for (const auto j : this->pattern_->row(static_cast<std::size_t>(i))) {
          if (j >= first && j < end) use(e, i, static_cast<std::size_t>(j - first));
          ++e;
        }
      }
    }
  }
};

}  // namespace agrad::detail
