// Functor tangents: directional derivatives of a C++ callable f(t, y, args...), from f on dual numbers.
//
// A callable has tangents if it accepts duals for y and for its arguments in the same call
// (solve/system/functor/dual_arguments.hpp). For other callables solvers use the Jacobian and adjoints.
// Read next: solve/ode_forward.hpp, solve/system/functor/second.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/solve/system/functor/lanes.hpp>

namespace agrad::detail {

/// A functor system with tangents if the callable accepts duals.
template <class F, class... Args>
class functor_tangents : public functor_lanes<F, Args...> {
  using base = functor_lanes<F, Args...>;
  using typename base::lanes;

 public:
  using base::base;

  void parameter_values(double* p) const override {
    const auto copy = [&p](double x) { return *p++ = x; };
    with_duals<double, Args...>(this->values_, copy, [](const auto&...) {});
  }

  bool rhs_with(double t, const double* y, const double* p, double* dydt) override {
    this->set_state(y);
    const auto next = [&p](double) { return *p++; };
    with_duals<double, Args...>(this->values_, next, [&](const auto&... values) {
      const auto slope = this->evaluated(t, this->y_, values...);
      for (Eigen::Index i = 0; i < this->states(); ++i) dydt[i] = slope[i];
    });
    return true;
  }

  bool has_first_tangents() const override { return takes_duals; }

  void tangent(int directions, double t, const double* y, const double* y_tangents, const double* parameter_tangents,
               double* dydt_tangents) override {
    if constexpr (takes_duals) {
      this->set_state(y);
      for (int first = 0; first < directions; first += base::width)
        some_tangents({directions, first, std::min(base::width, directions - first)}, t, y_tangents, parameter_tangents,
                      dydt_tangents);
    } else {
      base::tangent(directions, t, y, y_tangents, parameter_tangents, dydt_tangents);
    }
  }

 protected:
  static constexpr bool takes_duals = has_own_call<F, vector_of<lanes>, dual_argument_t<Args, lanes>...>();

 private:
  /// `count` of `directions` directions from `first` on.
  struct part {
    int directions, first, count;
  };

  void some_tangents(part of, double t, const double* y_tangents, const double* parameter_tangents, double* dydt_tangents) {
    const auto lift = [&of](double value, const double*& tangents) {
      lanes x(value);
      for (int k = 0; k < of.count; ++k) x.tangent[static_cast<std::size_t>(k)] = tangents[of.first + k];
      tangents += of.directions;
      return x;
    };
    seeded_.resize(this->states());
    for (Eigen::Index i = 0; i < this->states(); ++i) seeded_[i] = lift(this->y_[i], y_tangents);
    const auto next = [&](double value) { return lift(value, parameter_tangents); };
    with_duals<lanes, Args...>(this->values_, next, [&](const auto&... p) {
      const auto slope = this->evaluated(t, seeded_, p...);
      for (Eigen::Index i = 0; i < this->states(); ++i) {
        for (int k = 0; k < of.count; ++k)
          dydt_tangents[i * of.directions + of.first + k] = base::tangent_of(slope[i], static_cast<std::size_t>(k));
      }
    });
  }

  vector_of<lanes> seeded_;  // y with tangents
};

}  // namespace agrad::detail
