// Lane arguments: a right-hand side's states and arguments as dual numbers with several directions side by side.
//
// The parameters' duals are constant during a solve and are made once; only the values of the states change.
// Read first: solve/system/functor/dual_arguments.hpp. Read next: solve/system/functor/lanes.hpp,
// solve/system/program/recorded_system.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <agrad/solve/system/functor/dual_arguments.hpp>
#include <agrad/solve/system/functor/ode.hpp>

namespace agrad::detail {

/// Whether a type contains a matrix on the tape, which has operations of its own.
template <class T>
struct holds_matrix : std::is_same<T, matrix<var>> {};
template <class T>
struct holds_matrix<std::vector<T>> : holds_matrix<T> {};
template <class T, std::size_t N>
struct holds_matrix<std::array<T, N>> : holds_matrix<T> {};
template <class... T>
struct holds_matrix<std::tuple<T...>> : std::disjunction<holds_matrix<T>...> {};
template <class A, class B>
struct holds_matrix<std::pair<A, B>> : std::disjunction<holds_matrix<A>, holds_matrix<B>> {};

/// Width: number of directions. F: the callable. Args: its arguments with variables.
template <int Width, class F, class... Args>
class lane_arguments {
 public:
  using scalar = dual<double, Width>;
  /// Whether F accepts these duals.
  static constexpr bool are_taken =
      !std::disjunction_v<holds_matrix<Args>...> && has_own_call<F, vector_of<scalar>, dual_argument_t<Args, scalar>...>();

  /// lane_of(k): the direction of state k, or of parameter k - states; none if the result is not in [0, Width).
  template <class LaneOf>
  lane_arguments(Eigen::Index states, const std::tuple<argument_value_t<Args>...>& values, const LaneOf& lane_of)
      : lane_arguments(states, values, seeder<LaneOf>{lane_of}) {}

  /// Calls evaluate(states, arguments...) with the states at these values.
  template <class Evaluate>
  auto operator()(const double* y, const Evaluate& evaluate) {
    for (Eigen::Index i = 0; i < y_.size(); ++i) y_[i].value = y[i];
    return std::apply([&](const auto&... args) { return evaluate(y_, args...); }, args_);
  }

 private:
  template <class LaneOf>
  struct seeder {
    const LaneOf& lane_of;
    mutable Eigen::Index at = 0;
    scalar operator()(double value) const {
      scalar x(value);
      const Eigen::Index lane = lane_of(at++);
      if (lane >= 0 && lane < Width) x.tangent[static_cast<std::size_t>(lane)] = 1;
      return x;
    }
  };
  template <class LaneOf>
  lane_arguments(Eigen::Index states, const std::tuple<argument_value_t<Args>...>& values, const seeder<LaneOf>& next)
      : y_(make_vector(states, next)), args_(with_duals<scalar, Args...>(values, next, as_tuple{})) {}
  template <class Next>
  static vector_of<scalar> make_vector(Eigen::Index states, const Next& next) {
    vector_of<scalar> y(states);
    for (scalar& each : y) each = next(0);
    return y;
  }

  vector_of<scalar> y_;
  std::tuple<dual_argument_t<Args, scalar>...> args_;
};

}  // namespace agrad::detail
