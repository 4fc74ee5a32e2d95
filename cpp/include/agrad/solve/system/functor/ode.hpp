// Functor system: a C++ callable f(t, y, args...) that is templated on its scalars, as an `ode_system`.
//
// Values come from f on doubles, the Jacobian from f on dual numbers, several columns at once, and adjoints from f on the tape,
// in a separate scope. If a callable accepts no dual numbers, its Jacobian comes from the tape as well.
// Read next: solve/ode_adjoint.hpp.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/dual/dual.hpp>
#include <agrad/program/sparse/recovery.hpp>
#include <agrad/solve/system/arguments.hpp>
#include <agrad/solve/system/ode.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/scope.hpp>

namespace agrad::detail {

template <class Signature, class F, class = void>
struct has_call : std::false_type {};
template <class Signature, class F>
struct has_call<Signature, F, std::void_t<decltype(static_cast<Signature>(&F::operator()))>> : std::true_type {};

template <class X>
using number_by_value = std::conditional_t<std::is_arithmetic_v<X>, X, const X&>;
template <class X>
using scalar_by_value = std::conditional_t<std::is_same_v<X, var> || is_dual<X>, X, number_by_value<X>>;

/// Calls of F with t and state vectors of types Y, all const references.
template <class F, class... Y>
struct calls_of {
  /// Returns whether F declares a call with exactly these types, as const references, as values, or with the smaller types by
  /// value. A test whether the call is possible does not suffice: Eigen accepts a vector of variables for a vector of doubles
  /// in such a test, and the conversion then fails to compile.
  template <class... Args>
  static constexpr bool have() {
    if constexpr (std::is_class_v<F> && std::is_invocable_v<const F&, double, const Y&..., const Args&...>) {
      using result = std::invoke_result_t<const F&, double, const Y&..., const Args&...>;
      return is_declared<result, const Args&...> || is_declared<result, Args...> ||
             is_declared<result, number_by_value<Args>...> || is_declared<result, scalar_by_value<Args>...>;
    }
    return false;
  }

 private:
  template <class Result, class... P>
  static constexpr bool is_declared = has_call<Result (F::*)(double, const Y&..., P...) const, F>::value ||
                                      has_call<Result (F::*)(const double&, const Y&..., P...) const, F>::value;
};

template <class F, class Y, class... Args>
constexpr bool has_own_call() {
  return calls_of<F, Y>::template have<Args...>();
}

/// The system that a callable becomes: System<F, Args...>, or another by specialisation
/// (solve/system/program/recorded_system.hpp).
template <template <class, class...> class System, class F, class... Args>
struct system_of {
  using type = System<F, Args...>;
};
template <template <class, class...> class System, class F, class... Args>
using system_of_t = typename system_of<System, F, Args...>::type;

/// F: takes t (a double), y (an Eigen column vector of double, var or dual) and the arguments, each as given or with all
/// variables replaced by doubles; returns a column vector of the promoted scalar.
template <class F, class... Args>
class functor_system : public ode_system {
 public:
  /// function: the name in errors. states: length of y.
  functor_system(std::string function, const F& f, Eigen::Index states, const Args&... args)
      : function_(std::move(function)), f_(f), y_(states), args_(args...), values_(argument<Args>::values(args)...) {
    (argument<Args>::collect(args, indices_), ...);
  }

  Eigen::Index states() const override { return y_.size(); }
  Eigen::Index parameters() const override { return static_cast<Eigen::Index>(indices_.size()); }

  /// Indices of the active parameters on their own tape.
  const std::vector<tape::index_type>& parameter_indices() const { return indices_; }

  void rhs(double t, const double* y, double* dydt) override {
    set_state(y);
    const auto slope = with_values(t, y_);
    static_assert(std::is_arithmetic_v<scalar_of<decltype(slope)>>,
                  "f of doubles must return doubles; pass variables as arguments instead of capturing them");
    for (Eigen::Index i = 0; i < states(); ++i) dydt[i] = slope[i];
  }

  void jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override {
    set_state(y);
    if constexpr (takes_dual_state)
      jacobian_by_duals(t, J);
    else
      jacobian_by_tape(t, J);
  }

