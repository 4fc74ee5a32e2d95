// Dual node: the result of a solve whose arguments contain dual numbers, for every kind of problem with tangents.
//
// For dual<double, K>, the solve computes tangents and nothing is recorded. For dual<var, K>, results and tangents are
// variables of one closure. With f(x, x') -> (y, y' = J x') and adjoints mu of y and lambda of y', the adjoint of x' is J^T
// lambda. The adjoint of x is J^T mu plus the derivative of lambda^T J x', which is the derivative of J^T lambda along x' with
// mu as the tangent of lambda: one call of `posed_solve::second` gives both. Each direction has its own lambda and takes its
// own call, but in a Hessian all columns have the same lambda and share a call.
// Read first: solve/record/tape_node.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/functionals/hessian.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/solve/record/tape_node.hpp>

namespace agrad::detail {

template <class S, int K>
class dual_node : public tape_node<dual<S, K>> {
  static_assert(std::is_same_v<S, double> || std::is_same_v<S, var>, "duals of duals do not pass through a solve");
  using base = tape_node<dual<S, K>>;
  using numbers = std::vector<double>;

 public:
  /// side_by_side: whether lane_count directions cost about as much as a few, as in a program.
  dual_node(std::shared_ptr<posed_solve> solve, solve_arguments<dual<S, K>> arguments, bool side_by_side)
      : base(std::move(solve), std::move(arguments)), side_by_side_(side_by_side) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(K); ++k)
      for (const auto& each : this->arguments_.all_tangents())
        if (!is_constant_zero(each[k])) {
          moving_.push_back(k);
          break;
        }
  }

  /// Returns the result with tangents. Where S is var, these are variables of the node, which the tape then owns.
  static std::vector<dual<S, K>> results(std::unique_ptr<dual_node> node) {
    const std::vector<numbers> tangents = node->propagate();
    const std::size_t size = node->values_.size();
    const auto scalar = node->numberer(size * (1 + tangents.size()));
    std::vector<dual<S, K>> results(size);
    for (std::size_t i = 0; i < size; ++i) {
      results[i].value = scalar(node->values_[i], i);
      for (std::size_t a = 0; a < tangents.size(); ++a)
        results[i].tangent[node->moving_[a]] = scalar(tangents[a][i], i + (1 + a) * size);
    }
    if constexpr (std::is_same_v<S, var>)
      tape::current().push([owned = std::move(node)](auto& adjoint) { owned->reverse_with_tangents(adjoint); });
    return results;
  }

 private:
  /// `count` nonzero directions from number `first`.
  struct group {
    std::size_t first, count;
    int width() const { return count == 1 ? 1 : static_cast<int>(lane_count); }
  };
  /// Returns the group of directions that one call propagates together with direction a.
  group group_of(std::size_t a) const {
    const std::size_t from = a - a % lane_count;
    return {from, std::min<std::size_t>(lane_count, moving_.size() - from)};
  }

  /// Returns the tangents of the result in each nonzero direction.
  std::vector<numbers> propagate() {
    std::vector<numbers> tangents(moving_.size(), numbers(this->values_.size()));
    for (std::size_t from = 0; from < tangents.size(); from += lane_count) {
      const group of = group_of(from);
      const numbers& together = propagated(of);
      for (std::size_t i = 0; i < this->values_.size(); ++i)
        for (std::size_t a = 0; a < of.count; ++a)
          tangents[from + a][i] = together[i * static_cast<std::size_t>(of.width()) + a];
    }
    return tangents;
  }

  /// Returns the tangents of the result in these directions, side by side; the solve then has the same tangents.
  const numbers& propagated(group of) {
    if (propagated_.first == of.first && propagated_.count == of.count) return together_;
    const auto width = static_cast<std::size_t>(of.width());
    const auto& all = this->arguments_.all_tangents();
    numbers along(all.size() * width, 0.0);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < of.count; ++k) along[i * width + k] = number(all[i][moving_[of.first + k]]);
    together_.resize(this->values_.size() * width);
    propagated_.count = 0;  // in case `tangent` throws
    this->solve_->tangent(of.width(), along.data(), together_.data());
    propagated_ = of;
    return together_;
  }
  static double number(double x) { return x; }
  static double number(const var& x) { return x.val(); }

  /// Returns a function that makes scalars of S: numbers, or variables with `count` new indices.
  auto numberer(std::size_t count) {
    if constexpr (std::is_same_v<S, var>) {
      tape& t = tape::current();
      this->first_ = t.leaves(count);
      return [first = this->first_, &t](double value, std::size_t i) {
        return tape_access::variable(value, first + static_cast<tape::index_type>(i), t);
      };
    } else {
      static_cast<void>(count);
      return [](double value, std::size_t) { return value; };
    }
  }

  /// Propagates the adjoints of the result and of its tangents to the arguments and to the arguments' tangents.
  template <class Adjoint>
  void reverse_with_tangents(const Adjoint& adjoint) {
    if (adjoint.is_marking()) return;  // zeros of solves count as structural
    numbers of_values = this->adjoints_from(adjoint, this->first_);
    std::vector<std::pair<std::size_t, numbers>> of_tangents;
    for (std::size_t a = 0; a < moving_.size(); ++a) {
      numbers each = this->adjoints_from(adjoint, this->first_ + static_cast<tape::index_type>((1 + a) * of_values.size()));
      if (!this->is_zero(each)) of_tangents.emplace_back(a, std::move(each));
    }
    if (side_by_side_ && of_tangents.size() == 1 && group_of(of_tangents[0].first).count >= few) {
      reverse_direction(adjoint, of_tangents[0].first, std::move(of_tangents[0].second));
      this->reverse(adjoint);
      return;
    }
    for (const auto& [a, lambda] : of_tangents) {
      propagated({a, 1});
      adjoints of;
      second(1, lambda, of_values, of);
      add_to_values(adjoint, of, 1, 0);
      add_to_tangents(adjoint, moving_[a], of);
      std::fill(of_values.begin(), of_values.end(), 0.0);  // the first call has propagated all of them
    }
    if (of_tangents.empty()) this->reverse(adjoint);
  }

  /// Adjoints of the argument, and their tangents.
  struct adjoints {
    numbers values, tangents;
  };
  void second(int width, const numbers& lambda, const numbers& lambda_tangents, adjoints& of) {
    const std::size_t size = this->arguments_.numbers().size();
    of.values.assign(size, 0.0), of.tangents.assign(size * static_cast<std::size_t>(width), 0.0);
    this->solve_->second(width, lambda.data(), lambda_tangents.data(), of.values.data(), of.tangents.data());
  }

  /// Propagates the adjoint of the tangents in direction a alone, as in a column of a Hessian. Between columns, only the
  /// adjoints of the values differ, and these are propagated to first order; so one call of `second` serves a group of columns.
  template <class Adjoint>
  void reverse_direction(const Adjoint& adjoint, std::size_t a, numbers&& lambda) {
    const group of = group_of(a);
    if (!(shared_.first == of.first && shared_.lambda == lambda)) {
      propagated(of);
      const numbers still(lambda.size() * lane_count, 0.0);
      shared_.lambda.clear();  // in case `second` throws
      second(of.width(), lambda, still, shared_.of);
      shared_.first = of.first, shared_.lambda = std::move(lambda);
    }
    add_to_values(adjoint, shared_.of, static_cast<std::size_t>(of.width()), a - of.first);
    add_to_tangents(adjoint, moving_[a], shared_.of);
  }

  /// Adds the derivatives of a gradient in direction k.
  template <class Adjoint>
  void add_to_values(const Adjoint& adjoint, const adjoints& of, std::size_t width, std::size_t k) const {
    for (const auto& [place, index] : this->arguments_.variables()) adjoint.add_and_mark(index, of.tangents[place * width + k]);
  }

  template <class Adjoint>
  void add_to_tangents(const Adjoint& adjoint, std::size_t k, const adjoints& of) const {
    const auto& all = this->arguments_.all_tangents();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i][k].index() != 0) adjoint.add_and_mark(all[i][k].index(), of.values[i]);
  }

  bool side_by_side_;
  std::vector<std::size_t> moving_;  // numbers of the directions in which any tangent is nonzero
  group propagated_{0, 0};           // directions of the solve's tangents
  numbers together_;                 // the solve's tangents
  struct {
    std::size_t first;  // of a group of directions
    numbers lambda;     // adjoints of the tangents in one direction of the group
    adjoints of;
  } shared_{};  // of the last call of reverse_direction
  static constexpr std::size_t few = 3;
};

template <class S, int K>
struct recorded_result<dual<S, K>> {
  static std::vector<dual<S, K>> of(const std::string& function, std::shared_ptr<posed_solve> solve,
                                    solve_arguments<dual<S, K>> arguments, bool side_by_side) {
    if (solve->tangents().order < (std::is_same_v<S, double> ? 1 : 2))
      throw DerivativeError(function +
                            ": has first derivatives only with this method and right-hand side, but must have more; tsit5, " +
                            "rk45, ckrk, dop853, rodas4, rodas5p, automatic and steady states have second derivatives of " +
                            "every f that is not recorded, and those with respect to times need a recorded f");
    auto node = std::make_unique<dual_node<S, K>>(std::move(solve), std::move(arguments), side_by_side);
    return dual_node<S, K>::results(std::move(node));
  }
};

}  // namespace agrad::detail
