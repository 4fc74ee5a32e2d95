// Functor tangents: directional derivatives of a C++ callable f(t, y, args...), from f on dual numbers.
//
// `dual_argument<T>` is what an argument's type becomes with dual numbers in the place of its variables, and how it is made of
// the values. A callable that takes duals for y and for its arguments at once has tangents; any other has not, and solvers
// then use its Jacobian and its adjoints.
// Read next: solve/ode_forward.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/solve/functor_system.hpp>

namespace agrad::detail {

/// Without variables: handed on as it is. `next(x)` is called for each active scalar x, in the order of `argument<T>::collect`, and
/// returns what is put in its place.
template <class T, class S, class = void>
struct dual_argument {
  using type = T;
  template <class Next>
  static const T& make(const T& x, const Next&) {
    return x;
  }
};
template <class T, class S>
using dual_argument_t = typename dual_argument<T, S>::type;

template <class S>
struct dual_argument<var, S> {
  using type = S;
  template <class Next>
  static S make(double x, const Next& next) {
    return next(x);
  }
};

template <class Passive, class Type>
struct dual_eigen_argument {
  using type = Type;
  template <class Next>
  static type make(const Passive& x, const Next& next) {
    type made(x.rows(), x.cols());
    for (Eigen::Index i = 0; i < x.size(); ++i) made.data()[i] = next(x.data()[i]);
    return made;
  }
};
template <class S, int R, int C, int O, int MR, int MC>
struct dual_argument<Eigen::Matrix<var, R, C, O, MR, MC>, S>
    : dual_eigen_argument<Eigen::Matrix<double, R, C, O, MR, MC>, Eigen::Matrix<S, R, C, O, MR, MC>> {};
template <class S, int R, int C, int O, int MR, int MC>
struct dual_argument<Eigen::Array<var, R, C, O, MR, MC>, S>
    : dual_eigen_argument<Eigen::Array<double, R, C, O, MR, MC>, Eigen::Array<S, R, C, O, MR, MC>> {};
template <class S>
struct dual_argument<matrix<var>, S> : dual_eigen_argument<Eigen::MatrixXd, Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>> {
};

template <class T, class S>
struct dual_argument<std::vector<T>, S, std::enable_if_t<argument<T>::active>> {
  using type = std::vector<dual_argument_t<T, S>>;
  template <class Next>
  static type make(const argument_value_t<std::vector<T>>& x, const Next& next) {
    type made;
    made.reserve(x.size());
    for (const auto& each : x) made.push_back(dual_argument<T, S>::make(each, next));
    return made;
  }
};

template <class S, class... T>
struct dual_argument<std::tuple<T...>, S, std::enable_if_t<(argument<T>::active || ...)>> {
  using type = std::tuple<dual_argument_t<T, S>...>;
  template <class Next>
  static type make(const std::tuple<argument_value_t<T>...>& x, const Next& next) {
    return std::apply([&](const auto&... each) { return type{dual_argument<T, S>::make(each, next)...}; }, x);
  }
};

/// A functor system with tangents, where the callable allows them.
template <class F, class... Args>
class functor_tangents final : public functor_system<F, Args...> {
  using base = functor_system<F, Args...>;
  using typename base::lanes;
  static constexpr bool takes_duals =
      std::is_invocable_v<const F&, double, const vector_of<lanes>&, const dual_argument_t<Args, lanes>&...>;

 public:
  using base::base;

  void parameter_values(double* p) const override {
    const auto copy = [&p](double x) { return *p++ = x; };
    visit_arguments<double>(copy, [](const auto&...) {});
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

 private:
  /// `count` of so many directions, from one on.
  struct part {
    int directions, first, count;
  };

  /// use(arguments...), with what `next` makes of their active scalars.
  template <class S, class Next, class Use>
  auto visit_arguments(const Next& next, const Use& use) const {
    return std::apply(
        [&](const argument_value_t<Args>&... values) {
          // Braces: from left to right, as the scalars are counted.
          return std::apply(use, std::tuple<dual_argument_t<Args, S>...>{dual_argument<Args, S>::make(values, next)...});
        },
        this->values_);
  }

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
    visit_arguments<lanes>(next, [&](const auto&... p) {
      const auto slope = this->checked(this->f_(t, seeded_, p...));
      for (Eigen::Index i = 0; i < this->states(); ++i) {
        for (int k = 0; k < of.count; ++k)
          dydt_tangents[i * of.directions + of.first + k] = base::tangent_of(slope[i], static_cast<std::size_t>(k));
      }
    });
  }

  vector_of<lanes> seeded_;  // y with its tangents
};

}  // namespace agrad::detail