  void use_pattern(std::shared_ptr<const csr_pattern> pattern) override {
    colours_ = colour_columns(*pattern);
    recovery_ = recover_columns(*pattern, colours_);
    ode_system::use_pattern(std::move(pattern));
  }

  void jacobian_entries(double t, const double* y, double* entries) override {
    if constexpr (takes_dual_state) {
      set_state(y);
      const auto seed = [&](std::uint32_t first, int k) {
        for (Eigen::Index i = 0; i < states(); ++i)
          lanes_[i].tangent[static_cast<std::size_t>(k)] =
              colours_.colour[static_cast<std::size_t>(i)] == first + static_cast<std::uint32_t>(k);
      };
      const auto read = [&](const auto& slope, std::uint32_t first, int k) {
        const auto number = [&](std::uint32_t i) { return tangent_of(slope[i], static_cast<std::size_t>(k)); };
        recovery_.recover(first + static_cast<std::uint32_t>(k), number, entries);
      };
      by_lanes(t, colours_.count, seed, read);
    } else {
      ode_system::jacobian_entries(t, y, entries);
    }
  }

  void jvp(double t, const double* y, const double* v, double* to) override {
    if constexpr (takes_dual_state) {
      set_state(y);
      const auto seed = [&](std::uint32_t, int) {
        for (Eigen::Index i = 0; i < states(); ++i) lanes_[i].tangent[0] = v[i];
      };
      const auto read = [&](const auto& slope, std::uint32_t, int) {
        for (Eigen::Index i = 0; i < states(); ++i) to[i] = tangent_of(slope[i], 0);
      };
      by_lanes(t, 1, seed, read);
    } else {
      ode_system::jvp(t, y, v, to);
    }
  }

  void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) override {
    set_state(y);
    if constexpr ((argument<Args>::active || ...) && takes_variables) {
      if (y_adjoint != nullptr && parameter_adjoint != nullptr) return both_adjoints(t, lambda, y_adjoint, parameter_adjoint);
    }
    if (y_adjoint != nullptr) state_adjoint(t, lambda, y_adjoint);
    if constexpr ((argument<Args>::active || ...)) {
      if (parameter_adjoint != nullptr) parameters_adjoint(t, lambda, parameter_adjoint);
    }
  }

 protected:
  static constexpr int width = 4;
  using lanes = dual<double, width>;
  static constexpr bool takes_dual_state =
      std::is_invocable_v<const F&, double, const vector_of<lanes>&, const argument_value_t<Args>&...>;
  static constexpr bool takes_variables = has_own_call<F, vector_of<var>, Args...>();
  template <class Vector>
  using scalar_of = std::decay_t<decltype(std::declval<const Vector&>()[0])>;

  void set_state(const double* y) { y_ = Eigen::Map<const Eigen::VectorXd>(y, y_.size()); }

  /// Calls f with plain arguments.
  template <class Y>
  auto with_values(double t, const Y& y) const {
    return std::apply([&](const auto&... p) { return evaluated(t, y, p...); }, values_);
  }

  /// Returns the result of f, evaluated while its operands exist; returned without a move, because a read of duals just written
  /// stalls.
  template <class Y, class... P>
  auto evaluated(double t, const Y& y, const P&... p) const {
    const stored_argument_t<std::decay_t<decltype(f_(t, y, p...))>> slope(f_(t, y, p...));
    check_size(function_, "the result of f", static_cast<std::size_t>(slope.size()), static_cast<std::size_t>(states()),
               "one for each state");
    return slope;
  }

  void jacobian_by_duals(double t, Eigen::Ref<Eigen::MatrixXd> J) {
    const auto seed = [&](std::uint32_t first, int k) {
      lanes_[first + static_cast<std::uint32_t>(k)].tangent[static_cast<std::size_t>(k)] = 1;
    };
    const auto read = [&](const auto& slope, std::uint32_t first, int k) {
      for (Eigen::Index i = 0; i < states(); ++i)
        J(i, first + static_cast<std::uint32_t>(k)) = tangent_of(slope[i], static_cast<std::size_t>(k));
    };
    by_lanes(t, static_cast<std::uint32_t>(states()), seed, read);
  }

