// Dual node: solves an initial value problem whose arguments contain dual numbers.
//
// For dual<double, K>, the solver computes tangents and nothing is recorded. For dual<var, K>, states and tangents are
// variables of one closure. With f(x, x') -> (y, y' = J x') and adjoints mu of y and lambda of y', the adjoint of x' is J^T
// lambda. The adjoint of x is J^T mu plus the derivative of lambda^T J x', which is the derivative of J^T lambda along x' with
// mu as the tangent of lambda: one call of `ode_solver::second` gives both. Each direction has its own lambda and takes its own
// call, but in a Hessian all columns have the same lambda and share a call.
// Read first: solve/record/tape_node.hpp, solve/record/dual_directions.hpp. Read next: solve/system/functor/second.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/solve/record/dual_directions.hpp>
#include <agrad/solve/record/tape_node.hpp>

namespace agrad {
class program_system;
}

namespace agrad::detail {

/// Members of a solve with dual<S, K>: those of a first-order node, and the tangents.
template <class S, int K, class System>
class dual_node : public ode_node<System> {
  using base = ode_node<System>;

 public:
  template <class Make, class... Args>
  dual_node(const std::string& function, const Make& make, ode_required required, dual_directions<S, K> directions,
            Args&&... args)
      : base(function, make, required, std::forward<Args>(args)...), directions_(std::move(directions)) {
    if (!(std::is_same_v<S, double> ? this->solver->has_first_tangents() : this->solver->has_tangents()))
      throw DerivativeError(function +
                            ": has first derivatives only with this method and right-hand side, but must have more; tsit5, " +
                            "rk45, ckrk, dop853, rodas4, rodas5p, automatic and steady states have second derivatives of " +
                            "every f that is not recorded");
  }

  /// Returns the solution with tangents. Where S is var, these are variables of the node, which the tape then owns.
  static std::vector<vector_of<dual<S, K>>> solution(std::unique_ptr<dual_node> node, const Eigen::MatrixXd& states) {
    const std::vector<Eigen::MatrixXd> tangents = node->propagate(states);
    const auto& moving = node->directions_.moving();
    const auto scalar = node->numberer(static_cast<std::size_t>(states.size()) * (1 + moving.size()));
    std::vector<vector_of<dual<S, K>>> to(static_cast<std::size_t>(states.cols()), vector_of<dual<S, K>>(states.rows()));
    for (Eigen::Index i = 0; i < states.size(); ++i) {
      dual<S, K>& x = to[static_cast<std::size_t>(i / states.rows())][i % states.rows()];
      x.value = scalar(states.data()[i], i);
      for (std::size_t a = 0; a < moving.size(); ++a)
        x.tangent[moving[a]] = scalar(tangents[a].data()[i], i + static_cast<Eigen::Index>(1 + a) * states.size());
    }
    if constexpr (std::is_same_v<S, var>) {
      tape::current().push(
          [owned = std::move(node), count = states.cols()](auto& adjoint) { owned->reverse_with_tangents(adjoint, count); });
    }
    return to;
  }

 private:
  /// Computes the tangents of all states in each nonzero direction.
  std::vector<Eigen::MatrixXd> propagate(const Eigen::MatrixXd& states) {
    std::vector<Eigen::MatrixXd> tangents(directions_.moving().size(), Eigen::MatrixXd(states.rows(), states.cols()));
    for (std::size_t from = 0; from < tangents.size(); from += lane_count) {
      const part of = group_of(from);
      const std::vector<double>& together = propagated(of, states.size());
      const auto width = static_cast<Eigen::Index>(of.count == 1 ? 1 : lane_count);
      for (Eigen::Index i = 0; i < states.size(); ++i)
        for (std::size_t a = 0; a < of.count; ++a)
          tangents[from + a].data()[i] = together[static_cast<std::size_t>(i * width) + a];
    }
    return tangents;
  }

