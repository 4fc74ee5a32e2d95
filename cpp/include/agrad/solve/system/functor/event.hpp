// Functor event: C++ callables of time, state and arguments, templated on their scalars, as an event, its reset and its delay.
//
// A single reverse pass on the tape computes the derivatives with respect to time, state and the arguments' variables; second
// derivatives come from the callable on dual variables (solve/system/functor/tape_leaves.hpp).
// Read next: solve/system/event.hpp; solve/ode_events.hpp.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/solve/system/event.hpp>
#include <agrad/solve/system/functor/dual_arguments.hpp>
#include <agrad/solve/system/functor/tape_leaves.hpp>

namespace agrad {

/// The reset of an event that keeps the state.
struct no_reset {};

/// An event that happens at its trigger.
struct no_delay {};

/// An event at zeros of root(t, y, args...), and the state reset(t, y, args...) after the event. All callables must accept t
/// and y of double and of var, for second derivatives also t, y and args of duals of variables. direction, terminal, firing: as
/// in `event_rule`. delay(t, y, args...): the time from the zero, where it is computed, to the event.
template <class Root, class Reset = no_reset, class Delay = no_delay>
struct ode_event {
  Root root;
  Reset reset = {};
  int direction = 0;
  long terminal = 0;
  event_firing firing = {};
  Delay delay = {};
};
template <class Root>
ode_event(Root) -> ode_event<Root>;
template <class Root, class Reset>
ode_event(Root, Reset) -> ode_event<Root, Reset>;
template <class Root, class Reset>
ode_event(Root, Reset, int) -> ode_event<Root, Reset>;
template <class Root, class Reset>
ode_event(Root, Reset, int, long) -> ode_event<Root, Reset>;
template <class Root, class Reset>
ode_event(Root, Reset, int, long, event_firing) -> ode_event<Root, Reset>;
template <class Root, class Reset, class Delay>
ode_event(Root, Reset, int, long, event_firing, Delay) -> ode_event<Root, Reset, Delay>;

namespace detail {

/// F: returns a number, or the state after a reset. Second: whether there are second derivatives.
template <bool Second, class F, class... Args>
class functor_function final : public differentiable_function {
 public:
  template <class Result>
  static constexpr bool is_vector = has_storage_kind<std::decay_t<Result>>;
  static constexpr bool is_number =
      !is_vector<std::invoke_result_t<const F&, double, const Eigen::VectorXd&, const argument_value_t<Args>&...>>;

  functor_function(std::string function, const F& f, Eigen::Index states, const Args&... args)
      : function_(std::move(function)), f_(f), y_(states), args_(args...), values_(argument<Args>::values(args)...) {
    std::vector<tape::index_type> indices;
    (argument<Args>::collect(args, indices), ...);
    m_ = static_cast<Eigen::Index>(indices.size());
  }

  Eigen::Index outputs() const override { return is_number ? 1 : y_.size(); }
  Eigen::Index parameters() const override { return m_; }

  void value(double t, const double* y, double* to) override {
    y_ = Eigen::Map<const Eigen::VectorXd>(y, y_.size());
    const auto write = [&](Eigen::Index i, const auto& x) { to[i] = static_cast<double>(x); };
    std::apply([&](const auto&... p) { each(f_(t, y_, p...), write); }, values_);
  }

  void vjp(double t, const double* y, const double* lambda, double* to, double& t_adjoint, double* y_adjoint,
           double* parameter_adjoint) override {
    const isolated_scope own;
    const bool by_parameters = parameter_adjoint != nullptr && m_ > 0;
    const var time(t);
    vector_of<var> state(y_.size()), result(outputs());
    for (Eigen::Index i = 0; i < y_.size(); ++i) state[i] = var(y[i]);
    const auto write = [&](Eigen::Index i, const auto& x) { result[i] = var(x); };
    const auto evaluate = [&](const auto&... p) { each(f_(time, state, p...), write); };
    if (by_parameters) {
      argument<std::tuple<Args...>>::renew(args_, values_);
      std::apply(evaluate, args_);
    } else {
      std::apply(evaluate, values_);
    }
    tape& all = tape::current();
    all.clear_adjoints();
    for (Eigen::Index i = 0; i < result.size(); ++i) to[i] = result[i].val(), all.seed(result[i].index(), lambda[i]);
    all.reverse_within_function();
    t_adjoint = time.adj();
    for (Eigen::Index i = 0; i < y_.size(); ++i) y_adjoint[i] = state[i].adj();
    if (by_parameters) argument<std::tuple<Args...>>::read_adjoints(args_, parameter_adjoint);
  }

  int order() const override { return Second ? 2 : 1; }