  /// Calls f on y with `count` directions, `width` at a time: seed(first, k) sets direction first + k, read(slope, first, k)
  /// reads it.
  template <class Seed, class Read>
  void by_lanes(double t, std::uint32_t count, const Seed& seed, const Read& read) {
    lanes_.resize(states());
    for (std::uint32_t first = 0; first < count; first += width) {
      const int here = static_cast<int>(std::min<std::uint32_t>(width, count - first));
      for (Eigen::Index i = 0; i < states(); ++i) lanes_[i] = lanes(y_[i]);
      for (int k = 0; k < here; ++k) seed(first, k);
      const auto slope = with_values(t, lanes_);
      for (int k = 0; k < here; ++k) read(slope, first, k);
    }
  }
  static double tangent_of(const lanes& x, std::size_t k) { return x.tangent[k]; }
  static double tangent_of(double, std::size_t) { return 0; }

  void jacobian_by_tape(double t, Eigen::Ref<Eigen::MatrixXd> J) {
    const isolated_scope own;
    const vector_of<var> y = y_.template cast<var>();
    const auto slope = with_values(t, y);
    Eigen::VectorXd lambda = Eigen::VectorXd::Zero(states());
    for (Eigen::Index i = 0; i < states(); ++i) {
      lambda[i] = 1;
      reverse_from(slope, lambda.data());
      for (Eigen::Index j = 0; j < states(); ++j) J(i, j) = y[j].adj();
      lambda[i] = 0;
    }
  }

  void renew_state() {
    variables_.resize(states());
    for (Eigen::Index i = 0; i < states(); ++i) variables_[i] = var(y_[i]);
  }
  void read_state(double* y_adjoint) const {
    for (Eigen::Index i = 0; i < states(); ++i) y_adjoint[i] = variables_[i].adj();
  }

  void state_adjoint(double t, const double* lambda, double* y_adjoint) {
    const isolated_scope own;
    renew_state();
    reverse_from(with_values(t, variables_), lambda);
    read_state(y_adjoint);
  }

  /// Computes the adjoints of states and parameters in a single reverse pass, for f that accepts variables in both.
  void both_adjoints(double t, const double* lambda, double* y_adjoint, double* parameter_adjoint) {
    const isolated_scope own;
    renew_state();
    argument<std::tuple<Args...>>::renew(args_, values_);
    reverse_from(std::apply([&](const Args&... p) { return evaluated(t, variables_, p...); }, args_), lambda);
    read_state(y_adjoint);
    argument<std::tuple<Args...>>::read_adjoints(args_, parameter_adjoint);
  }

  void parameters_adjoint(double t, const double* lambda, double* parameter_adjoint) {
    const isolated_scope own;
    argument<std::tuple<Args...>>::renew(args_, values_);
    reverse_from(std::apply([&](const Args&... p) { return evaluated(t, y_, p...); }, args_), lambda);
    argument<std::tuple<Args...>>::read_adjoints(args_, parameter_adjoint);
  }

  /// Runs the reverse pass of the innermost scope, from a vector with the given adjoints.
  template <class Vector>
  static void reverse_from(const Vector& slope, const double* lambda) {
    tape& t = tape::current();
    t.clear_adjoints();
    if constexpr (std::is_same_v<scalar_of<Vector>, var>) {
      for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(slope.size()); ++i) {
        t.seed(slope[i].index(), lambda[i]);
      }
      t.reverse_within_function();
    }
  }

  std::string function_;
  F f_;
  Eigen::VectorXd y_;
  vector_of<lanes> lanes_;  // y as dual numbers
  colouring colours_;       // of the pattern's columns; columns of a colour share a direction
  recovery recovery_;
  vector_of<var> variables_;  // y on the tape
  std::tuple<Args...> args_;
  std::tuple<argument_value_t<Args>...> values_;
  std::vector<tape::index_type> indices_;
};

}  // namespace agrad::detail