  /// `count` nonzero directions from number `first`.
  struct part {
    std::size_t first, count;
  };
  /// Returns the group of directions that one call of the solver propagates together with direction a.
  part group_of(std::size_t a) const {
    const std::size_t from = a - a % lane_count;
    return {from, std::min<std::size_t>(lane_count, directions_.moving().size() - from)};
  }

  /// Returns the tangents of the states in these directions; the solver then has the same tangents.
  const std::vector<double>& propagated(part of, Eigen::Index states) {
    if (propagated_.first == of.first && propagated_.count == of.count) return together_;
    const ode_directions along = directions_.of(of.first, of.count);
    together_.resize(static_cast<std::size_t>(states) * static_cast<std::size_t>(along.width));
    propagated_.count = 0;  // in case `tangent` throws
    this->solver->tangent(along, together_.data());
    propagated_ = of;
    return together_;
  }

  /// Returns a function that makes scalars of S: numbers, or variables with `count` new indices.
  auto numberer(std::size_t count) {
    if constexpr (std::is_same_v<S, var>) {
      tape& t = tape::current();
      this->first = t.leaves(count);
      return [first = this->first, &t](double value, Eigen::Index i) {
        return tape_access::variable(value, first + static_cast<tape::index_type>(i), t);
      };
    } else {
      static_cast<void>(count);
      return [](double value, Eigen::Index) { return value; };
    }
  }

  /// Propagates the adjoints of the states and of their tangents to the arguments and to the arguments' tangents.
  template <class Adjoint>
  void reverse_with_tangents(const Adjoint& adjoint, Eigen::Index count) {
    Eigen::MatrixXd of_values = this->adjoints_from(adjoint, this->first, count);
    std::vector<std::pair<std::size_t, Eigen::MatrixXd>> of_tangents;
    for (std::size_t a = 0; a < directions_.moving().size(); ++a) {
      const auto begin = this->first + static_cast<tape::index_type>((1 + a) * static_cast<std::size_t>(of_values.size()));
      Eigen::MatrixXd each = this->adjoints_from(adjoint, begin, count);
      if (!each.isZero(0)) of_tangents.emplace_back(a, std::move(each));
    }
    if (side_by_side && of_tangents.size() == 1 && group_of(of_tangents[0].first).count >= few) {
      reverse_direction(adjoint, of_tangents[0].first, std::move(of_tangents[0].second));
      base::reverse(adjoint, count);
      return;
    }
    for (const auto& [a, lambda] : of_tangents) {
      propagated({a, 1}, lambda.size());
      ode_directions of_arguments;
      const ode_gradient g = this->solver->second(lambda, of_values.data(), of_arguments);
      add_to_values(adjoint, of_arguments, 0);
      add_to_tangents(adjoint, directions_.moving()[a], g);
      of_values.setZero();  // the first call has propagated all of them
    }
    if (of_tangents.empty()) base::reverse(adjoint, count);
  }

  /// Propagates the adjoint of the tangents in direction a alone, as in a column of a Hessian. Between columns, only the
  /// adjoints of the values differ, and these are propagated to first order; so one call of `second` serves a group of columns.
  template <class Adjoint>
  void reverse_direction(const Adjoint& adjoint, std::size_t a, Eigen::MatrixXd&& lambda) {
    const part group = group_of(a);
    if (!(shared_.first == group.first && shared_.lambda.size() == lambda.size() && shared_.lambda == lambda)) {
      propagated(group, lambda.size());
      const std::vector<double> still(static_cast<std::size_t>(lambda.size()) * lane_count, 0.0);
      shared_.lambda.resize(0, 0);  // in case `second` throws
      shared_.gradient = this->solver->second(lambda, still.data(), shared_.derivatives);
      shared_.first = group.first;
      shared_.lambda = std::move(lambda);
    }
    add_to_values(adjoint, shared_.derivatives, a - group.first);
    add_to_tangents(adjoint, directions_.moving()[a], shared_.gradient);
  }