  /// Computes the Jacobian row by row, by products with unit adjoints.
  void tangent(const ode_point& at, double* to) override {
    const Eigen::Index n = y_.size(), rows = outputs();
    using given = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    const given of_time(time_tangents(at), 1, at.width), of_state(at.y_tangents, n, at.width),
        of_parameters(at.parameter_tangents, m_, at.width);
    Eigen::VectorXd lambda = Eigen::VectorXd::Zero(rows), value(rows);
    Eigen::RowVectorXd by_y(n), by_parameters(m_);
    for (Eigen::Index i = 0; i < rows; ++i) {
      double by_t = 0;
      lambda[i] = 1;
      vjp(at.t, at.y, lambda.data(), value.data(), by_t, by_y.data(), by_parameters.data());
      lambda[i] = 0;
      Eigen::Map<Eigen::RowVectorXd>(to + i * at.width, at.width) =
          by_t * of_time + by_y * of_state + by_parameters * of_parameters;
    }
  }

  void second(const ode_point& at, const double* lambda, const double* lambda_tangents, const ode_adjoints& to) override {
    if constexpr (Second)
      second_by_duals(at, lambda, lambda_tangents, to);
    else
      differentiable_function::second(at, lambda, lambda_tangents, to);
  }

 private:
  using moving = dual<var>;
  static const double* time_tangents(const ode_point& at) {
    static constexpr double still[lane_count] = {};
    return at.t_tangents != nullptr ? at.t_tangents : still;
  }

  /// Calls use(i, x) for each number of a result.
  template <class Result, class Use>
  void each(Result&& result, const Use& use) const {
    if constexpr (is_vector<Result>) {
      const stored_argument_t<std::decay_t<Result>> all(std::forward<Result>(result));
      check_size(function_, "the result of reset", static_cast<std::size_t>(all.size()), static_cast<std::size_t>(y_.size()),
                 "one for each state");
      for (Eigen::Index i = 0; i < y_.size(); ++i) use(i, all[i]);
    } else {
      use(0, result);
    }
  }

  void second_by_duals(const ode_point& at, const double* lambda, const double* lambda_tangents, const ode_adjoints& to) {
    static_assert(
        std::is_invocable_v<const F&, const moving&, const vector_of<moving>&, const dual_argument_t<Args, moving>&...>,
        "second derivatives through an event call root and reset with t, y and args of dual<var>: write both for "
        "scalars of any type");
    for (int k = 0; k < at.width; ++k) {
      const isolated_scope own;
      leaves_.clear();
      vector_of<moving> state(y_.size()), result(outputs());
      const auto next = [&](double value, const double* along) {
        moving x(leaves_(value));
        if (along[k] != 0) x.tangent[0] = leaves_.constant(along[k]);
        return x;
      };
      const moving time = next(at.t, time_tangents(at));
      for (Eigen::Index i = 0; i < state.size(); ++i) state[i] = next(at.y[i], at.y_tangents + i * at.width);
      const double* along = at.parameter_tangents;
      const auto parameter = [&](double value) {
        along += at.width;
        return next(value, along - at.width);
      };
      const auto write = [&](Eigen::Index i, const auto& x) { result[i] = moving(x); };
      with_duals<moving, Args...>(values_, parameter, [&](const auto&... p) { each(f_(time, state, p...), write); });
      const auto entries = [&](const auto& use) {
        for (Eigen::Index i = 0; i < result.size(); ++i) use(i, result[i].value, result[i].tangent[0]);
      };
      leaves_.reverse({at.width, k, lambda, lambda_tangents}, true, state.size(), entries, to);
    }
  }

  std::string function_;
  F f_;
  Eigen::VectorXd y_;
  std::tuple<Args...> args_;
  std::tuple<argument_value_t<Args>...> values_;
  Eigen::Index m_ = 0;
  tape_leaves leaves_;
};

/// Makes the event of an `ode_event`.
template <bool Second, class Root, class Reset, class Delay, class... Args>
std::unique_ptr<event_function> make_event(const std::string& function, const ode_event<Root, Reset, Delay>& event,
                                           Eigen::Index states, const Args&... args) {
  using root = functor_function<Second, Root, Args...>;
  static_assert(root::is_number, "the root of an event returns a number");
  event_function::function reset, delay;
  if constexpr (!std::is_same_v<Reset, no_reset>) {
    using after = functor_function<Second, Reset, Args...>;
    static_assert(!after::is_number, "the reset of an event returns the state after the event, a vector");
    reset = std::make_unique<after>(function, event.reset, states, args...);
  }
  if constexpr (!std::is_same_v<Delay, no_delay>) {
    using until = functor_function<Second, Delay, Args...>;
    static_assert(until::is_number, "the delay of an event returns a number");
    delay = std::make_unique<until>(function, event.delay, states, args...);
  }
  return std::make_unique<event_function>(std::make_unique<root>(function, event.root, states, args...), std::move(reset),
                                          states, true, std::move(delay));
}

}  // namespace detail

}  // namespace agrad
