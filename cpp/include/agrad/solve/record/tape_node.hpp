// Tape node: puts the result of a solve on the tape, for every kind of problem.
//
// One closure on the tape owns the solve; the tape's reverse pass runs the solve's reverse pass.
// Read first: solve/posed/posed_solve.hpp. Read next: solve/record/dual_node.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/posed/posed_solve.hpp>
#include <agrad/solve/record/arguments.hpp>
#include <agrad/tape/tape.hpp>

namespace agrad::detail {

/// A solve on the tape, and the indices of its variables' adjoints.
template <class Scalar>
class tape_node {
 public:
  tape_node(std::shared_ptr<posed_solve> solve, solve_arguments<Scalar> arguments)
      : solve_(std::move(solve)), arguments_(std::move(arguments)) {
    solve_->solve(arguments_.numbers().data());
    values_.resize(solve_->result().size());
    solve_->read(values_.data());
  }

  const std::vector<double>& values() const { return values_; }

  /// Returns the result as variables of the tape, which then owns the node.
  static std::vector<var> results(std::unique_ptr<tape_node> node) {
    tape& t = tape::current();
    tape::index_type next = node->first_ = t.leaves(node->values_.size());
    std::vector<var> results;
    results.reserve(node->values_.size());
    for (const double value : node->values_) results.push_back(tape_access::variable(value, next++, t));
    t.push([owned = std::move(node)](auto& adjoint) { owned->reverse(adjoint); });
    return results;
  }

 protected:
  /// Propagates the adjoints of the result to the variables.
  template <class Adjoint>
  void reverse(const Adjoint& adjoint) {
    if (adjoint.is_marking()) return;  // zeros of solves count as structural
    const std::vector<double> of_result = adjoints_from(adjoint, first_);
    if (is_zero(of_result)) return;
    argument_adjoints_.assign(arguments_.numbers().size(), 0.0);
    solve_->reverse(of_result.data(), argument_adjoints_.data());
    for (const auto& [place, index] : arguments_.variables()) adjoint.add_and_mark(index, argument_adjoints_[place]);
  }

  /// Returns the adjoints of as many numbers as the result has, from an index.
  template <class Adjoint>
  std::vector<double> adjoints_from(const Adjoint& adjoint, tape::index_type begin) const {
    std::vector<double> adjoints(values_.size());
    for (double& each : adjoints) each = adjoint.at(begin++);
    return adjoints;
  }
  static bool is_zero(const std::vector<double>& all) {
    return std::all_of(all.begin(), all.end(), [](double x) { return x == 0; });
  }

  std::shared_ptr<posed_solve> solve_;
  solve_arguments<Scalar> arguments_;
  std::vector<double> values_;  // of the result
  tape::index_type first_ = 0;  // index of the result's first number; the others follow

 private:
  std::vector<double> argument_adjoints_;
};

/// Solves and returns the result as scalars; specialised for duals.
template <class Scalar>
struct recorded_result {
  static std::vector<Scalar> of(const std::string&, std::shared_ptr<posed_solve> solve, solve_arguments<Scalar> arguments,
                                bool /*side_by_side*/) {
    auto node = std::make_unique<tape_node<Scalar>>(std::move(solve), std::move(arguments));
    if constexpr (std::is_same_v<Scalar, var>)
      return tape_node<Scalar>::results(std::move(node));
    else
      return node->values();
  }
};

/// Returns consecutive numbers as vectors of length n.
template <class Scalar>
std::vector<vector_of<Scalar>> columns_of(const std::vector<Scalar>& all, Eigen::Index n) {
  std::vector<vector_of<Scalar>> columns;
  const auto step = static_cast<std::size_t>(n);
  for (std::size_t at = 0; at + step <= all.size(); at += step)
    columns.push_back(Eigen::Map<const vector_of<Scalar>>(all.data() + at, n));
  return columns;
}

}  // namespace agrad::detail