  /// Adds the derivatives of a gradient in direction k.
  template <class Adjoint>
  void add_to_values(const Adjoint& adjoint, const ode_directions& derivatives, std::size_t k) const {
    const auto add = [&](const std::vector<tape::index_type>& to, const std::vector<double>& from) {
      for (std::size_t i = 0; i < to.size(); ++i)
        adjoint.at(to[i]) += from[i * static_cast<std::size_t>(derivatives.width) + k];
    };
    add(this->initial_state, derivatives.initial_state);
    add(this->system.parameter_indices(), derivatives.parameters);
  }

  template <class Adjoint>
  void add_to_tangents(const Adjoint& adjoint, std::size_t k, const ode_gradient& g) const {
    const auto& all = directions_.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i), n = g.initial_state.size();
      if (all[i][k].index() != 0) adjoint.at(all[i][k].index()) += at < n ? g.initial_state[at] : g.parameters[at - n];
    }
  }

  dual_directions<S, K> directions_;
  part propagated_{0, 0};         // directions of the solver's tangents
  std::vector<double> together_;  // the solver's tangents
  struct {
    std::size_t first;       // of a group of directions
    Eigen::MatrixXd lambda;  // adjoints of the tangents in one direction of the group
    ode_gradient gradient;
    ode_directions derivatives;
  } shared_{};  // of the last call of reverse_direction
  // For a program, one pass computes all directions of a group at the cost of a few; a functor is recorded once for each
  // direction anyway.
  static constexpr bool side_by_side = std::is_base_of_v<program_system, System>;
  static constexpr std::size_t few = 3;
};

template <class D>
struct dual_node_of;
template <class S, int K>
struct dual_node_of<dual<S, K>> {
  static_assert(std::is_same_v<S, double> || std::is_same_v<S, var>, "duals of duals do not pass through a solve");
  using directions = dual_directions<S, K>;
  template <class System>
  using type = dual_node<S, K, System>;
};

/// Returns the solution of a checked problem. System: the system for a callable. make(function, system, wanted) makes a solver,
/// possibly with tangents.
template <template <class, class...> class System, class Make, class F, class Y0, class... Args>
auto dual_solution(const std::string& function, const Make& make, const F& f, double t0, const std::vector<double>& times,
                   const Y0& y0, const Args&... args) {
  using kind = dual_node_of<promoted_t<Y0, Args...>>;
  using node_type = typename kind::template type<system_of_t<System, F, primal_argument_t<Args>...>>;
  using start = argument<primal_argument_t<Y0>>;
  const primal_argument_t<Y0> first = primal_argument(y0);
  const Eigen::VectorXd initial = start::values(first);
  auto node = std::make_unique<node_type>(function, make, ode_required{start::active, false, false},
                                          typename kind::directions(y0, args...), f, initial.size(), primal_argument(args)...);
  const Eigen::MatrixXd states = node->solver->integrate(initial, t0, times);
  start::collect(first, node->initial_state);
  return node_type::solution(std::move(node), states);
}

/// Does the same as solve_recorded, for duals among the arguments; see dual_solution.
template <template <class, class...> class System, class Make, class F, class Y0, class T0, class Time, class... Args>
auto solve_dual(const std::string& function, const Make& make, const F& f, const Y0& y0, const T0& t0,
                const std::vector<Time>& times, const Args&... args) {
  static_assert(
      !argument<T0>::active && !argument<Time>::active,
      "where y0 or args hold duals, t0 and times must be numbers: derivatives with respect to them are of first order");
  const std::vector<double> outputs(times.begin(), times.end());
  const auto start = static_cast<double>(t0);
  check_initial_value_problem(function, argument<primal_argument_t<Y0>>::values(primal_argument(y0)), start, outputs);
  return dual_solution<System>(function, make, f, start, outputs, y0, args...);
}

}  // namespace agrad::detail
