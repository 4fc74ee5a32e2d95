// Functor event: C++ callables of time, state and arguments, templated on their scalars, as an event and its reset.
//
// A single reverse pass on the tape computes the derivatives with respect to time, state and the arguments' variables.
// Read next: solve/ode_events.hpp.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/solve/system/arguments.hpp>
#include <agrad/solve/system/event.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/scope.hpp>

namespace agrad {

/// The reset of an event that keeps the state.
struct no_reset {};

/// An event at zeros of root(t, y, args...), and the state reset(t, y, args...) after the event. Both must accept t and y of
/// double and of var. direction, terminal: as in `event_rule`.
template <class Root, class Reset = no_reset>
struct ode_event {
  Root root;
  Reset reset = {};
  int direction = 0;
  long terminal = 0;
};
template <class Root>
ode_event(Root) -> ode_event<Root>;
template <class Root, class Reset>
ode_event(Root, Reset) -> ode_event<Root, Reset>;
template <class Root, class Reset>
ode_event(Root, Reset, int) -> ode_event<Root, Reset>;
template <class Root, class Reset>
ode_event(Root, Reset, int, long) -> ode_event<Root, Reset>;

namespace detail {

template <class Event, class... Args>
class functor_event final : public event_function {
 public:
  functor_event(std::string function, const Event& event, Eigen::Index states, const Args&... args)
      : function_(std::move(function)), event_(event), y_(states), args_(args...), values_(argument<Args>::values(args)...) {
    std::vector<tape::index_type> indices;
    (argument<Args>::collect(args, indices), ...);
    m_ = static_cast<Eigen::Index>(indices.size());
  }

  Eigen::Index parameters() const override { return m_; }

  double root(double t, const double* y) override {
    y_ = Eigen::Map<const Eigen::VectorXd>(y, y_.size());
    return std::apply([&](const auto&... p) { return static_cast<double>(event_.root(t, y_, p...)); }, values_);
  }

  double root_gradient(double t, const double* y, double& by_t, double* by_y, double* by_parameters) override {
    double value = 0;
    differentiate(t, y, by_parameters != nullptr, [&](const auto&... all) {
      const var root(event_.root(all...));
      value = root.val();
      tape::current().clear_adjoints();
      seed(root, 1.0);
    });
    read(by_t, by_y, by_parameters);
    return value;
  }

  bool resets() const override { return !std::is_same_v<decltype(event_.reset), no_reset>; }

  void reset(double t, const double* y, double* to) override {
    if constexpr (!std::is_same_v<decltype(event_.reset), no_reset>) {
      y_ = Eigen::Map<const Eigen::VectorXd>(y, y_.size());
      Eigen::Map<Eigen::VectorXd>(to, y_.size()) =
          std::apply([&](const auto&... p) { return checked(event_.reset(t, y_, p...)); }, values_);
    }
  }

  void reset_vjp(double t, const double* y, const double* lambda, double& t_adjoint, double* y_adjoint,
                 double* parameter_adjoint) override {
    if constexpr (!std::is_same_v<decltype(event_.reset), no_reset>) {
      differentiate(t, y, true, [&](const auto&... all) {
        const vector_of<var> after = checked(event_.reset(all...)).template cast<var>();
        tape::current().clear_adjoints();
        for (Eigen::Index i = 0; i < after.size(); ++i) seed(after[i], lambda[i]);
      });
      read(t_adjoint, y_adjoint, parameter_adjoint);
    }
  }

  bool has_tangents() const override { return true; }
  void reset_tangent(const event_point& at, double* to) override {
    const Eigen::Index n = y_.size();
    using rows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    const rows of_time(at.t_tangents, 1, at.width), of_state(at.y_tangents, n, at.width),
        of_parameters(at.parameter_tangents, m_, at.width);
    Eigen::VectorXd lambda = Eigen::VectorXd::Zero(n);
    Eigen::RowVectorXd by_y(n), by_parameters(m_);
    for (Eigen::Index i = 0; i < n; ++i) {
      double by_t = 0;
      lambda[i] = 1;
      reset_vjp(at.t, at.y, lambda.data(), by_t, by_y.data(), by_parameters.data());
      lambda[i] = 0;
      Eigen::Map<Eigen::RowVectorXd>(to + i * at.width, at.width) =
          by_t * of_time + by_y * of_state + by_parameters * of_parameters;
    }
  }

 private:
  template <class Result>
  auto checked(Result&& result) const {
    stored_argument_t<std::decay_t<Result>> after(std::forward<Result>(result));
    check_size(function_, "the result of reset", static_cast<std::size_t>(after.size()), static_cast<std::size_t>(y_.size()),
               "one for each state");
    return after;
  }

  static void seed(const var& x, double adjoint) { tape::current().seed(x.index(), adjoint); }

  /// Calls use(t, y, args...) with variables, runs the reverse pass and keeps the adjoints.
  template <class Use>
  void differentiate(double t, const double* y, bool with_parameters, const Use& use) {
    const isolated_scope own;
    const var time(t);
    vector_of<var> state(y_.size());
    for (Eigen::Index i = 0; i < y_.size(); ++i) state[i] = var(y[i]);
    if (with_parameters && m_ > 0) {
      argument<std::tuple<Args...>>::renew(args_, values_);
      std::apply([&](const auto&... p) { use(time, state, p...); }, args_);
    } else {
      std::apply([&](const auto&... p) { use(time, state, p...); }, values_);
    }
    tape::current().reverse();
    adjoints_.assign(static_cast<std::size_t>(1 + y_.size() + m_), 0.0);
    adjoints_[0] = time.adj();
    for (Eigen::Index i = 0; i < y_.size(); ++i) adjoints_[static_cast<std::size_t>(1 + i)] = state[i].adj();
    double* to = adjoints_.data() + 1 + y_.size();
    if (with_parameters && m_ > 0) argument<std::tuple<Args...>>::read_adjoints(args_, to);
  }
  void read(double& by_t, double* by_y, double* by_parameters) const {
    by_t = adjoints_[0];
    std::copy_n(adjoints_.begin() + 1, y_.size(), by_y);
    if (by_parameters != nullptr) std::copy_n(adjoints_.begin() + 1 + y_.size(), m_, by_parameters);
  }

  std::string function_;
  Event event_;
  Eigen::VectorXd y_;
  std::tuple<Args...> args_;
  std::tuple<argument_value_t<Args>...> values_;
  Eigen::Index m_ = 0;
  std::vector<double> adjoints_;
};

}  // namespace detail

}  // namespace agrad
