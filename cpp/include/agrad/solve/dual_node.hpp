// Dual node: the solution of an initial value problem whose arguments hold dual numbers.
//
// With dual<double, K> it is the solver's tangents, and nothing is recorded. With dual<var, K> states and tangents are variables
// of one closure. With f(x, x') -> (y, y' = J x') and adjoints mu of y and lambda of y', the adjoint of x' is J^T lambda, and
// that of x is J^T mu plus the derivative of lambda^T J x', which is the derivative of J^T lambda along x' where lambda itself
// moves by mu: one call of `ode_solver::second` gives both. Each direction has a lambda of its own, so each has its own call.
// Read first: solve/ode_node.hpp, solve/dual_directions.hpp. Read next: solve/functor_second.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/dual_directions.hpp>
#include <agrad/solve/ode_node.hpp>

namespace agrad::detail {

/// What is kept of a solve with duals, dual<S, K>: whatever a first-order node keeps, and the tangents.
template <class S, int K, class System>
class dual_node : public ode_node<System> {
  using base = ode_node<System>;

 public:
  template <class Make, class... Args>
  dual_node(const std::string& function, const Make& make, ode_wanted wanted, dual_directions<S, K> directions, Args&&... args)
      : base(function, make, wanted, std::forward<Args>(args)...), directions_(std::move(directions)) {
    if (!this->solver->has_tangents())
      throw DerivativeError(function +
                            ": has first derivatives only with this method and right-hand side; duals pass through tsit5, " +
                            "rk45, ckrk, dop853, rodas4 and steady states, whatever f is where it is not recorded");
  }

  /// The solution with its tangents; variables of this node, which is handed to the tape, where S is var.
  static std::vector<vector_of<dual<S, K>>> solution(std::unique_ptr<dual_node> node, const Eigen::MatrixXd& states) {
    const std::vector<Eigen::MatrixXd> tangents = node->carry(states);
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
          [owned = std::move(node), count = states.cols()](auto& adjoint) { owned->sweep_with_tangents(adjoint, count); });
    }
    return to;
  }

 private:
  /// The tangents of all states in each direction that moves.
  std::vector<Eigen::MatrixXd> carry(const Eigen::MatrixXd& states) {
    const std::size_t count = directions_.moving().size();
    std::vector<Eigen::MatrixXd> tangents(count, Eigen::MatrixXd(states.rows(), states.cols()));
    std::vector<double> together;
    for (std::size_t from = 0; from < count; from += lane_count) {
      const std::size_t here = std::min<std::size_t>(lane_count, count - from);
      const ode_directions along = directions_.of(from, here);
      together.resize(static_cast<std::size_t>(states.size()) * static_cast<std::size_t>(along.width));
      this->solver->tangent(along, together.data());
      for (Eigen::Index i = 0; i < states.size(); ++i)
        for (std::size_t a = 0; a < here; ++a)
          tangents[from + a].data()[i] = together[static_cast<std::size_t>(i * along.width) + a];
    }
    if (count == 1) carried_ = 0;
    return tangents;
  }

  /// Makes scalars of S: numbers, or variables of so many new indices.
  auto numberer(std::size_t count) {
    if constexpr (std::is_same_v<S, var>) {
      tape& t = tape::current();
      this->first = t.leaves(count);
      return [first = this->first, &t](double value, Eigen::Index i) {
        return var(value, first + static_cast<tape::index_type>(i), t);
      };
    } else {
      static_cast<void>(count);
      return [](double value, Eigen::Index) { return value; };
    }
  }

  /// Adds to the adjoints of the arguments and of their tangents what those of the states and of theirs amount to.
  template <class Adjoint>
  void sweep_with_tangents(const Adjoint& adjoint, Eigen::Index count) {
    Eigen::MatrixXd of_values = this->adjoints_from(adjoint, this->first, count);
    bool is_done = false;
    for (std::size_t a = 0; a < directions_.moving().size(); ++a) {
      const auto begin = this->first + static_cast<tape::index_type>((1 + a) * static_cast<std::size_t>(of_values.size()));
      const Eigen::MatrixXd of_tangents = this->adjoints_from(adjoint, begin, count);
      if (of_tangents.isZero(0)) continue;
      carry_again(a, of_values.size());
      ode_directions of_arguments;
      const ode_gradient g = this->solver->second(of_tangents, of_values.data(), of_arguments);
      this->add(adjoint, this->initial_state, of_arguments.initial_state.data());
      this->add(adjoint, this->system.parameter_indices(), of_arguments.parameters.data());
      add_to_tangents(adjoint, directions_.moving()[a], g);
      of_values.setZero();  // all of theirs has been sent
      is_done = true;
    }
    if (!is_done) base::sweep(adjoint, count);
  }

  /// Leaves the solver with the tangents of one direction.
  void carry_again(std::size_t a, Eigen::Index states) {
    if (carried_ == a) return;
    unused_.resize(static_cast<std::size_t>(states));
    this->solver->tangent(directions_.of(a, 1), unused_.data());
    carried_ = a;
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
  std::size_t carried_ = static_cast<std::size_t>(-1);  // the direction whose tangents the solver has
  std::vector<double> unused_;
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

/// The solution of a problem that has been checked. System: what a callable becomes. make(function, system, wanted) makes a
/// solver that may have tangents.
template <template <class, class...> class System, class Make, class F, class Y0, class... Args>
auto dual_solution(const std::string& function, const Make& make, const F& f, double t0, const std::vector<double>& times,
                   const Y0& y0, const Args&... args) {
  using kind = dual_node_of<promoted_t<Y0, Args...>>;
  using node_type = typename kind::template type<system_of_t<System, F, primal_argument_t<Args>...>>;
  using start = argument<primal_argument_t<Y0>>;
  const primal_argument_t<Y0> first = primal_argument(y0);
  const Eigen::VectorXd initial = start::values(first);
  auto node = std::make_unique<node_type>(function, make, ode_wanted{start::active, false, false},
                                          typename kind::directions(y0, args...), f, initial.size(), primal_argument(args)...);
  const Eigen::MatrixXd states = node->solver->integrate(initial, t0, times);
  start::collect(first, node->initial_state);
  return node_type::solution(std::move(node), states);
}

/// As solve_recorded, where there are duals among the arguments; see dual_solution.
template <template <class, class...> class System, class Make, class F, class Y0, class T0, class Time, class... Args>
auto solve_dual(const std::string& function, const Make& make, const F& f, const Y0& y0, const T0& t0,
                const std::vector<Time>& times, const Args&... args) {
  static_assert(
      !argument<T0>::active && !argument<Time>::active,
      "where y0 or args hold duals, t0 and times are to be numbers: derivatives with respect to them are of first order");
  const std::vector<double> outputs(times.begin(), times.end());
  const auto start = static_cast<double>(t0);
  check_initial_value_problem(function, argument<primal_argument_t<Y0>>::values(primal_argument(y0)), start, outputs);
  return dual_solution<System>(function, make, f, start, outputs, y0, args...);
}

}  // namespace agrad::detail
